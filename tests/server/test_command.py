"""The installed command from outside: reports, exit codes, what goes to which stream. Starts are slow, so few of them."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from tests.flows.documents import GREETING, chain, http, sub, template
from tests.loopback import Loopback
from tests.server.command import Command, group_of


def _node_keys(report: dict[str, Any]) -> set[str]:
    return {key for node in report["nodes"].values() for key in node}


def test_run_prints_one_object(command: Command) -> None:
    done = command("run", command.write("a.json", GREETING), "-i", "name=Ada", "--json")
    assert done.code == 0, done.err
    assert set(done.json) == {"run_id", "status", "outputs", "error", "nodes"}
    assert (done.json["status"], done.json["outputs"], done.json["error"]) == (
        "succeeded", {"text": "Hello Ada"}, None,
    )  # fmt: skip
    assert _node_keys(done.json) == {"status", "reason", "attempts", "elapsed_ms"}
    assert done.err == ""
    shown = command("run", "a.json", "-i", "name=Ada", "--watch")
    assert shown.out == 'text: "Hello Ada"\n'
    assert "✓ greet" in shown.err
    quiet = command("run", "a.json", "-i", "name=Ada", "--quiet")
    assert (quiet.out, quiet.err) == ('text: "Hello Ada"\n', "")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["a.json"], "inputs"),
        (["a.json", "-i", "name"], "inputs"),
        (["a.json", "-i", "name=@missing"], "inputs"),
        (["a.json", "--inputs", "missing.json"], "inputs"),
        (["bad.json"], "unknown_name"),
        (["missing.yaml"], "unreadable_file"),
        (["nobody"], "unknown_workflow"),
    ],
)
def test_what_cannot_start_is_invalid(command: Command, arguments: list[str], code: str) -> None:
    command.write("a.json", GREETING)
    command.write("bad.json", GREETING.replace("greet.text", "gret.text"))
    done = command("run", *arguments, "--json")
    assert done.code == 2
    report = done.json
    assert set(report) == {"run_id", "status", "outputs", "error"}
    assert (report["run_id"], report["status"], report["outputs"]) == (None, "invalid", None)
    assert (report["error"]["type"], report["error"]["problems"][0]["code"]) == ("validation", code)
    assert report["error"]["message"]


def test_a_failure_is_exit_1_and_says_where(command: Command, loopback: Loopback) -> None:
    text = chain(http("call", f"{loopback.url}/status/404"), template("after", "x"))
    done = command("run", command.write("a.json", text), "--json")
    assert done.code == 1
    assert {key: done.json["error"][key] for key in ("node", "path", "type", "attempt")} == {
        "node": "call", "path": "call", "type": "http_404", "attempt": 1,
    }  # fmt: skip
    assert done.json["outputs"] is None
    assert done.json["nodes"]["after"]["status"] == "not_reached"


def test_validate_makes_nothing_and_counts(command: Command) -> None:
    good = command.write("good.json", GREETING)
    bad = command.write("bad.json", GREETING.replace("greet.text", "gret.text"))
    calls = command.write("calls.json", chain(sub("s", "stored"), name="calls"))
    one = command("validate", good, "--json")
    assert (one.code, one.json) == (0, {"file": good, "valid": True, "problems": []})
    both = command("validate", good, bad, "--json")
    assert both.code == 1
    assert [result["valid"] for result in both.json["results"]] == [True, False]
    (found,) = both.json["results"][1]["problems"]
    assert set(found) == {"severity", "code", "node", "field", "line", "message", "fix"}
    assert (found["severity"], found["node"], found["line"]) == ("error", "done", 1)
    missing = command("validate", good, calls, "missing.yaml", "--json")
    assert missing.code == 2
    assert missing.json["results"][2]["problems"][0]["code"] == "unreadable_file"
    assert not command.home.exists()


def test_ctrl_c_cancels_and_leaves_nothing(command: Command, loopback: Loopback) -> None:
    busy = {"id": "code", "type": "CODE", "config": {"code": "def main():\n    while True:\n        pass\n"}}
    document = json.loads(chain(http("call", f"{loopback.url}/hold")))
    document["nodes"].insert(1, busy)
    document["edges"] += [{"from": "start", "to": "code"}, {"from": "code", "to": "done"}]
    process = command.start("run", command.write("a.json", json.dumps(document)), "--json")
    loopback.wait_for("/hold")
    command.kill(process, signal.SIGINT)
    started = time.monotonic()
    done = command.finish(process)
    assert time.monotonic() - started < 10
    assert done.code in (1, 130)
    assert done.json["status"] == "cancelled"
    assert done.json["error"]["type"] == "cancelled"
    assert group_of(process.pid) == []
    (run,) = command("runs", "list", "--json").json["items"]
    assert run["status"] == "cancelled"


@pytest.mark.parametrize("following", [["list"], []], ids=["a look", "another run"])
def test_after_kill_9_the_next_command_goes_on(
    command: Command, loopback: Loopback, following: list[str]
) -> None:
    nodes = http("first", f"{loopback.url}/first"), http("second", f"{loopback.url}/hold")
    text = chain(*nodes, outputs={"number": "{{ second.body.number }}"})
    process = command.start("run", command.write("a.json", text), "--json")
    loopback.wait_for("/hold")
    command.kill(process)
    process.wait()
    loopback.release.set()
    (run,) = command("runs", *following, "--json").json["items"] if following else [None]
    if run is None:
        done = command("run", command.write("b.json", GREETING), "-i", "name=Ada", "--json")
        assert done.code == 0
        run = command("runs", "list", "--json").json["items"][1]
    assert run["status"] == "succeeded"
    report = command("runs", "show", run["id"], "--json").json
    assert report["outputs"] == {"number": 2}
    assert (loopback.seen["/first"], report["nodes"]["first"]["attempts"]) == (1, 1)
    assert report["nodes"]["second"]["attempts"] == 2


def test_cancel_reaches_another_process(command: Command, loopback: Loopback) -> None:
    process = command.start(
        "run", command.write("a.json", chain(http("call", f"{loopback.url}/hold"))), "--json"
    )
    loopback.wait_for("/hold")
    (run,) = command("runs", "list", "--status", "running", "--json").json["items"]
    cancelled = command("runs", "cancel", run["id"][-8:], "--json")
    assert (cancelled.code, cancelled.json) == (
        0, {"run_id": run["id"], "status": "cancelled", "cancelled": True},
    )  # fmt: skip
    assert command.finish(process).json["status"] == "cancelled"
    assert command("runs", "cancel", run["id"], "--json").code == 1
