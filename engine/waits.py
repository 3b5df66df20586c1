"""What a node waits for while it holds nothing: a person, an instant, a call from outside, a child run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from interlace.engine.errors import InterlaceError

WaitKind: TypeAlias = Literal["human", "timer", "callback", "child", "place"]
Phase: TypeAlias = Literal["pause", "confirm", "unknown", "place", "node"]
"""What of the node waits: its `wait`, its `confirm`, the question after an unknown outcome, a host of its pool, or the
node itself."""

TIMEOUT = "timeout"
"""The action of a request that nobody answered in time."""
DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Who may answer a request, and what happens while nobody does. Delays in seconds after the request was made."""

    assignees: tuple[str, ...] = ()
    quorum: int = 1
    allow_self: bool = True
    reminders: tuple[float, ...] = ()
    escalation: tuple[tuple[float, tuple[str, ...]], ...] = ()
    channels: tuple[Mapping[str, Any], ...] = ()
    """Where reminders are posted; only those whose address holds no secret."""

    def as_json(self) -> dict[str, Any]:
        """The rules as the journal keeps them."""
        return {
            "assignees": list(self.assignees), "quorum": self.quorum, "allow_self": self.allow_self,
            "reminders": list(self.reminders),
            "escalation": [[after, list(names)] for after, names in self.escalation],
            "channels": [dict(channel) for channel in self.channels],
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a node asks to wait for.

    `request` is shown to people (`title`, `message`, `form`, `actions`, `config`); `until` is the Unix time at which
    the waiting ends by itself; `state` is what the node needs to go on; `ref` is the child run of a `child`, the pool of a `place`.
    A `key` tells the requests of one node apart that has several: see `SubSteps`.
    """

    kind: WaitKind
    request: Mapping[str, Any] = field(default_factory=dict)
    until: float | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    rules: Rules = Rules()
    token_hash: str | None = None
    ref: str | None = None
    key: str = ""


class Suspend(InterlaceError):  # noqa: N818 - not a failure
    """The node waits. Raised by `Node.run`; `Node.resume` goes on with the answer.

    A node with several requests gives each a `key`, the others in `also`. It is run again, not resumed, whenever one of
    them has been answered, and asks for those that are still open again: these stay the requests that they are.

    `announce` is called once with the wait's id, when it is durable; what it raises is its own to handle.
    """

    def __init__(
        self,
        wanted: Wanted,
        announce: Callable[[str], Awaitable[None]] | None = None,
        *,
        also: Sequence[Wanted] = (),
    ) -> None:
        super().__init__()
        self.wanted = wanted
        self.announce = announce
        self.also = tuple(also)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A wait as the journal has it. `id` is empty for a pause that is slept through."""

    id: str
    kind: WaitKind
    phase: Phase
    until: float | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    hash: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What ended a wait: the first valid answer, or its time (`action` is `timeout`, `by` None)."""

    action: str = TIMEOUT
    form: Mapping[str, Any] = field(default_factory=dict)
    by: str | None = None
    at: float = 0.0
    comment: str | None = None
    answers: tuple[Mapping[str, Any], ...] = ()
    """All single answers, where several people had to agree."""


def shown_hash(request: Mapping[str, Any]) -> str:
    """The hash of what is shown: an answer that names it can only answer this very request."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
