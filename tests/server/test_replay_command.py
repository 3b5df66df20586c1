"""`interlace runs replay`, `diff` and `check`, `run --pin`, from outside. Starts are slow, so few of them."""

from __future__ import annotations

import json

from tests.flows.documents import chain, http
from tests.flows.test_pins import ANSWER
from tests.loopback import Loopback
from tests.server.command import Command


def test_replay_diff_and_check(command: Command, loopback: Loopback) -> None:
    node = http("get", f"{loopback.url}/get")
    file = command.write("a.json", chain(node, outputs={"n": "{{ get.body.number }}"}))
    run_id = command("run", file, "--record", "--json").json["run_id"]
    plan = command("runs", "replay", run_id, "--from", "done", "--dry-run")
    assert plan.out.splitlines() == [
        "reused: start, get", "again: done", "once: nothing", "changed: nothing",
    ]  # fmt: skip
    done = command("runs", "replay", run_id[-8:], "--from", "done", "--set", "get.body.number=5", "--json")
    assert done.code == 0, done.err
    assert (done.json["outputs"], done.json["replayed_from"]) == ({"n": 5}, run_id)
    assert done.json["nodes"]["get"]["reused"] == run_id
    found = command("runs", "diff", run_id, done.json["run_id"])
    assert found.code == 1
    assert "outputs.n: 1 → 5" in found.out
    changed = chain(node, outputs={"n": "{{ get.body.number + 1 }}"})
    command.write("b.json", changed)
    same = command("runs", "check", run_id, "--version", "a.json")
    assert (same.code, same.out.split()[2]) == (0, "equal")
    other = command("runs", "check", run_id, "--version", "b.json")
    assert (other.code, other.out.split()[2]) == (1, "different")
    assert "outputs.n: 1 → 2" in other.out
    assert loopback.seen == {"/get": 1}
    wrong = command("runs", "replay", run_id, "--from", "nobody")
    assert wrong.code == 2


def test_pins(command: Command, loopback: Loopback) -> None:
    file = command.write(
        "a.json", chain(http("get", f"{loopback.url}/get"), outputs={"n": "{{ get.body.number }}"})
    )
    done = command("run", file, "--pin", f"get={json.dumps(ANSWER)}", "--quiet")
    assert (done.code, done.out) == (0, "n: 7\n"), done.err
    command.write("pins.json", json.dumps({"get": ANSWER}))
    assert command("run", file, "--pins", "pins.json", "--json").json["test"] is True
    assert not loopback.seen
    assert command("run", file, "--pin", "get=no").code == 2
    command("workflows", "push", file, "--publish")
    pinned = command("workflows", "pin", "test", "get", "@answer.json")
    assert pinned.code == 2
    command.write("answer.json", json.dumps(ANSWER))
    assert command("workflows", "pin", "test", "get", "@answer.json").code == 0
    assert command("run", "test", "--test", "--json").json["outputs"] == {"n": 7}
    assert command("run", "test", "--json").json["outputs"] == {"n": 1}
