"""What a command works with: the settings, the platform of the home, and the server of that home if one runs."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from interlace.flows.settings import Settings

if TYPE_CHECKING:
    from interlace.flows.platform import Platform


@contextlib.asynccontextmanager
async def platform(settings: Settings | None = None) -> AsyncIterator[Platform]:
    """The platform of the home, closed afterwards."""
    from interlace.flows.platform import Platform
    from interlace.server.logs import configure

    configure(quiet=True)
    opened = await Platform.open(settings or Settings())
    try:
        yield opened
    finally:
        await opened.close()
