"""A run as spans, made from its journal and the ledger of model calls when it has ended.

Ids are made of what a span stands for (`engine/origin.py`), so that a request which a node sent hours before, from another
process, names the span that is exported now.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event as SpanEvent
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

import interlace
from interlace.engine.document import Document
from interlace.engine.events import Event
from interlace.engine.origin import Trace, span_id
from interlace.store.run_row import Run
from interlace.store.usage import MadeCall

SCOPE: Final = InstrumentationScope("interlace", interlace.__version__)
MOST_NODES: Final = 5_000
_MOST_TEXT: Final = 8_000
_CLOCKS_S: Final = 1.0
"""By so much a call may seem to have begun before its node: when it began is reckoned from when it ended."""
_INSIDE: Final = re.compile(r"(\[\d+\]|#\d+)$")
_ENDINGS: Final = {
    "node.succeeded": "ok",
    "node.failed": "failed",
    "node.cancelled": "cancelled",
    "node.retrying": "failed",
}


@dataclass(slots=True)
class _Attempt:
    """An attempt of a node while its events are read."""

    path: str
    number: int
    began: float
    ended: float | None = None
    error: Mapping[str, Any] | None = None
    cancelled: bool = False
    outputs: Any = None
    tools: list[_Tool] = field(default_factory=list)
    calling: dict[tuple[str, str], _Tool] = field(default_factory=dict)
    """The tools that have not answered yet, by step and name."""


@dataclass(slots=True)
class _Tool:
    """A call of a tool within an attempt."""

    step: str
    name: str
    began: float
    arguments: Any
    ended: float | None = None
    result: Any = None
    failed: bool = False


class RunSpans:
    """The spans of one run that has ended.

    Args:
        run: its row.
        document: what it ran, for the types of nodes.
        trace: the trace that it belongs to, with the span that it began in.
        resource: what is said of this process.
        content: whether arguments, results and outputs are said too.
    """

    def __init__(
        self, run: Run, document: Document, trace: Trace, resource: Resource, *, content: bool
    ) -> None:
        self._run = run
        self._types = _types(document)
        self._trace = trace
        self._resource = resource
        self._content = content
        self._open: dict[str, _Attempt] = {}
        self._done: list[_Attempt] = []
        self._of: dict[str, list[_Attempt]] = {}
        """All attempts by path, the earliest first."""

    def add(self, events: Sequence[Event]) -> None:
        """Read more of the journal, in order."""
        for event in events:
            if len(self._done) < MOST_NODES:
                self._read(event)

    def _read(self, event: Event) -> None:
        attempt = self._open.get(event.path)
        if event.type == "node.started":
            if attempt is None:
                begun = self._open[event.path] = _Attempt(event.path, event.attempt, event.at)
                self._of.setdefault(event.path, []).append(begun)
        elif attempt is None:
            return
        elif event.type in _ENDINGS:
            attempt.ended = event.at
            attempt.error = event.data.get("error")
            attempt.cancelled = event.type == "node.cancelled"
            attempt.outputs = event.data.get("outputs")
            self._done.append(self._open.pop(event.path))
        elif event.type == "tool.started":
            step, name = str(event.data.get("step", "")), str(event.data.get("name", "tool"))
            tool = attempt.calling[step, name] = _Tool(step, name, event.at, event.data.get("arguments"))
            attempt.tools.append(tool)
        elif event.type == "tool.finished":
            _finish(attempt, event)

    def spans(self, calls: Sequence[MadeCall]) -> Iterator[ReadableSpan]:
        """All of them, the run's own first."""
        yield self._root()
        for attempt in [*self._done, *self._open.values()]:
            yield self._node(attempt)
            for tool in attempt.tools:
                yield self._tool(attempt, tool)
        for call in calls:
            yield self._call(call)

    def _root(self) -> ReadableSpan:
        run = self._run
        attributes: dict[str, Any] = {
            "interlace.run.id": run.id, "interlace.run.status": run.status, "interlace.workflow.name": run.name,
            "interlace.trigger": str(run.trigger.get("kind", "")), "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": run.name,
        }  # fmt: skip
        if run.workflow_id is not None:
            attributes["interlace.workflow.id"] = run.workflow_id
        error = run.error or {}
        if error:
            attributes["error.type"] = str(error.get("type", "error"))
        if self._content:
            attributes["interlace.run.outputs"] = _text(run.outputs)
        return self._span(
            f"run {run.name}", span_id(run.id), self._trace.span_id or None,
            (run.started_at or run.created_at, run.finished_at), attributes=attributes, failed=str(error.get("message", "")) if error else None,
        )  # fmt: skip

    def _node(self, attempt: _Attempt) -> ReadableSpan:
        kind = self._types.get(_node_of(attempt.path), "")
        attributes: dict[str, Any] = {
            "interlace.run.id": self._run.id, "interlace.node.path": attempt.path, "interlace.node.type": kind,
            "interlace.node.attempt": attempt.number,
        }  # fmt: skip
        name = f"{kind} {attempt.path}".strip()
        if kind == "AGENT":
            attributes |= {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": _node_of(attempt.path),
            }
            name = f"invoke_agent {_node_of(attempt.path)}"
        failed = None
        if attempt.error is not None:
            attributes["error.type"] = str(attempt.error.get("type", "error"))
            failed = str(attempt.error.get("message", ""))
        elif attempt.cancelled:
            attributes["error.type"] = "cancelled"
        if self._content and attempt.outputs is not None:
            attributes["interlace.node.outputs"] = _text(attempt.outputs)
        own = span_id(self._run.id, attempt.path, attempt.number)
        return self._span(
            name,
            own,
            self._parent(attempt),
            (attempt.began, attempt.ended),
            attributes=attributes,
            failed=failed,
        )

    def _tool(self, attempt: _Attempt, tool: _Tool) -> ReadableSpan:
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool.name, "gen_ai.tool.call.id": tool.step,
            "gen_ai.tool.type": "function", "interlace.run.id": self._run.id,
        }  # fmt: skip
        if tool.failed:
            attributes["error.type"] = "tool_error"
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = _text(tool.arguments)
            attributes["gen_ai.tool.call.result"] = _text(tool.result)
        own = _derived(self._run.id, attempt.path, str(attempt.number), tool.step, tool.name)
        parent = span_id(self._run.id, attempt.path, attempt.number)
        return self._span(
            f"execute_tool {tool.name}",
            own,
            parent,
            (tool.began, tool.ended),
            attributes=attributes,
            failed="" if tool.failed else None,
        )

    def _call(self, call: MadeCall) -> ReadableSpan:
        operation = "embeddings" if call.kind == "embedding" else "chat"
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": operation, "gen_ai.provider.name": call.provider, "gen_ai.request.model": call.model,
            "gen_ai.response.model": call.model, "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens, "interlace.run.id": self._run.id,
        }  # fmt: skip
        if call.cached_tokens:
            attributes["gen_ai.usage.cache_read.input_tokens"] = call.cached_tokens
        if call.cost_nano is not None:
            attributes |= {
                "interlace.cost": call.cost_nano / 1e9,
                "interlace.cost.currency": call.currency or "",
            }
        if call.error is not None:
            attributes["error.type"] = call.error
        began = call.at - call.latency_ms / 1000
        node = self._attempt_at(call.path, began + _CLOCKS_S)
        own = _derived(self._run.id, call.id)
        parent = span_id(self._run.id) if node is None else span_id(self._run.id, call.path, node.number)
        return self._span(
            f"{operation} {call.model}", own, parent, (began, call.at), attributes=attributes, kind=SpanKind.CLIENT,
            failed=None if call.error is None else "",
        )  # fmt: skip

    def _parent(self, attempt: _Attempt) -> str:
        """The span of the container whose body a node is in, else the run's."""
        head, dot, _ = attempt.path.rpartition(".")
        while dot:
            container = _INSIDE.sub("", head)
            around = self._attempt_at(container, attempt.began)
            if around is not None:
                return span_id(self._run.id, container, around.number)
            head, dot, _ = container.rpartition(".")
        return span_id(self._run.id)

    def _attempt_at(self, path: str, at: float) -> _Attempt | None:
        """The last attempt of a node that had begun then."""
        attempts = self._of.get(path, [])
        found = bisect_right(attempts, at, key=lambda attempt: attempt.began)
        return attempts[found - 1] if found else None

    def _span(
        self, name: str, own: str, parent: str | None, times: tuple[float, float | None], *,
        attributes: dict[str, Any], failed: str | None, kind: SpanKind = SpanKind.INTERNAL,
    ) -> ReadableSpan:  # fmt: skip
        began, ended = times
        end = ended if ended is not None else self._run.finished_at or began
        events = []
        if failed:
            events.append(
                SpanEvent(
                    "exception", {"exception.message": failed[:_MOST_TEXT]}, timestamp=_nanoseconds(end)
                )
            )
        status = (
            Status(StatusCode.UNSET) if failed is None else Status(StatusCode.ERROR, failed[:500] or None)
        )
        return ReadableSpan(
            name=name, context=self._context(own), parent=None if parent is None else self._context(parent),
            resource=self._resource, attributes=attributes, events=events, kind=kind, status=status,
            start_time=_nanoseconds(began), end_time=_nanoseconds(max(began, end)), instrumentation_scope=SCOPE,
        )  # fmt: skip

    def _context(self, span: str) -> SpanContext:
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(int(self._trace.trace_id, 16), int(span, 16), is_remote=False, trace_flags=flags)


def _finish(attempt: _Attempt, event: Event) -> None:
    step, name = str(event.data.get("step", "")), str(event.data.get("name", "tool"))
    found = attempt.calling.pop((step, name), None)
    if found is None:  # what was refused was never started
        found = _Tool(step, name, event.at, None)
        attempt.tools.append(found)
    found.ended, found.result = event.at, event.data.get("value", event.data.get("text"))
    found.failed = bool(event.data.get("is_error"))


def _types(document: Document) -> dict[str, str]:
    """The types of all nodes, those of bodies included; ids are unique in a document."""
    found: dict[str, str] = {}
    bodies = [document.nodes]
    while bodies:
        for node in bodies.pop():
            found[node.id] = node.type
            if node.body is not None:
                bodies.append(node.body.nodes)
    return found


def _node_of(path: str) -> str:
    return path.rpartition(".")[2]


def _derived(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _nanoseconds(at: float) -> int:
    return int(at * 1e9)


def _text(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()[:_MOST_TEXT]
