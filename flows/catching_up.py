"""What a process that starts does for those that died: page by page, one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import structlog

from interlace.engine.errors import InterlaceError
from interlace.store.sessions import Message

_PAGE = 1000

log = structlog.get_logger("interlace.chat")


class Listed(Protocol):
    """Messages after one, in order."""

    async def __call__(self, limit: int, *, after: str) -> Sequence[Message]:
        """The next ones."""
        ...


async def each(listed: Listed, handle: Callable[[Message], Awaitable[None]]) -> None:
    """Handle every message of a list; one that cannot be handled now is left to a later start."""
    after = ""
    while found := await listed(_PAGE, after=after):
        after = found[-1].id
        for message in found:
            try:
                await handle(message)
            except InterlaceError as error:
                log.warning("a turn is taken up later", message=message.id, error=str(error))
        if len(found) < _PAGE:
            return
