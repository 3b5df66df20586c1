"""HTTP nodes that wait until the other side calls back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from interlace.flows.platform import Platform
from interlace.resources.http.testing import Reply, serve

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


def _document(url: str, edges: str = "", **callback: str) -> str:
    setting = ", ".join(f"{name}: {value}" for name, value in callback.items())
    return f"""
name: Job
nodes:
  - {{id: start, type: START}}
  - id: job
    type: HTTP
    config: {{method: POST, url: "{url}/jobs", body: {{type: json, content: {{size: 3}}}}, wait_for_callback: {{{setting}}}}}
  - {{id: done, type: END, config: {{outputs: {{code: "{{{{ job.status_code }}}}", result: "{{{{ job.callback }}}}"}}}}}}
edges: [start -> job, job -> done{edges}]
"""


async def test_a_run_goes_on_when_it_is_called_back(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    async with serve(lambda _request: Reply.of({"accepted": True}, status=202)) as server:
        document = _document(server.url, url_in="body", name="call_me")
        started = await api.post("/api/v1/runs?wait=20", json={"document": document})
        assert (started.status_code, started.json()["waiting"][0]["kind"]) == (202, "callback")
        sent = server.requests[0].json()
        assert sent["size"] == 3
        path = sent["call_me"].removeprefix(platform.callbacks.base)
        del anonymous.headers["authorization"]
        problem(await anonymous.post(f"{path}0", json={}), 404, "not_found")
        assert (await anonymous.post(path, json={"rows": 7})).status_code == 200
        result = await platform.runner.wait(started.json()["run_id"], 20)
        assert result is not None
        assert result.outputs == {"code": 202, "result": {"rows": 7}}
        problem(await anonymous.post(path, json={}), 409, "already_answered")
        assert len(server.requests) == 1
    assert Path(path).name not in str(await platform.store.waits.answers(started.json()["run_id"]))


async def test_without_a_call_it_fails_or_takes_its_edge(api: httpx2.AsyncClient, platform: Platform) -> None:
    async with serve(lambda _request: Reply.of({})) as server:
        for edges, status in (("", "failed"), (", job.timeout -> done", "succeeded")):
            document = _document(server.url, edges, timeout="3s")
            pinned = await api.post("/api/v1/runs?wait=1", json={"document": document})
            assert pinned.status_code == 202, pinned.text
            run_id = pinned.json()["run_id"]
            [wait] = await platform.store.waits.of_run(run_id)
            assert wait.until is not None
            assert any(name.lower() == "x-callback-url" for name in server.requests[-1].headers)
            await platform.waits._due(wait, wait.until)
            await platform.waits.look()
            result = await platform.runner.wait(run_id, 20)
            assert result is not None
            assert result.status == status
            if status == "failed":
                assert (result.error or {})["type"] == "callback_timeout"
            else:
                assert result.outputs == {"code": 200, "result": None}
