"""Live progress of a run on the terminal, and its outputs."""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType
from typing import Any, Self

from interlace.engine.events import Event
from interlace.server.cli.output import note
from interlace.server.encoding import to_json

_MARKS = {
    "node.succeeded": "✓", "node.failed": "✗", "node.skipped": "-", "node.cancelled": "✗", "node.retrying": "↻",
    "node.suspended": "⏸", "node.unknown": "?", "node.log": "·",
}  # fmt: skip
_INNER = 20
"""Nodes inside bodies shown one by one; more of them are counted."""
_ENDED = frozenset({"node.succeeded", "node.failed", "node.cancelled", "node.unknown"})


class Progress:
    """Shows the events of one run, a line each, on standard error."""

    def __init__(self, run_id: str, *, enabled: bool) -> None:
        self._run_id = run_id
        self._enabled = enabled
        self._inner = 0
        self._hidden: Counter[str] = Counter()
        self._line = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def show(self, event: Event) -> None:
        """Show one event."""
        if not self._enabled:
            return
        if event.type == "node.started":
            self._transient(f"… {event.path}")
        elif event.type in _MARKS:
            self._finished(event)

    def _finished(self, event: Event) -> None:
        if "." in event.path and event.type == "node.succeeded":
            self._inner += 1
            if self._inner > _INNER:
                self._hidden[_container(event.path)] += 1
                self._transient(f"… {self._inner} inner nodes done, now {event.path}")
                return
        self._clear()
        if event.type in _ENDED and (hidden := self._hidden.pop(event.path, 0)):
            note(f"… {hidden} more inner node{'s' * (hidden != 1)} (interlace runs show {self._run_id})")
        note(f"{_MARKS[event.type]} {event.path}{_detail(event)}")

    def _transient(self, text: str) -> None:
        if sys.stderr.isatty():
            self._clear()
            sys.stderr.write(text[:100])
            sys.stderr.flush()
            self._line = text[:100]

    def _clear(self) -> None:
        if self._line:
            sys.stderr.write("\r" + " " * len(self._line) + "\r")
            self._line = ""


def _container(path: str) -> str:
    """The outermost container around an inner node: `each` of `each[2].again.call`."""
    return path.partition(".")[0].partition("[")[0]


def _detail(event: Event) -> str:
    data = event.data
    if event.type == "node.succeeded":
        handles = [handle for handle in data.get("handles", ()) if handle != "out"]
        took = f" → {', '.join(handles)}" if handles else ""
        if data.get("reused") or data.get("pinned"):
            return f"{took}  {'reused' if data.get('reused') else 'pinned'}"
        return f"{took}  {data.get('elapsed_ms', 0):.0f} ms"
    if event.type == "node.skipped":
        return f"  skipped: {data.get('reason', '')}"
    if event.type == "node.log":
        return f"  {data.get('message', '')}"
    error = data.get("error")
    if isinstance(error, dict):
        handled = f" ({data['handled']})" if data.get("handled") else ""
        return f"  {error.get('message', '')} [{error.get('type', '')}]{handled}"
    return ""


def show_outputs(outputs: dict[str, Any]) -> None:
    """Texts of several lines as Markdown, everything else as JSON."""
    for name, value in outputs.items():
        if isinstance(value, str) and "\n" in value:
            sys.stdout.write(f"{name}:\n")
            if sys.stdout.isatty():
                from rich.console import Console
                from rich.markdown import Markdown

                Console().print(Markdown(value))
            else:
                sys.stdout.write(value + "\n")
        else:
            sys.stdout.write(f"{name}: {to_json(value).decode()}\n")
