"""Our side of a measurement: one process of Interlace with its journal on, driven as a program would drive it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from interlace.flows.documents import Pinned
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings


class Engine:
    """Loads documents once and runs them as often as asked."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform

    async def pinned(self, document: Mapping[str, Any]) -> Pinned:
        """A document ready to run."""
        return await self.platform.documents.from_text(json.dumps(document))

    async def run(self, pinned: Pinned, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run to the end and give the outputs."""
        runner = self.platform.runner
        run_id = await runner.start(pinned, Request(inputs=inputs))
        result = await runner.wait(run_id)
        assert result is not None, "waits without a time limit"
        if result.status != "succeeded":
            raise AssertionError(f"the run {result.status}: {result.error}")
        return result.outputs or {}


@asynccontextmanager
async def engine(database_url: str | None = None) -> AsyncIterator[Engine]:
    """An engine in a home of its own, on SQLite or the PostgreSQL database of the URL."""
    with TemporaryDirectory(prefix="interlace-bench-") as home:
        url = SecretStr(database_url) if database_url is not None else None
        settings = Settings(home=Path(home), http_allow=["127.0.0.1"], prefect="off", database_url=url)
        platform = await Platform.open(settings)
        try:
            yield Engine(platform)
        finally:
            await platform.close()


@asynccontextmanager
async def delay_server(python: str) -> AsyncIterator[str]:
    """The URL of the server that answers after 50 ms."""
    process = await asyncio.create_subprocess_exec(
        python, "-m", "bench.delays", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        port = int(await asyncio.wait_for(process.stdout.readline(), 30))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()
