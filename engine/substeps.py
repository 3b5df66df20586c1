"""Steps within the work of one node: what it has done survives a crash or a wait, and is not done again.

A node such as AGENT asks models and calls tools for minutes. Each of these is recorded under a key of its own choice;
when the node is run again, after a crash or because a request of its has been answered, it does its work over from the
beginning, takes what is recorded instead of doing it, and so comes to where it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from interlace.engine.waits import Answer, Waiting

SubStepKind = Literal["model.finished", "tool.started", "tool.finished"]
OnUnknown = Literal["fail", "retry", "ask"]


@dataclass(slots=True)
class SubStep:
    """What is recorded of one step: the data of its events; None where there is no such event.

    Started and not finished: it was interrupted, and nobody knows whether it did its work.
    """

    started: Mapping[str, Any] | None = None
    finished: Mapping[str, Any] | None = None


class SubSteps(Protocol):
    """The steps and requests of one node, over all its attempts and turns."""

    @property
    def on_unknown(self) -> OnUnknown:
        """What the document says about work with effects `once` whose outcome nobody knows."""
        ...

    def get(self, key: str) -> SubStep | None:
        """What is recorded of a step."""
        ...

    def keys(self, prefix: str) -> list[str]:
        """The keys of steps and of open or answered requests that begin so, in no order."""
        ...

    def redact(self, data: dict[str, Any]) -> dict[str, Any]:
        """Data as it would stand in the record: without the secrets that the run has read."""
        ...

    def record(self, kind: SubStepKind, key: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Record a step; gives what stands in the record, without the secrets that the run has read.

        It becomes durable with the next commit, which is begun at once; `commit` waits for it. A request of that key
        that has been answered counts as taken from then on.

        Raises:
            StoreError: the data is not JSON.
        """
        ...

    def take(self, key: str) -> None:
        """Note that the node goes on with the answer to the request of that key."""
        ...

    async def commit(self) -> None:
        """Wait until all that was recorded is durable."""
        ...

    def once(self) -> AbstractAsyncContextManager[None]:
        """Around work that must not be done twice: a process that leaves waits for it, and begins none."""
        ...

    @property
    def heard(self) -> str:
        """The id of the newest thing said to the run that a node has taken up; empty where none has."""
        ...

    def hear(self, said: str) -> None:
        """Take up what was said until that id: no other node of the run does."""
        ...

    def request(self, key: str) -> Waiting | None:
        """A request of the node that it has not gone on with: open, or answered."""
        ...

    def answer(self, key: str) -> Answer | None:
        """What ended the request of that key; None while it is open, or where there is none."""
        ...
