"""What a run came to, and what an earlier try of it left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.document import Effects
from interlace.engine.events import NodeStatus, RunStatus
from interlace.engine.node import Output
from interlace.engine.substeps import SubStep
from interlace.engine.waits import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended. `error` has node, path, type, message, attempt and retryable."""

    run_id: str
    status: RunStatus
    outputs: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    response: dict[str, Any] | None = None
    """What END's `response` asks a synchronous webhook to answer."""
    waiting: tuple[str, ...] = ()
    """Ids of what a suspended run waits for."""
    child: bool = False
    """Whether another run started this one."""


@dataclass(slots=True, kw_only=True)
class Recorded:
    """What the journal knows of one node: enough to take its result again instead of running it."""

    status: NodeStatus
    attempt: int = 1
    retries: int = 0
    """Attempts that failed and were followed by another; one that a crash interrupted is none of them."""
    started: float | None = None
    """When that attempt began (Unix time)."""
    outputs: dict[str, Any] | None = None
    handles: tuple[str, ...] = ("out",)
    error: dict[str, Any] | None = None
    reason: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    wait: Waiting | None = None
    """What the node waits for, if it is suspended."""
    effects: Effects | None = None
    """What an interruption of that attempt means, as it was known when it began."""
    confirmed: str | None = None
    """The hash of what a person has confirmed."""
    items: Mapping[int, str] = field(default_factory=dict)
    """An ITERATION's items that have ended: their status."""
    round: int = -1
    """The last round of a LOOP that has ended."""
    requests: Mapping[str, Waiting] = field(default_factory=dict)
    """By key: the requests of a node with several that it has not gone on with."""
    substeps: Mapping[str, SubStep] = field(default_factory=dict)
    """What an unfinished node has done within its attempts."""
    heard: str = ""
    """The id of the newest thing said to the run that the node has taken up."""


def outputs_of(output: Output) -> dict[str, Any]:
    """The outputs by name, by reference."""
    extra = output.__pydantic_extra__
    return {**output.__dict__, **extra} if extra else dict(output.__dict__)


def error_of(
    *, message: str, kind: str, node: str | None = None, path: str | None = None, attempt: int | None = None,
    retryable: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """An error as the journal, the API and `<id>.error` show it."""
    return {
        "type": kind, "message": message, "node": node, "path": path, "attempt": attempt, "retryable": retryable,
    }  # fmt: skip
