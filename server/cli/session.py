"""What a command works with: the platform of the home, opened when it is needed and closed afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlace.flows.platform import Platform
    from interlace.store import Store


@contextlib.asynccontextmanager
async def platform() -> AsyncIterator[Platform]:
    """The platform of the home, closed afterwards."""
    from interlace.flows.platform import Platform
    from interlace.flows.settings import Settings
    from interlace.server.logs import configure

    configure(quiet=True)
    opened = await Platform.open(Settings())
    try:
        yield opened
    finally:
        await opened.close()


@contextlib.asynccontextmanager
async def stored_workflows() -> AsyncIterator[Store | None]:
    """The store of the home where there is one already, None where not: nothing is made for a look."""
    from interlace.flows.settings import Settings
    from interlace.store import Store

    settings = Settings()
    url = None if settings.database_url is None else settings.database_url.get_secret_value()
    home = settings.home.resolve()
    if url is None and not (home / "interlace.db").is_file():
        yield None
        return
    opened = await Store.open(url, home)
    try:
        yield opened
    finally:
        await opened.close()
