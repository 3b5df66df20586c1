"""What a command works with: the platform of the home, opened when it is needed and closed afterwards."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlace.flows.platform import Platform
    from interlace.store import Store

_RESUME_SECONDS = 30.0


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
        await opened.close(opened.settings.drain)


@contextlib.asynccontextmanager
async def runs() -> AsyncIterator[Platform]:
    """The platform for a look at runs: those that a crash interrupted go on first, unless a server sees to them.

    What takes longer than half a minute is left again where it stands, for the next command or server.
    """
    from interlace.flows.orphans import take_over
    from interlace.server.cli.output import note
    from interlace.server.lock import is_held

    async with platform() as opened:
        if not await asyncio.to_thread(is_held, opened.settings.home.resolve()):
            for run_id in await take_over(opened.store, opened.runner, local=is_shared(opened)):
                note(f"» going on with run {run_id}, which was interrupted")
            await opened.waits.look()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RESUME_SECONDS):
                    await opened.runner.idle()
        yield opened


def is_shared(opened: Platform) -> bool:
    """Whether other machines may use the same database."""
    return opened.store.database.location.kind != "sqlite"


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
