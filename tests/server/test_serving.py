"""Serving processes: what they leave in the home, how they end, and that no end loses a run."""

from __future__ import annotations

import json
import signal
import stat
import urllib.request
from typing import Any

import pytest

from tests.flows.documents import GREETING, chain, http
from tests.loopback import Loopback
from tests.server.command import Command, group_of


def _ask(command: Command, url: str, body: Any = None, *, method: str | None = None) -> Any:
    request = urllib.request.Request(
        url, None if body is None else json.dumps(body).encode(), method=method,
        headers={"authorization": f"Bearer {command.key}", "content-type": "application/json"},
    )  # fmt: skip
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def _steps(loopback: Loopback) -> str:
    nodes = http("first", f"{loopback.url}/first"), http("second", f"{loopback.url}/hold")
    return chain(*nodes, outputs={"number": "{{ second.body.number }}"})


def test_kill_9_loses_no_run_and_repeats_no_finished_node(command: Command, loopback: Loopback) -> None:
    process, url = command.serve()
    run_id = _ask(command, f"{url}/api/v1/runs", {"document": _steps(loopback)})["run_id"]
    loopback.wait_for("/hold")
    command.kill(process)
    process.wait()
    loopback.release.set()
    process, url = command.serve()
    done = command("runs", "events", run_id, "--follow", "--json")
    assert json.loads(done.out.splitlines()[-1])["type"] == "run.succeeded"
    report = _ask(command, f"{url}/api/v1/runs/{run_id}")
    assert (report["outputs"], loopback.seen["/first"]) == ({"number": 2}, 1)


def test_an_orderly_end_leaves_the_run_to_the_next_start(command: Command, loopback: Loopback) -> None:
    process, url = command.serve()
    for name in ("server.json", "owner.key"):
        assert stat.S_IMODE((command.home / name).stat().st_mode) == 0o600
    key = command.key
    post = http("post", f"{loopback.url}/hold", method="POST")
    text = chain(post, http("after", f"{loopback.url}/after"))
    run_id = _ask(command, f"{url}/api/v1/runs", {"document": text})["run_id"]
    loopback.wait_for("/hold")
    command.kill(process, signal.SIGTERM)
    loopback.release.set()
    done = command.finish(process)
    assert done.code == 0, done.err
    assert not (command.home / "server.json").exists()
    assert group_of(process.pid) == []
    command.serve()
    assert command.key == key
    command("runs", "events", run_id, "--follow")
    report = command("runs", "show", run_id, "--json").json
    assert report["status"] == "succeeded"
    assert (loopback.seen["/hold"], loopback.seen["/after"]) == (1, 1)


def test_the_command_line_gives_its_runs_to_the_server(command: Command, loopback: Loopback) -> None:
    process, _ = command.serve()
    done = command("run", command.write("a.json", GREETING), "-i", "name=Ada", "--json")
    assert (done.code, done.json["outputs"]) == (0, {"text": "Hello Ada"})
    (run,) = command("runs", "list", "--json").json["items"]
    assert run["trigger"] == {"kind": "api", "by": "owner"}
    pooled = command("run", "a.json", "-i", "name=Ada", "--json", "--via", "pool")
    assert pooled.code == 0
    assert "not in Prefect's work pool" in pooled.err
    assert command("run", "a.json", "--json").json["status"] == "invalid"
    held = command.start("run", command.write("b.json", _steps(loopback)), "--json")
    loopback.wait_for("/hold")
    command.kill(held, signal.SIGINT)
    cancelled = command.finish(held)
    assert (cancelled.code, cancelled.json["status"]) == (1, "cancelled")
    left = command.start("run", "b.json", "--json")
    loopback.wait_for("/hold", 2)
    command.kill(process)
    process.wait()
    gone = command.finish(left)
    assert (gone.code, gone.json["status"]) == (3, "running")
    assert "goes on when it starts again" in gone.err


def test_cancel_from_the_command_line(command: Command, loopback: Loopback) -> None:
    _, url = command.serve()
    run_id = _ask(command, f"{url}/api/v1/runs", {"document": _steps(loopback)})["run_id"]
    loopback.wait_for("/hold")
    assert command("runs", "cancel", run_id, "--json").json["status"] == "cancelled"


def test_one_server_a_home_and_a_port(command: Command, tmp_path: Any) -> None:
    process, url = command.serve()
    second = command("serve")
    assert second.code == 1
    assert f"runs already at {url}" in second.err
    port = url.rpartition(":")[2]
    elsewhere = Command(tmp_path, INTERLACE_HOME=str(tmp_path / "other"))
    taken = elsewhere("serve", "--port", port)
    elsewhere.end()
    assert taken.code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in taken.err
    assert "--port" in taken.err
    command.kill(process, signal.SIGSTOP)
    try:
        silent = command("run", command.write("a.json", GREETING), "-i", "name=Ada", "--json")
    finally:
        command.kill(process, signal.SIGCONT)
    assert (silent.code, silent.json["status"], silent.json["error"]["type"]) == (
        3,
        "unreachable",
        "unreachable",
    )
    assert _ask(command, f"{url}/health/live")["status"] == "ok"


def test_a_database_that_cannot_be_opened(tmp_path: Any) -> None:
    command = Command(tmp_path, INTERLACE_DATABASE_URL="postgresql://nobody@127.0.0.1:9/none")
    done = command("serve")
    command.end()
    assert done.code == 1
    assert "check that it exists" in done.err
    assert "Traceback" not in done.err


def test_the_demonstration_shows_its_report(command: Command) -> None:
    done = command("serve", "--demo", "--once")
    assert done.code == 0, done.err
    assert "5 of 15 airlines need a look" in done.out
    assert "✓ storm_report.yaml succeeded" in done.err
    (run,) = command("runs", "list", "--json").json["items"]
    assert (run["workflow"], run["tags"]) == ("Storm report", ["example"])


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_streams_end_with_the_server(command: Command, loopback: Loopback, stop: signal.Signals) -> None:
    process, url = command.serve()
    run_id = _ask(command, f"{url}/api/v1/runs", {"document": _steps(loopback)})["run_id"]
    request = urllib.request.Request(
        f"{url}/api/v1/runs/{run_id}/events", headers={"authorization": f"Bearer {command.key}"}
    )
    with urllib.request.urlopen(request, timeout=30) as stream:
        assert stream.readline() == b"id: 1\n"
        command.kill(process, stop)
        assert b"run.started" in stream.read()
    done = command.finish(process)
    assert (done.code, done.err.splitlines()[-1]) == (0, "✓ ended")
