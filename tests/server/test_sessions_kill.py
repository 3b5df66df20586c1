"""kill -9 of the server in the middle of an answer: the turn goes on by itself, and who comes back reads it all."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlace.resources.models.testing import ScriptedModels
from tests.server.command import Command

TEXT = "slowly " * 60


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    with ScriptedModels([{"reply": {"text": TEXT, "chunk_delay": 0.03}}]) as models:
        made = Command(tmp_path)
        (tmp_path / "interlace.toml").write_text(
            f'[[models.providers]]\nname = "p"\nbase_url = "{models.url}"\nmodels = [{{name = "scripted"}}]\n'
            '[models.roles]\ngeneral = ["scripted"]\n'
        )
        yield made
        made.end()


def call(command: Command, url: str, path: str, body: Any = None, **headers: str) -> Any:
    request = urllib.request.Request(
        f"{url}/api/v1/sessions{path}", None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {command.key}", "content-type": "application/json", **headers},
    )  # fmt: skip
    return urllib.request.urlopen(request, timeout=60)


def lines(stream: Any) -> Iterator[tuple[str, Any]]:
    """Kind and data of the events of a stream."""
    kind = ""
    for raw in stream:
        line = raw.decode().rstrip("\n")
        if line.startswith("event: "):
            kind = line[7:]
        if line.startswith("data: "):
            yield kind, json.loads(line[6:])


def test_a_server_is_killed_in_the_middle_of_an_answer(command: Command) -> None:
    process, url = command.serve()
    session = json.load(call(command, url, "", {}))["id"]
    seen: list[int] = []
    with call(command, url, f"/{session}/messages", {"content": "tell me"}) as stream:
        for kind, data in lines(stream):
            if kind not in ("turn", "message"):
                seen.append(data["seq"])
            if kind == "node.delta":
                break
    command.kill(process)
    process.wait()
    _, url = command.serve()
    with call(command, url, f"/{session}/events", **{"last-event-id": str(seen[-1])}) as stream:
        rest = list(lines(stream))
    numbers = [data["seq"] for kind, data in rest if kind != "message"]
    assert seen + numbers == list(range(1, numbers[-1] + 1))
    assert "run.resumed" in [kind for kind, _ in rest]
    assert (rest[-1][0], rest[-1][1]["content"]) == ("message", TEXT)
    shown = json.load(call(command, url, f"/{session}"))
    assert [message["content"] for message in shown["messages"]] == ["tell me", TEXT]


def test_nobody_listens_and_the_answer_is_there(command: Command) -> None:
    process, url = command.serve()
    session = json.load(call(command, url, "", {}))["id"]
    asked = call(command, url, f"/{session}/messages", {"content": "tell me"}, accept="application/json")
    run_id = json.load(asked)["run_id"]
    command.kill(process)
    process.wait()
    command.serve()
    done = command("runs", "events", run_id, "--follow", "--json")
    assert json.loads(done.out.splitlines()[-1])["type"] == "run.succeeded"
    found = json.load(call(command, str(command._served()["url"]), f"/{session}"))
    assert found["messages"][-1]["content"] == TEXT
