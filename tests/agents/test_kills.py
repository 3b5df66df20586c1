"""kill -9 at every write of a run in which an agent works: its steps are neither lost nor made twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlace.resources.models.testing import Asked, Rule, ScriptedModels
from tests.agents.hosting import call, calls
from tests.agents.kills import Written

pytestmark = pytest.mark.timeout(600)
_ROOT = Path(__file__).parents[2]


def agent(asked: Asked) -> Any:
    """Two turns with calls of every kind; the turn follows from the results that stand there."""
    seen = sum(message["role"] == "tool" for message in asked.messages)
    turns = {
        0: calls(
            call("add", a=1, b=2), call("send", to="ada"), call("note", text="x"), call("send", to="bob")
        ),
        4: calls(call("send", to="eve"), call("add", a=3, b=4)),
    }
    return turns.get(seen, f"done after {seen}")


class Killing:
    """Processes of one home after the other, each killed at a write or not at all."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder, self._url = folder, url
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INTERLACE_")}
        self._log = (folder / "log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", "from tests.agents.kills import serve; serve()"], cwd=folder, text=True,
            env={**kept, "PYTHONPATH": str(_ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip
        self._case("warm-up", warm_up=True)

    def run(self, name: str, die_at: int = 0, point: str = "before") -> tuple[int, dict[str, Any]]:
        code = self._case(name, die_at, point)
        return code, json.loads((self._folder / name / "result").read_text()) if code == 0 else {}

    def _case(self, name: str, die_at: int = 0, point: str = "before", *, warm_up: bool = False) -> int:
        folder, template = self._folder / name, self._folder / "template"
        folder.mkdir(exist_ok=True)
        if not (folder / "home").exists() and not warm_up:
            shutil.copytree(template, folder / "home")
        case = {
            "home": str(folder / "home"), "done": str(folder / "done"), "result": str(folder / "result"), "url": self._url,
            "die_at": die_at, "point": point, "warm_up": warm_up, "template": str(template),
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        assert code in (0, -signal.SIGKILL), (self._folder / "log").read_text()[-4000:]
        return code

    def done(self, name: str) -> list[str]:
        return Written(self._folder / name / "done").lines()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()
        self._log.close()


@pytest.fixture
def killing(tmp_path: Path) -> Iterator[Killing]:
    with ScriptedModels([Rule(reply=agent)]) as models:
        made = Killing(tmp_path, models.url)
        try:
            yield made
        finally:
            made.close()


def test_killed_at_every_write(killing: Killing, tmp_path: Path) -> None:
    code, whole = killing.run("whole")
    assert (code, whole["status"], whole["outputs"]["text"]) == (0, "succeeded", "done after 6")
    assert sorted(killing.done("whole")) == ["note x", "send ada", "send bob", "send eve"]
    kills = 0
    for number in range(1, whole["writes"] + 1):
        name, point = f"case{number}", ("before", "after")[number % 2]
        code, _ = killing.run(name, number, point)
        kills += code != 0
        code, again = killing.run(name)
        assert (code, again["status"]) == (0, "succeeded"), (number, point)
        assert again["outputs"] == whole["outputs"], (number, point)
        done = killing.done(name)
        assert sorted(line for line in done if line.startswith("send")) == [
            "send ada",
            "send bob",
            "send eve",
        ], (number, point)
        assert 1 <= done.count("note x") <= 2
        shutil.rmtree(tmp_path / name)
    assert kills >= whole["writes"] - 2  # an event less where a wait ends while others are at work
