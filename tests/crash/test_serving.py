"""`interlace serve` with Prefect, a run of twenty nodes, and kill -9 of each of its processes in turn."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.crash.counter import Counter
from tests.flows.documents import chain, http, template
from tests.server.command import Command

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]
T = TypeVar("T")
_CODE = "import time\ndef main(seconds):\n    time.sleep(seconds)\n    return {'slept': seconds}"


def _children(pid: int) -> dict[int, str]:
    """The processes below one, with their command lines."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found: dict[int, str] = {}
    for child in parents.get(pid, []):
        with contextlib.suppress(OSError):
            found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
        found |= _children(child)
    return found


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(find: Callable[[], T | None], what: str, seconds: float = 90) -> T:
    end = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return found


def _below(pid: int, word: str) -> int | None:
    return next((child for child, line in _children(pid).items() if word in line), None)


def _begun(home: Path, path: str, times: int = 1) -> bool:
    with contextlib.closing(sqlite3.connect(home / "interlace.db")) as file:
        sql = "SELECT count(*) FROM events WHERE type = 'node.started' AND path = ?"
        return int(file.execute(sql, (path,)).fetchone()[0]) >= times


def test_every_process_is_killed_and_the_run_ends(tmp_path: Path, counter: Counter) -> None:
    base = counter.base("serve")
    code = {"id": "code", "type": "CODE", "config": {"code": _CODE, "inputs": {"seconds": 3}}}
    nodes = [
        http("first", f"{base}/first"), *(template(f"t{number}", f"text {number}") for number in range(14)), http("held", f"{base}/hold"),
        code, http("put", f"{base}/put", method="PUT"), http("held_again", f"{base}/hold_again"), http("last", f"{base}/last"),
    ]  # fmt: skip
    counter.release.clear()
    command = Command(tmp_path, INTERLACE_PREFECT="embedded")
    seen: dict[int, str] = {}
    try:
        server, _ = command.serve()
        command.write("a.json", chain(*nodes, outputs={"slept": "{{ code.slept }}"}))
        run = command.start("run", "a.json", "--json")
        counter.wait_for("serve", "hold", seconds=90)

        prefect = _until(lambda: _below(server.pid, "uvicorn"), "Prefect's process did not start")
        seen |= _children(server.pid)
        os.kill(prefect, signal.SIGKILL)
        _until(lambda: (_below(server.pid, "uvicorn") or prefect) != prefect, "Prefect was not started again")
        counter.release.set()

        _until(lambda: _begun(command.home, "code"), "the code did not begin")
        zygote = _until(lambda: _below(server.pid, "bwrap"), "there is no sandbox")
        time.sleep(0.5)  # its code sleeps three seconds
        seen |= _children(server.pid)
        os.kill(zygote, signal.SIGKILL)
        counter.release.clear()
        counter.wait_for("serve", "hold_again", seconds=90)

        seen |= _children(server.pid)
        command.kill(server)
        server.wait()
        _until(lambda: not any(map(_lives, seen)), "a process outlived its server")
        counter.release.set()
        told = command.finish(run)
        run_id = json.loads(told.out)["run_id"]
        server, _ = command.serve()
        command("runs", "events", run_id, "--follow")
        report = command("runs", "show", run_id, "--json").json
        seen = _children(server.pid)
        command.kill(server, signal.SIGTERM)
        assert command.finish(server).code == 0
        _until(lambda: not any(map(_lives, seen)), "a process outlived its server")
    finally:
        counter.release.set()
        command.end()
    assert (report["status"], report["outputs"]) == ("succeeded", {"slept": 3})
    counts = counter.counts("serve")
    assert counts == {"first": 1, "hold": 1, "put": 1, "hold_again": 2, "last": 1}, counts
