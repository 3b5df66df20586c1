"""kill -9 of the server in the middle of an answer: the turn goes on by itself, and who comes back reads it all."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlace.resources.models.testing import Asked, ScriptedModels
from tests.server.command import Command

TEXT = "slowly " * 60


def settings(url: str) -> str:
    return (
        f'[[models.providers]]\nname = "p"\nbase_url = "{url}"\nmodels = [{{name = "scripted"}}]\n'
        '[models.roles]\ngeneral = ["scripted"]\n'
    )


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    with ScriptedModels([{"reply": {"text": TEXT, "chunk_delay": 0.03}}]) as models:
        made = Command(tmp_path)
        (tmp_path / "interlace.toml").write_text(settings(models.url))
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


@pytest.mark.parametrize("taken_up", [False, True], ids=["waiting", "in the prompt"])
def test_what_was_said_just_before_is_neither_lost_nor_doubled(tmp_path: Path, taken_up: bool) -> None:
    """Killed right after something was said to the turn: before the agent took it up, and while the model thinks about it."""
    words = "and be brief"
    held, free = threading.Event(), threading.Event()

    def reply(asked: Asked) -> Any:
        if words not in str(asked.messages):
            return (
                {"text": TEXT, "chunk_delay": 0.03} if not taken_up else {"text": TEXT, "chunk_delay": 0.003}
            )
        if taken_up and not held.is_set():
            held.set()
            free.wait(60)
        return "brief"

    with ScriptedModels([{"reply": reply}]) as models:
        command = Command(tmp_path)
        (tmp_path / "interlace.toml").write_text(settings(models.url))
        try:
            process, url = command.serve()
            session = json.load(call(command, url, "", {}))["id"]
            with call(command, url, f"/{session}/messages", {"content": "tell me"}) as stream:
                next(kind for kind, _ in lines(stream) if kind == "node.delta")
                call(command, url, f"/{session}/inject", {"content": words}).close()
                assert not taken_up or held.wait(30)
            command.kill(process)
            process.wait()
            free.set()
            _, url = command.serve()
            with call(command, url, f"/{session}/events") as stream:
                rest = list(lines(stream))
            shown = json.load(call(command, url, f"/{session}"))
        finally:
            free.set()
            command.end()
        assert (rest[-1][0], rest[-1][1]["content"]) == ("message", "brief")
        assert [message["content"] for message in shown["messages"]] == ["tell me", "brief"]
        assert shown["messages"][1]["data"]["said"] == [words]
        assert str(models.requests[-1].messages).count(words) == 1
        taken = [data["data"]["injected"] for kind, data in rest if data.get("data", {}).get("injected")]
        assert [len(ids) for ids in taken] == [1]


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
