"""Streams the text of a node as events: gathered for a moment each, so that a journal does not grow by the token.

The events are ordinary ones of the journal: a reader that comes later, or comes back, gets what it missed by number,
from whatever process. `node.delta` {text, reasoning?, restart?} belongs to its attempt; `restart` says that what the
attempt streamed before is void. Where a node has several
answers one after the other, `step` names the one that a piece belongs to. The whole text stands in `node.succeeded`.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from interlace.engine.chat import Delta
    from interlace.engine.node import RunContext

SECONDS: Final = 0.1
"""Between two events of a node; the first piece is sent at once."""


class DeltaEvents:
    """Takes the pieces of an answer, and emits them as events of a node, within a `with` block.

    Args:
        ctx: the node.
        seconds: between two events.
        step: which step of the node's work gives the answer, where it has several; `restart` concerns this step then.
    """

    def __init__(self, ctx: RunContext, seconds: float = SECONDS, *, step: str | None = None) -> None:
        self._ctx = ctx
        self._step = step
        self._seconds = seconds
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._restart = False
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flush()

    def __call__(self, delta: Delta) -> None:
        """Take a piece."""
        if delta.restart:
            self._text.clear()
            self._reasoning.clear()
            self._restart = True
        self._text.append(delta.text)
        self._reasoning.append(delta.reasoning)
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._flush():
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._tick)

    def _flush(self) -> bool:
        data: dict[str, Any] = {"text": "".join(self._text)}
        if thought := "".join(self._reasoning):
            data["reasoning"] = thought
        if self._restart:
            data["restart"] = True
        self._text.clear()
        self._reasoning.clear()
        self._restart = False
        if data == {"text": ""}:
            return False
        if self._step is not None:
            data["step"] = self._step
        self._ctx.emit("node.delta", data)
        return True
