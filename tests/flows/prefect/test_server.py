"""The embedded server: its start, its walls, its end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.flows.prefect import (
    EmbeddedPrefect,
    PrefectApi,
    PrefectConnection,
    PrefectError,
    PrefectRefused,
)


def _proc(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()


async def _gone(pid: int) -> bool:
    try:
        state = _proc(pid, "stat").decode("ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_importing_the_package_does_not_import_prefect() -> None:
    code = "import sys, interlace.flows.prefect; sys.exit('prefect' in sys.modules or 'sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_it_answers_with_its_own_files_and_settings(served: Any, api: PrefectApi) -> None:
    assert await api.get("/health") is True
    settings = await api.get("/admin/settings")
    home = served.prefect.home / "prefect"
    assert settings["home"] == str(home)
    assert settings["server"]["analytics_enabled"] is False
    assert settings["server"]["services"]["task_run_recorder"]["batch_size"] == 100
    assert (home / "prefect.db").exists()
    environment = _proc(served.prefect.pid, "environ")
    assert b"elsewhere.db" not in environment
    assert b"DO_NOT_TRACK=1" in environment
    ours = [entry for entry in environment.split(b"\0") if entry.startswith(b"INTERLACE_")]
    assert ours == [f"INTERLACE_PARENT_PID={os.getpid()}".encode()]


async def test_it_serves_its_pages(served: Any) -> None:
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        page = await client.get(served.prefect.ui_url, headers={"accept": "text/html"})
        settings = await client.get(served.prefect.ui_url + "/ui-settings")
    assert page.status_code == 200
    assert "<html" in page.text.lower()
    assert settings.json()["api_url"] == "/api"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
async def test_it_answers_to_its_own_name_only(served: Any, host: str) -> None:
    async with httpx2.AsyncClient() as client:
        answer = await client.get(served.prefect.api_url + "/health", headers={"host": host})
    assert answer.status_code == 421


async def test_it_allows_no_other_page_to_read_it(served: Any) -> None:
    async with httpx2.AsyncClient() as client:
        answer = await client.options(
            served.prefect.api_url + "/flows/",
            headers={"origin": "https://evil.example", "access-control-request-method": "POST"},
        )
    assert "access-control-allow-origin" not in answer.headers


async def test_it_listens_on_loopback_only(served: Any) -> None:
    listening = _proc(served.prefect.pid, "net/tcp").decode("ascii")
    port = f":{served.prefect.port:04X} "
    assert [
        line.split()[1].split(":")[0] for line in listening.splitlines() if port in line and " 0A " in line
    ] == ["0100007F"]


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PrefectError, match=f"127.0.0.1:{port}.*Choose another port"):
            await EmbeddedPrefect(tmp_path, port).start()


async def test_a_start_that_fails_shows_the_log(tmp_path: Path) -> None:
    broken = EmbeddedPrefect(tmp_path, settings={"PYTHONHOME": "/nowhere"})
    with pytest.raises(PrefectError, match=r"(?s)exited with 1.*prefect\.log.*stdlib dir = '/nowhere/lib"):
        await broken.start()
    assert broken.pid is None
    with pytest.raises(PrefectError, match="await start"):
        _ = broken.api_url


async def test_a_start_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    slow = EmbeddedPrefect(tmp_path, start_seconds=0.2)
    with pytest.raises(PrefectError, match=r"not ready in 0\.2 s"):
        await slow.start()
    assert slow.pid is None


_PARENT = """
import asyncio, os, sys
from pathlib import Path
from interlace.flows.prefect import EmbeddedPrefect

async def main(home, moment):
    prefect = EmbeddedPrefect(Path(home), auth="ada:secret")
    starting = asyncio.create_task(prefect.start())
    if moment == "ready":
        await starting
    while prefect.pid is None:
        await asyncio.sleep(0)
    print(prefect.pid, prefect.api_url, flush=True)
    await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:]))
"""


async def _asks_for_the_secret(url: str, home: Path) -> None:
    async with PrefectApi(PrefectConnection(api_url=url, home=home, api_auth="ada:secret")) as api:
        assert await api.post("/flows/count", {}) >= 0
        assert (await api.post("/interlace/record", {"runs": []})) == {"flow_run_ids": []}
    async with PrefectApi(PrefectConnection(api_url=url, home=home)) as stranger:
        for path, body in (("/flows/count", {}), ("/interlace/record", {"runs": []})):
            with pytest.raises(PrefectRefused, match="HTTP 401"):
                await stranger.post(path, body)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("moment", ["born", "ready"])
async def test_the_child_dies_with_a_parent_that_is_killed(
    migrated: Any, tmp_path: Path, moment: str, eventually: Any
) -> None:
    migrated(tmp_path)
    home = tmp_path / "user"
    environment = {**os.environ, "HOME": str(home)}
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PARENT, str(tmp_path), moment, stdout=subprocess.PIPE, env=environment
    )
    assert parent.stdout is not None
    pid, url = (await parent.stdout.readline()).decode().split()
    child = int(pid)
    assert not await _gone(child)
    if moment == "ready":
        await _asks_for_the_secret(url, tmp_path)
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    await eventually(lambda: _gone(child), 15)
    assert not (home / ".prefect").exists()
