"""`interlace chat`: streams, goes on with a session, answers confirmations inline, and Ctrl-C cancels the turn alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlace.resources.models.testing import ScriptedModels
from tests.server.command import SCRIPT, Command

RULES = [
    {"when": {"user": "endless"}, "reply": {"text": "word " * 2000, "chunk_delay": 0.05}},
    {"when": {"turn": 1}, "reply": "again fine"},
    {"reply": "fine"},
]
ASKING = """
name: asking
settings: {chat: true}
inputs: {type: object, properties: {message: {type: string}}}
nodes:
  - {id: start, type: START}
  - {id: ask, type: HUMAN, config: {title: "Do it?"}}
  - {id: end, type: END, config: {outputs: {answer: "{{ ask.action }} {{ inputs.message }}"}}}
edges: [start -> ask, ask.approve -> end, ask.reject -> end, ask.timeout -> end]
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    with ScriptedModels(RULES) as models:
        made = Command(tmp_path)
        (tmp_path / "interlace.toml").write_text(
            f'[[models.providers]]\nname = "p"\nbase_url = "{models.url}"\nmodels = [{{name = "scripted"}}]\n'
            '[models.roles]\ngeneral = ["scripted"]\n'
        )
        yield made
        made.end()


def talk(command: Command, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [str(SCRIPT), "chat", *arguments], cwd=command.folder, env=command.environment, text=True,
        start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    command.started.append(process)
    return process


def test_one_message_and_a_session_that_goes_on(command: Command) -> None:
    first = command("chat", "-m", "hello", "--json").json
    assert (first["status"], first["content"], first["data"]["usage"]["calls"]) == ("succeeded", "fine", 1)
    second = command("chat", "--session", first["session"], "-m", "more")
    assert (second.code, second.out) == (0, "again fine\n")
    assert command("chat", "--session", "none", "-m", "x").code == 2
    assert command("chat", "--agent", "nobody", "-m", "x").code == 2


def test_on_a_server_that_runs_the_turn_is_its(command: Command) -> None:
    command.serve()
    first = command("chat", "-m", "hello", "--json").json
    assert (first["status"], first["content"]) == ("succeeded", "fine")
    shown = command("runs", "show", first["run_id"], "--json").json
    assert shown["status"] == "succeeded"


def test_lines_and_confirmations_are_answered_inline(command: Command) -> None:
    command.write("asking.yaml", ASKING)
    assert command("workflows", "push", "asking.yaml").code == 0
    assert command("workflows", "publish", "asking").code == 0
    process = talk(command, "--workflow", "asking")
    out, err = process.communicate("one\napp\ntwo\nmaybe\nrej\n", timeout=60)
    assert process.returncode == 0, err
    assert "? Do it?" in err
    # The answers are no streams: they stand in the session.
    alone = command("chat", "--workflow", "asking", "-m", "three")
    assert alone.code == 3
    assert "interlace approvals answer" in alone.err
    assert (out, alone.out) == ("approve one\nreject two\n", "")


def test_interrupting_cancels_the_turn_and_not_the_conversation(command: Command) -> None:
    process = talk(command)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()))
    reader.start()
    process.stdin.write("endless\n")
    process.stdin.flush()
    assert process.stdout.read(4) == "word"
    os.kill(process.pid, signal.SIGINT)
    process.stdin.write("hello\n")
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait(60) == 0
    reader.join(10)
    assert rest.endswith("fine\n")
    assert any("cancelled" in line for line in errors)
    session = next(line.split()[1].rstrip(";") for line in errors if line.startswith("session "))
    shown = json.loads(command("chat", "--session", session, "-m", "hello", "--json").out)
    assert shown["status"] == "succeeded"
