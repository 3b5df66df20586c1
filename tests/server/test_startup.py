"""What keeps every start and every answer quick."""

from __future__ import annotations

import asyncio
import gc
import socket
import subprocess
import sys
from pathlib import Path

from interlace.flows.settings import Settings
from interlace.server.cli import garbage
from interlace.server.serving import Serving

HEAVY = {
    "prefect",
    "networkx",
    "sqlglot",
    "psycopg",
    "pymysql",
    "alembic",
    "httpx2",
    "fastapi",
    "uvicorn",
    "rich.console",
}


def loaded_by(module: str) -> set[str]:
    program = f"import sys, {module}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_run_loads_nothing_that_only_other_workflows_need():
    loaded = loaded_by("interlace.server.cli.execute")
    assert "interlace.flows.platform" in loaded
    assert not (HEAVY - {"rich.console"}) & loaded


def test_the_command_itself_loads_no_platform():
    loaded = loaded_by("interlace.server.cli.main")
    assert not (HEAVY | {"pydantic_settings", "sqlalchemy", "interlace.flows.platform"}) & loaded


async def test_answers_are_not_held_back(tmp_path: Path):
    delays: asyncio.Queue[int] = asyncio.Queue()

    def accepted(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        delays.put_nowait(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = Serving(Settings(home=tmp_path, port=0))._listen()
    async with await asyncio.start_server(accepted, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await delays.get() != 0
        writer.close()
        await writer.wait_closed()


def test_garbage_is_collected_again_after_the_start():
    frozen = gc.get_freeze_count()
    garbage.resume()
    assert gc.get_freeze_count() == frozen, "without a pause there is nothing to resume"
    garbage.pause()
    try:
        assert not gc.isenabled()
        garbage.resume()
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        gc.enable()
