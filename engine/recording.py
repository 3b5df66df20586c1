"""What stands between a run and everything outside it: it keeps the answers that come, or gives those that were kept.

A recorded run journals every outside answer as `call.recorded`; an offline one is answered from such events and
reaches nothing. The nodes know neither: they ask for services and get the same ones, wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar

from interlace.engine.errors import NodeError
from interlace.engine.waits import Answer, Phase, Waiting

S = TypeVar("S")


class Caller(Protocol):
    """The attempt of a node that asks for something outside."""

    path: str

    @property
    def step(self) -> str:
        """The step of the node's work that asks; empty where the node itself does."""
        ...

    @property
    def run_id(self) -> str:
        """Id of the run."""
        ...

    @property
    def config_text(self) -> str:
        """The node's config as the document has it: it tells where secrets are read."""
        ...

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event of the node to the journal."""
        ...

    def too_long(self) -> NodeError:
        """The error of an attempt that took longer than it may."""
        ...

    def redact(self, value: Any) -> Any:
        """The value without the secrets that the run has read."""
        ...


class Recording(Protocol):
    """The outside of one run."""

    @property
    def offline(self) -> bool:
        """Whether nothing outside may be reached."""
        ...

    def names(self, names: dict[str, Any]) -> dict[str, Any]:
        """What expressions of the run read besides its nodes: kept, or as it was."""
        ...

    def service(self, protocol: type[S], service: S, caller: Caller) -> S:
        """The service as one attempt of a node sees it."""
        ...

    def clock(self, path: str) -> Callable[[], datetime]:
        """What `now()` reads in the expressions of a node: one moment an attempt."""
        ...

    async def latest(self, path: str) -> Mapping[str, Any] | None:
        """The kept variables as the recorded run found them there; None where the store is asked.

        Raises:
            NodeError: `record_mismatch`: the recorded run changed none there.
        """
        ...

    def waited(self, path: str, phase: Phase, wait: Waiting, answer: Answer) -> None:
        """Note what ended a wait."""
        ...

    def answer(self, path: str, phase: Phase, request: Mapping[str, Any]) -> Answer | None:
        """What ended the wait in the recorded run; None where people and time are waited for.

        Raises:
            NodeError: `record_mismatch`: the recorded run waited for nothing there, or for something else.
        """
        ...
