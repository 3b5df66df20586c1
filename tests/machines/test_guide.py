"""The page about several machines, done as it is written: its commands in processes of their own, one of them killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks
from tests.flows.documents import chain, http
from tests.loopback import Loopback
from tests.machines.cluster import database, eventually, free_port

PAGE = ROOT / "docs" / "guide" / "machines.md"
TRAINING = next(block.text for block in blocks(PAGE) if block.text.startswith("name: training"))


def shell(start: str) -> str:
    """The block of shell commands that has a line which starts so."""
    [found] = [
        block.text
        for block in blocks(PAGE)
        if block.language == "sh" and any(line.startswith(start) for line in block.text.splitlines())
    ]
    return found


@dataclass
class Machines:
    """Folders that stand for machines. The page's names of servers and folders are replaced by those of this test."""

    folder: Path
    names: dict[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def command(self, text: str) -> str:
        for name, here in self.names.items():
            assert name in PAGE.read_text("utf-8"), f"the page does not say {name!r} any more"
            text = text.replace(name, here)
        return text

    def start(self, name: str, text: str) -> None:
        """Run commands on a machine of that name, the last of them until it ends."""
        *before, last = self.command(text).strip().splitlines()
        folder = self.folder / name
        folder.mkdir()
        with (folder / "log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                ["sh", "-c", "\n".join([*before, f"exec {last}"])], cwd=folder, env=self.environment(folder),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def run(self, name: str, text: str) -> str:
        """Run commands to their end; gives what they wrote."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        done = subprocess.run(
            ["sh", "-ec", self.command(text)], cwd=folder, env=self.environment(folder), capture_output=True,
            text=True, timeout=90, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def environment(self, folder: Path) -> dict[str, str]:
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith(("INTERLACE", "PREFECT"))
        }
        tools = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
        quiet = {"PREFECT_HOME": str(folder / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
        return {**kept, **quiet, "PATH": tools, "INTERLACE_HTTP_ALLOW": "127.0.0.1/32", "INTERLACE_PORT": "0"}

    def log(self, name: str) -> str:
        return (self.folder / name / "log").read_text("utf-8", "replace")

    async def ready(self, name: str, text: str, seconds: float = 120.0) -> str:
        """Wait until a machine has written a text; gives the line."""

        async def look() -> str | None:
            assert self.processes[name].poll() is None, self.log(name)
            return next((line for line in self.log(name).splitlines() if text in line), None)

        return await eventually(look, seconds)

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


async def post(url: str, key: str, body: Any) -> Any:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode() if body is not None else None, headers)
    with await asyncio.to_thread(urllib.request.urlopen, request, timeout=30) as answer:
        return json.load(answer)


@pytest.mark.timeout(300)
async def test_the_page_is_so(tmp_path: Path, loopback: Loopback) -> None:
    with database("guide") as url, database("guide_prefect") as other:
        if url is None or other is None:
            pytest.skip("no PostgreSQL answers; set INTERLACE_TEST_POSTGRES")
        port = free_port()
        machines = Machines(
            tmp_path,
            {
                "postgresql+asyncpg://prefect@db.internal/prefect": other.replace("postgresql:", "postgresql+asyncpg:"),
                "postgresql://interlace@db.internal/interlace": url,
                "http://prefect.internal:4200": f"http://127.0.0.1:{port}",
                "--host 0.0.0.0 --port 4200": f"--host 127.0.0.1 --port {port}",
                "serve --host 0.0.0.0": "serve --host 127.0.0.1",
                "/mnt/interlace": str(tmp_path / "mnt"),
            },
        )  # fmt: skip
        try:
            await _follow(machines, loopback)
        finally:
            machines.end()


async def _follow(machines: Machines, loopback: Loopback) -> None:
    machines.run("any", shell("mkdir"))
    machines.start("prefect", shell("prefect server start"))
    settings, _, worker = shell("interlace worker --limit").strip().rpartition("\n")
    pools = shell("interlace worker --pool gpu").strip()
    await machines.ready("prefect", "Check out the dashboard")
    machines.start("first", f"{settings}\n{worker}")
    machines.start(
        "second", f"{settings}\n{worker} {pools.removeprefix('interlace worker')} --pool interlace"
    )
    machines.start("server", f"{settings}\ninterlace serve --host 0.0.0.0")
    for name in ("first", "second"):
        await machines.ready(name, "✓ worker")
    line = await machines.ready("server", "✓ Interlace is serving at")
    await machines.ready("server", "Prefect is ready")
    (machines.folder / "any" / "training.yaml").write_text(TRAINING, "utf-8")
    assert "succeeded" in await asyncio.to_thread(
        machines.run, "any", f"{settings}\ninterlace run training.yaml"
    )
    assert "(gpu, interlace, office)" in await asyncio.to_thread(
        machines.run, "any", f"{settings}\ninterlace doctor"
    )
    base = next(word for word in line.split() if word.startswith("http://"))
    key = next((machines.folder / "server").rglob("owner.key")).read_text("utf-8").strip()
    hold = json.loads(
        chain(http("call", f"{loopback.url}/hold/{{{{ run.id }}}}"), http("then", loopback.url))
    )
    started = [await post(f"{base}/api/v1/runs", key, {"document": hold}) for _ in range(6)]
    assert {run["via"] for run in started} == {"pool"}, "runs that nobody waits for go through Prefect"
    for run in started:
        await asyncio.to_thread(loopback.wait_for, f"/hold/{run['run_id']}", 1, 60)
    machines.processes["first"].kill()
    loopback.release.set()
    for run in started:

        async def ended(run_id: str = run["run_id"]) -> Any:
            shown = await post(f"{base}/api/v1/runs/{run_id}", key, None)
            return shown if shown["status"] not in ("queued", "running") else None

        shown = await eventually(ended, 90)
        assert shown["status"] == "succeeded", shown
    second = machines.processes["second"]
    second.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(second.wait, 30) == 0, machines.log("second")
