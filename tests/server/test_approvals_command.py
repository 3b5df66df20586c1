"""Suspended runs from the command line, over processes that end in between, also by kill -9."""

from __future__ import annotations

import signal
import time
from typing import Any

import httpx2

from tests.flows.waiting import ASK
from tests.server.command import Command

ONCE = """
name: Once
inputs: {type: object, required: [url], properties: {url: {type: string}}}
nodes:
  - {id: start, type: START}
  - {id: pay, type: HTTP, config: {method: POST, url: "{{ inputs.url }}"}}
  - {id: done, type: END, config: {outputs: {status: "{{ pay.status_code | default('unknown') }}"}}}
edges: [start -> pay, pay -> done]
"""


def _suspend(command: Command) -> tuple[str, str]:
    done = command("run", command.write("ask.yaml", ASK), "--json")
    assert (done.code, done.json["status"]) == (3, "suspended"), done
    [wait] = done.json["waiting"]
    assert (wait["path"], wait["kind"], wait["title"]) == ("ask", "human", "Pay 5?")
    return done.json["run_id"], wait["id"]


def test_a_run_is_suspended_answered_and_ends_in_three_commands(command: Command) -> None:
    run_id, request_id = _suspend(command)
    assert command("approvals", "list", "--json").json["items"][0]["id"] == request_id
    assert "answer with: interlace approvals answer" in command("approvals", "show", request_id).out
    assert request_id in command("runs", "why", run_id, "ask").out
    bad = command("approvals", "answer", request_id, "maybe", "--json")
    assert (bad.code, bad.json["error"]["type"]) == (2, "validation")
    done = command(
        "approvals", "answer", request_id, "approve", "--form", "note=well", "--as", "ada", "--json"
    )
    assert (done.code, done.json["run_status"], done.json["answered_by"]) == (0, "succeeded", "ada"), done
    assert command("runs", "show", run_id, "--json").json["outputs"] == {
        "action": "approve",
        "note": "well",
        "by": "ada",
    }
    again = command("approvals", "answer", request_id, "reject", "--json")
    assert (again.code != 0, again.json["error"]["type"], "ada" in again.json["error"]["message"]) == (
        True,
        "already_answered",
        True,
    )


def test_a_request_is_handed_over_and_several_are_answered(command: Command) -> None:
    made = [_suspend(command) for _ in range(3)]
    ids = [request_id for _, request_id in made]
    handed = command("approvals", "assign", ids[0], "--to", "bob", "--as", "ada", "--json")
    assert (handed.code, handed.json["assignees"]) == (0, ["bob"]), handed
    assert "ada handed it over to bob" in command("approvals", "show", ids[0]).out
    done = command("approvals", "answer", *ids, "approve", "--as", "ada", "--json")
    assert (done.code, done.json["answered"], done.json["failed"]) == (1, 2, 1), done
    assert done.json["items"][0]["error"]["type"] == "forbidden"
    assert [item["request"]["run_status"] for item in done.json["items"][1:]] == ["succeeded"] * 2
    last = command("approvals", "answer", ids[0], ids[1], "approve", "--as", "bob")
    assert last.code == 1
    assert "takes no answer: ada answered" in last.err
    assert f"run {made[0][0]} is succeeded" in last.err


def test_a_node_test_of_a_request_is_suspended(command: Command) -> None:
    done = command("test-node", command.write("ask.yaml", ASK), "ask", "-i", "amount=9", "--json")
    assert (done.code, done.json["status"], done.json["request"]["title"]) == (3, "suspended", "Pay 9?")


def test_a_server_killed_between_question_and_answer(command: Command) -> None:
    process, url = command.serve()
    headers = {"authorization": f"Bearer {command.key}"}
    started = httpx2.post(f"{url}/api/v1/runs?wait=20", json={"document": ASK}, headers=headers, timeout=30)
    assert started.status_code == 202, started.text
    run_id, request_id = started.json()["run_id"], started.json()["waiting"][0]["id"]
    command.kill(process, signal.SIGKILL)
    process.wait()
    (command.home / "server.json").unlink()
    process, url = command.serve()
    answered = httpx2.post(
        f"{url}/api/v1/approvals/{request_id}/answer", json={"action": "approve"}, headers=headers, timeout=30
    )
    assert answered.status_code == 200, answered.text
    assert _ended(url, headers, run_id)["status"] == "succeeded"
    second = httpx2.post(f"{url}/api/v1/runs?wait=20", json={"document": ASK}, headers=headers, timeout=30)
    done = command("approvals", "answer", second.json()["waiting"][0]["id"], "reject")
    assert (done.code, "goes on at the server" in done.err) == (0, True), done
    assert _ended(url, headers, second.json()["run_id"])["outputs"]["action"] == "reject"


def _ended(url: str, headers: dict[str, str], run_id: str) -> dict[str, Any]:
    """The run, once its end is recorded: its stream ends with it."""
    with httpx2.stream("GET", f"{url}/api/v1/runs/{run_id}/events", headers=headers, timeout=30) as stream:
        for _line in stream.iter_lines():
            pass
    found: dict[str, Any] = httpx2.get(f"{url}/api/v1/runs/{run_id}", headers=headers).json()
    return found


def test_whether_an_interrupted_payment_happened_is_asked(command: Command, loopback: Any) -> None:
    file = command.write("once.yaml", ONCE)
    process = command.start("run", file, "-i", f"url={loopback.url}/hold/pay", "--json")
    loopback.wait_for("/hold/pay")
    command.kill(process, signal.SIGKILL)
    process.wait()
    loopback.release.set()
    listed = command("approvals", "list", "--json").json["items"]
    end = time.monotonic() + 20
    while not listed and time.monotonic() < end:
        listed = command("approvals", "list", "--json").json["items"]
    [request] = listed
    assert (request["phase"], request["actions"]) == ("unknown", ["happened", "not_happened", "fail"])
    form = command.write("form.json", '{"outputs": {"status_code": 201}}')
    done = command("approvals", "answer", request["id"], "happened", "--form-file", form, "--json")
    assert (done.code, done.json["run_status"]) == (0, "succeeded"), done
    run = command("runs", "show", request["run_id"], "--json").json
    assert run["outputs"] == {"status": 201}
    assert loopback.seen["/hold/pay"] == 1
