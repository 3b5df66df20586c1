"""Requests to people across kill -9 of the serving process, between question and answer and right after the answer."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.loopback import Loopback
from tests.server.command import Command


def ask(node: str, **config: Any) -> dict[str, Any]:
    return {"id": node, "type": "HUMAN", "config": {"title": f"{node}?", **config}}


def flow(
    nodes: list[dict[str, Any]], edges: list[str], outputs: dict[str, str], join: str = "any"
) -> dict[str, Any]:
    start, end = (
        {"id": "start", "type": "START"},
        {"id": "done", "type": "END", "join": join, "config": {"outputs": outputs}},
    )
    return {"name": "killed", "nodes": [start, *nodes, end], "edges": edges}


class Served:
    """A server that is killed and started again."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._process, self._url = command.serve()

    def kill(self) -> None:
        self._command.kill(self._process)
        self._process.wait()
        self._process, self._url = self._command.serve()

    def __call__(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self._url}/api/v1{path}", None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self._command.key}", "content-type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def begin(self, document: dict[str, Any], count: int) -> tuple[str, list[dict[str, Any]]]:
        """Start a run and wait for its requests."""
        run_id = self("/runs?wait=20", {"document": document})["run_id"]
        asked = self(f"/approvals?run_id={run_id}")["items"]
        assert len(asked) == count
        return run_id, sorted(asked, key=lambda item: str(item["path"]))

    def answer(self, asked: dict[str, Any], action: str = "approve") -> None:
        self(f"/approvals/{asked['id']}/answer", {"action": action})

    def end(self, run_id: str) -> Any:
        done = self._command("runs", "events", run_id, "--follow", "--json")
        assert json.loads(done.out.splitlines()[-1])["type"] == "run.succeeded"
        return self(f"/runs/{run_id}")["outputs"]


@pytest.fixture
def served(command: Command) -> Served:
    return Served(command)


def test_two_parallel_requests_with_a_kill_before_each_answer(served: Served) -> None:
    """Both were submitted, and the run stayed paused."""
    document = flow(
        [ask("left"), ask("right")],
        ["start -> left", "start -> right", "left.approve -> done", "right.approve -> done"],
        {"said": "{{ left.action }} {{ right.action }}"},
        join="all",
    )
    run_id, asked = served.begin(document, 2)
    for each in asked:
        served.kill()
        assert served(f"/runs/{run_id}")["status"] == "suspended"
        served.answer(each)
    assert served.end(run_id) == {"said": "approve approve"}


def test_a_kill_right_after_the_answer_loses_it_not(served: Served, loopback: Loopback) -> None:
    """The answer is durable before it is confirmed, and what follows it is done once."""
    post = {"id": "pay", "type": "HTTP", "config": {"method": "GET", "url": f"{loopback.url}/hold"}}
    document = flow(
        [ask("ask"), post],
        ["start -> ask", "ask.approve -> pay", "pay -> done"],
        {"said": "{{ ask.action }}"},
    )
    run_id, (asked,) = served.begin(document, 1)
    served.kill()
    served.answer(asked)
    loopback.wait_for("/hold")
    served.kill()
    loopback.release.set()
    assert served.end(run_id) == {"said": "approve"}
    item = served(f"/approvals/{asked['id']}")
    assert (item["status"], item["action"]) == ("answered", "approve")
    with pytest.raises(urllib.error.HTTPError, match="409"):
        served.answer(asked, "reject")


def test_a_time_out_that_passes_while_nobody_serves_takes_its_edge(served: Served) -> None:
    """The edge of the time-out was never taken."""
    document = flow(
        [ask("ask", timeout="1s")], ["start -> ask", "ask.approve -> done", "ask.timeout -> done"],
        {"did": "{{ ask.action }}"},
    )  # fmt: skip
    run_id, _ = served.begin(document, 1)
    served.kill()
    assert served.end(run_id) == {"did": "timeout"}
