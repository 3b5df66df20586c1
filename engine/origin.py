"""Which run and node the present work belongs to: for lines of the log, and for traces that go on elsewhere."""

from __future__ import annotations

import hashlib
import re
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

_TRACEPARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_SAMPLED: Final = 1


@dataclass(frozen=True, slots=True)
class Trace:
    """A place in a trace, as W3C Trace Context has it: ids in hexadecimal, `span_id` empty at a trace's root."""

    trace_id: str
    span_id: str = ""
    sampled: bool = True

    @classmethod
    def parse(cls, header: str | None) -> Trace | None:
        """The place that a `traceparent` names; None where it names none."""
        found = _TRACEPARENT.fullmatch((header or "").strip())
        if found is None or int(found[1], 16) == 0 or int(found[2], 16) == 0:
            return None
        return cls(found[1], found[2], sampled=bool(int(found[3], 16) & _SAMPLED))

    @property
    def header(self) -> str:
        """The place as a `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


@dataclass(frozen=True, slots=True)
class Origin:
    """The run, and within a node the node's path and attempt; `trace` where runs are traced."""

    run_id: str
    path: str = ""
    attempt: int = 0
    trace: Trace | None = None

    @property
    def span(self) -> Trace | None:
        """The place of this run or node in its trace."""
        if self.trace is None:
            return None
        return replace(self.trace, span_id=span_id(self.run_id, self.path, self.attempt))


current: ContextVar[Origin | None] = ContextVar("interlace_origin", default=None)
"""Tasks that are started within a node have the node's."""

asked: ContextVar[Trace | None] = ContextVar("interlace_asked", default=None)
"""The place in a trace of the request that is answered."""


def enter(path: str, attempt: int) -> None:
    """The work of the present task is from now on an attempt of a node."""
    found = current.get()
    if found is not None:
        current.set(replace(found, path=path, attempt=attempt))


def span_id(run_id: str, path: str = "", attempt: int = 0) -> str:
    """The id of a run's or attempt's span: made of what it is, so that any process can name it at any time."""
    return hashlib.sha256(f"{run_id}\n{path}\n{attempt}".encode()).hexdigest()[:16]


def trace_of(run_id: str, traceparent: str | None) -> Trace:
    """The trace of a run: the one that its start was part of, else one of its own, which has the run's id."""
    return Trace.parse(traceparent) or Trace(run_id.replace("-", ""))


def outgoing() -> str | None:
    """The `traceparent` of a request that is sent now by a run; None where nothing is traced."""
    found = current.get()
    span = None if found is None else found.span
    return None if span is None else span.header


def cause() -> str | None:
    """The `traceparent` of what starts a run now: a node, or a request; None where nothing is traced."""
    request = asked.get()
    return outgoing() or (None if request is None else request.header)
