"""Recorded runs and their offline replays: equal results with nothing reached, mismatches, and no secrets kept."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.run_diff import diff_runs
from interlace.flows.settings import Settings
from interlace.store.errors import ConflictError
from tests.flows.documents import chain, http, sub, template
from tests.flows.recorded import RECORD, equal, finish, offline, record, tripwire
from tests.flows.waiting import answer, pending
from tests.loopback import Loopback


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("INTERLACE_SECRETS_TOKEN", "very-secret-value")
    return Settings(
        home=tmp_path / "home", http_allow=["127.0.0.1/32"], database_allow=[str(tmp_path)], prefect="off"
    )


def outside(loopback: Loopback, database: Path) -> str:
    """Everything that reaches out: HTTP with retries and pages, a database, code, time, environment, a body."""
    code = "import random, time\ndef main():\n    return {'chance': random.random(), 'at': time.time()}"
    each = {
        "id": "each", "type": "ITERATION",
        "config": {"items": [1, 2, 3], "parallel": 3, "output": "{{ call.body.number }} {{ now() }}"},
        "body": {"nodes": [http("call", loopback.url + "/item?n={{ item }}")], "edges": []},
    }  # fmt: skip
    failing = http("failing", f"{loopback.url}/status/503", on_error="continue")
    failing["retry"] = {"max": 1, "delay": "20s", "jitter": False}
    return chain(
        http("get", f"{loopback.url}/get", headers={"X-Tenant": "blue"}),
        http("post", f"{loopback.url}/post", method="POST", body={"type": "json", "content": {"at": "{{ now() }}"}}),
        {"id": "rows", "type": "DATABASE", "config": {"url": f"sqlite:///{database}", "sql": "SELECT * FROM t"}},
        {"id": "code", "type": "CODE", "config": {"code": code}},
        each, failing,
        template("time", "{{ now() }} {{ run.id }} {{ run.started_at }} {{ env.place | default('none') }}"),
        outputs={
            "get": "{{ get }}", "post": "{{ post.body }}", "rows": "{{ rows.rows }}", "code": "{{ code }}",
            "each": "{{ each.results }}", "failing": "{{ failing.error }}", "time": "{{ time.text }}",
            "now": "{{ now() }}", "trigger": "{{ trigger }}",
        },
    )  # fmt: skip


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (id INTEGER, name TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")])
    connection.commit()
    connection.close()
    return path


class Impatient:
    """A clock whose pauses take no time."""

    def now(self) -> float:
        import time

        return time.time()

    async def sleep(self, seconds: float) -> None:
        del seconds


async def test_a_run_is_done_again_with_the_network_off(
    platform: Platform, loopback: Loopback, database: Path
) -> None:
    platform.runner.clock = Impatient()
    run_id, result = await record(platform, outside(loopback, database))
    assert result.status == "succeeded", result.error
    seen = dict(loopback.seen)
    assert seen["/status/503"] == 2
    await asyncio.to_thread(database.unlink)
    loopback.server.server_close()
    new = await equal(platform, run_id, result)
    assert dict(loopback.seen) == seen
    # The replay holds the record itself: it outlives the first run and can be replayed in its turn.
    await platform.store.runs.delete(run_id)
    await equal(platform, new, result)


async def test_a_hundred_runs_are_equal(platform: Platform, loopback: Loopback) -> None:
    text = chain(
        http("get", loopback.url + "/n{{ inputs.n }}"), template("t", "{{ get.body.path }} {{ now() }}"),
        outputs={"t": "{{ t.text }}"},
    )  # fmt: skip
    recorded = [await record(platform, text, {"n": n}) for n in range(100)]
    with tripwire() as tried:
        for run_id, result in recorded:
            _, again = await offline(platform, run_id)
            assert json.dumps(again.outputs) == json.dumps(result.outputs)
    assert tried == []


async def test_people_callbacks_pauses_and_children(
    platform: Platform, loopback: Loopback, push: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await push(chain(http("c", f"{loopback.url}/child"), outputs={"n": "{{ c.body.number }}"}, name="child"))
    ask = {
        "id": "ask", "type": "HUMAN",
        "config": {"title": "Go on?", "form": {"type": "object", "properties": {"note": {"type": "string"}}}},
    }  # fmt: skip
    back = http(
        "back", f"{loopback.url}/start", method="POST", body={"type": "json", "content": {}},
        wait_for_callback={"url_in": "body", "name": "to"}, effects="idempotent",
    )  # fmt: skip
    slow = template("slow", "later")
    slow["wait"] = {"for": "0.01s"}
    sure = template("sure", "{{ ask.form.note }}")
    sure["confirm"] = True
    text = chain(
        ask, back, slow, sure, sub("sub", "child"),
        outputs={"ask": "{{ ask }}", "back": "{{ back.callback }}", "sub": "{{ sub }}", "sure": "{{ sure.text }}"},
    ).replace('"from": "ask"', '"handle": "approve", "from": "ask"')  # fmt: skip
    pinned = await platform.documents.from_text(text)
    token = ""
    token_of = platform.callbacks.of

    def noted(key: str) -> tuple[str, str]:
        nonlocal token
        token, url = token_of(key)
        return token, url

    monkeypatch.setattr(platform.callbacks, "of", noted)
    run_id = await platform.runner.start(pinned, Request(options=RECORD))
    await platform.runner.turn(run_id)
    await answer(platform, (await pending(platform, run_id))[0], form={"note": "yes"})
    await platform.runner.turn(run_id)
    await platform.waits.call_back(token, {"done": True})
    await platform.runner.turn(run_id)
    await answer(platform, (await pending(platform, run_id))[0])
    result = await finish(platform, run_id)
    assert result.status == "succeeded", result.error
    assert result.outputs is not None
    assert result.outputs["back"] == {"done": True}
    assert result.outputs["sub"]["n"] == 1
    await equal(platform, run_id, result)
    assert loopback.seen["/child"] == 1
    text = json.dumps([e.data for e in await platform.store.events.read(run_id) if e.type == "call.recorded"])
    assert token not in text
    child = (await platform.store.runs.children(run_id))[0]
    assert child.options == RECORD


async def test_secrets_are_not_kept(
    platform: Platform, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = chain(
        http(
            "get", f"{loopback.url}/echo",
            headers={"X-Key": "{{ secrets.token }}", "X-Sum": "{{ secrets.token | hash }}", "Cookie": "plain-cookie"},
            auth={"type": "basic", "username": "me", "password": "{{ secrets.token }}"},
        ),
        outputs={"n": "{{ get.body }}"},
    )  # fmt: skip
    run_id, result = await record(platform, text)
    assert result.status == "succeeded", result.error
    events = await platform.store.events.read(run_id)
    kept = json.dumps([e.data["request"] for e in events if e.type == "call.recorded"])
    assert "very-secret-value" not in json.dumps([e.data for e in events])
    assert "plain-cookie" not in kept
    assert "hidden" in kept
    assert "X-Sum" not in kept
    monkeypatch.delenv("INTERLACE_SECRETS_TOKEN")
    await equal(platform, run_id, result)


async def test_another_version_is_tested_against_the_record(platform: Platform, loopback: Loopback) -> None:
    def version(double: str, path: str = "/get") -> str:
        code = {
            "code": f"def main(n):\n    return {{'n': {double}}}",
            "inputs": {"n": "{{ get.body.number }}"},
        }
        return chain(
            http("get", loopback.url + path), {"id": "code", "type": "CODE", "config": code},
            outputs={"n": "{{ code.n }}"},
        )  # fmt: skip

    run_id, _ = await record(platform, version("n * 2"))
    with tripwire() as tried:
        new, result = await offline(platform, run_id, version("n + n"))
        assert result.outputs == {"n": 2}
        assert (await diff_runs(platform.store, platform.documents, run_id, new))["equal"]
        new, result = await offline(platform, run_id, version("n * 3"))
        assert result.outputs == {"n": 3}
        found = await diff_runs(platform.store, platform.documents, run_id, new)
        assert found["nodes"]["code"]["outputs"] == [{"path": "n", "before": 2, "after": 3}]
        _, result = await offline(platform, run_id, version("n", "/other"))
    assert tried == []
    assert result.error is not None
    assert result.error["type"] == "record_mismatch"
    assert "/get was" not in result.error["message"]
    assert f"url was {loopback.url}/get and is {loopback.url}/other now" in result.error["message"]


async def test_runs_without_a_record_are_refused(platform: Platform, loopback: Loopback) -> None:
    text = chain(http("get", f"{loopback.url}/get"))
    pinned = await platform.documents.from_text(text)
    run_id = await platform.runner.start(pinned, Request())
    await finish(platform, run_id)
    with pytest.raises(ConflictError, match="not recorded"):
        await offline(platform, run_id)


async def test_the_document_can_ask_for_the_record(
    platform: Platform, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = chain(http("get", f"{loopback.url}/get"), outputs={"n": "{{ get.body }}"}, settings=RECORD)
    pinned = await platform.documents.from_text(text)
    run_id = await platform.runner.start(pinned, Request())
    result = await finish(platform, run_id)
    await equal(platform, run_id, result)


async def test_answers_of_an_interrupted_attempt_do_not_count(settings: Settings, loopback: Loopback) -> None:
    text = chain(http("get", f"{loopback.url}/hold"), outputs={"n": "{{ get.body.number }}"})
    platform = await Platform.open(settings)
    pinned = await platform.documents.from_text(text)
    run_id = await platform.runner.start(pinned, Request(options=RECORD))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    await platform.close()
    loopback.release.set()
    platform = await Platform.open(settings)
    await platform.runner.resume(await platform.store.runs.get(run_id))
    result = await finish(platform, run_id)
    assert result.outputs == {"n": 2}
    await equal(platform, run_id, result)
    await platform.close()


def _namespaces() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _namespaces(), reason="network namespaces are not allowed here")
async def test_a_process_without_any_network_replays(settings: Settings, loopback: Loopback) -> None:
    text = chain(http("get", f"{loopback.url}/get"), outputs={"n": "{{ get.body }}"})
    platform = await Platform.open(settings)
    run_id, result = await record(platform, text)
    await platform.close()
    command = [sys.executable, "-c", "from interlace.server.cli.main import main; main()"]
    done = await asyncio.to_thread(
        subprocess.run, ["unshare", "-rn", *command, "runs", "replay", run_id, "--offline", "--json"],
        capture_output=True, text=True, check=False, env=_environment(settings), timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outputs"] == result.outputs


def _environment(settings: Settings) -> dict[str, str]:
    import os

    return {**os.environ, "INTERLACE_HOME": str(settings.home), "INTERLACE_PREFECT": "off"}


def test_the_tripwire_trips(loopback: Loopback) -> None:
    with tripwire() as tried, pytest.raises(OSError, match="network is off"):
        socket.create_connection(("127.0.0.1", loopback.server.server_port))
    assert tried
