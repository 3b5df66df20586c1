"""The serving process with its real embedded Prefect: one start for the whole module."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from interlace.flows.link import PrefectLink
from interlace.flows.platform import Platform
from interlace.flows.prefect import PrefectApi
from interlace.flows.prefect.settings import VERSION, own_auth
from interlace.flows.request import POOL, Request
from interlace.flows.settings import Settings
from interlace.server.app import living
from tests.flows.documents import GREETING, chain, http, sub, template
from tests.flows.prefect.conftest import copy_database
from tests.flows.waiting import ASK
from tests.loopback import Loopback

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Served:
    """What the tests work with."""

    def __init__(
        self, client: httpx2.AsyncClient, prefect: PrefectApi, platform: Platform, link: PrefectLink
    ) -> None:
        self.client = client
        self.prefect = prefect
        self.platform = platform
        self.link = link

    async def start(self, document: str, **body: Any) -> dict[str, Any]:
        answer = await self.client.post("/api/v1/runs", json={"document": document, **body})
        assert answer.status_code == 202, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def flow_run(self, run_id: str, *states: str) -> dict[str, Any]:
        """The flow run of a run, once it is in one of these states."""

        async def look() -> dict[str, Any] | None:
            flow_run_id = (await self.platform.store.runs.get(run_id)).flow_run_id
            if flow_run_id is None:
                return None
            found: dict[str, Any] = await self.prefect.get(f"/flow_runs/{flow_run_id}")
            return found if found["state_name"] in states else None

        return await eventually(look)

    async def task_runs(self, flow_run: dict[str, Any]) -> dict[str, dict[str, Any]]:
        wanted = {"flow_runs": {"id": {"any_": [flow_run["id"]]}}}
        return {task["dynamic_key"]: task for task in await self.prefect.post("/task_runs/filter", wanted)}


async def eventually(look: Callable[[], Awaitable[Any]], seconds: float = 30.0) -> Any:
    """Look at Prefect until it shows something."""
    end = time.monotonic() + seconds
    while not (seen := await look()):
        assert time.monotonic() < end, f"nothing was seen in {seconds} s"
        await asyncio.sleep(0.05)
    return seen


@pytest.fixture(scope="module")
def _clean() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("INTERLACE_", "PREFECT_"))]:
            patch.delenv(name)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, _clean: None
) -> AsyncIterator[Served]:
    home = tmp_path_factory.mktemp("served")
    assert request.config.cache is not None
    migrated = request.config.cache.mkdir("prefect") / f"{VERSION}.db"
    if migrated.exists():
        copy_database(migrated, home)
    settings = Settings(home=home, http_allow=["127.0.0.1/32"], prefect="embedded", prefect_lag=0.2)
    async with living(settings) as app:
        platform, link = app.state.platform, app.state.prefect
        assert await link.ready(100)
        _, key = await platform.store.keys.create("test")
        transport = httpx2.ASGITransport(app)
        async with (
            httpx2.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=60,
                headers={"authorization": f"Bearer {key}"},
            ) as client,
            PrefectApi(link.connection) as prefect,
        ):  # fmt: skip
            yield Served(client, prefect, platform, link)


@pytest.fixture
def loopback() -> Any:
    with Loopback() as server:
        yield server


async def test_health_says_so(served: Served) -> None:
    ready = (await served.client.get("/health/ready")).json()["prefect"]
    assert ready == {"mode": "embedded", "ready": True, "ui": served.link.ui_url, "failure": None}


async def test_prefect_asks_for_the_credentials_of_the_home(served: Served) -> None:
    file = served.link.credentials
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    user, password = file.read_text().split(":")
    assert own_auth(served.platform.settings.home) == f"{user}:{password}", "it is made once"
    api = f"{served.link.ui_url}/api"
    async with httpx2.AsyncClient() as anonymous:
        for auth, status in [(None, 401), ((user, "wrong"), 401), ((user, password), 200)]:
            answer = await anonymous.post(f"{api}/flow_runs/filter", json={}, auth=auth)
            assert answer.status_code == status
        assert (await anonymous.post(f"{api}/interlace/record", json={})).status_code == 401
        pages = await anonymous.get(f"{served.link.ui_url}/ui-settings")
        assert pages.json()["auth"] == "BASIC", "the pages show a form for it"


async def test_a_run_is_shown_with_its_nodes(served: Served, loopback: Loopback) -> None:
    nodes = http("call", f"{loopback.url}/a"), template("say", "{{ inputs.name }} {{ call.status_code }}")
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    document = chain(*nodes, outputs={"text": "{{ say.text }}"}, name="Shown here", inputs=schema)
    started = await served.start(document, inputs={"name": "Ada"}, tags=["blue"])
    flow_run = await served.flow_run(started["run_id"], "Completed")
    assert flow_run["name"].startswith("Shown here ")
    assert flow_run["parameters"]["inputs"] == {"name": "Ada"}
    assert flow_run["parameters"]["run_id"] == started["run_id"]
    assert {"interlace", "blue"} <= set(flow_run["tags"])
    tasks = await served.task_runs(flow_run)
    assert set(tasks) >= {"call", "say"}
    assert {task["state_name"] for task in tasks.values()} == {"Completed"}
    upstream = {task["id"] for task in tasks["say"]["task_inputs"]["upstream"]}
    assert upstream == {tasks["call"]["id"]}


async def test_failures_and_cancellations_are_shown(served: Served, loopback: Loopback) -> None:
    failed = await served.start(chain(http("call", f"{loopback.url}/status/404"), name="fails"))
    held = await served.start(chain(http("call", f"{loopback.url}/hold"), name="held"))
    await asyncio.to_thread(loopback.wait_for, "/hold")
    await served.client.post(f"/api/v1/runs/{held['run_id']}/cancel")
    flow_run = await served.flow_run(failed["run_id"], "Failed")
    assert "404" in flow_run["state"]["message"]
    await served.flow_run(held["run_id"], "Cancelled")


@pytest.mark.parametrize("via", [None, "pool"])
async def test_cancelling_in_prefect_cancels_the_run(
    served: Served, loopback: Loopback, via: str | None
) -> None:
    held = await served.start(chain(http("call", f"{loopback.url}/hold"), name="held"), via=via)
    await asyncio.to_thread(loopback.wait_for, "/hold")
    flow_run = await served.flow_run(held["run_id"], "Running")
    state = {"state": {"type": "CANCELLING", "name": "Cancelling"}}
    started = time.monotonic()
    await served.prefect.post(f"/flow_runs/{flow_run['id']}/set_state", state)
    result = await served.platform.runner.wait(held["run_id"], 20)
    assert result is not None
    assert result.status == "cancelled"
    assert time.monotonic() - started < 15
    await served.flow_run(held["run_id"], "Cancelled")


async def test_the_pool_runs_what_it_is_given(served: Served) -> None:
    started = await served.start(GREETING, inputs={"name": "Ada"}, via="pool", tags=["pooled"])
    assert (started["via"], started["status"]) == ("pool", "queued")
    result = await served.platform.runner.wait(started["run_id"], 30)
    assert result is not None
    assert result.outputs == {"text": "Hello Ada"}
    flow_run = await served.flow_run(started["run_id"], "Completed")
    assert flow_run["id"] == started["flow_run_id"]
    assert "pooled" in flow_run["tags"]
    run = await served.platform.store.runs.get(started["run_id"])
    assert run.trigger == {"kind": "api", "by": "test", "via": "pool"}


async def test_a_stored_workflow_through_the_pool_waits_for_its_outputs(served: Served) -> None:
    pushed = (
        await served.client.post("/api/v1/workflows", json={"document": GREETING, "publish": True})
    ).json()
    body = {"inputs": {"name": "Bo"}, "via": "pool"}
    path = f"/api/v1/workflows/{pushed['id']}/run?wait=30s"
    answer = await served.client.post(path, json=body, headers={"idempotency-key": "once"})
    assert answer.json()["outputs"] == {"text": "Hello Bo"}
    again = await served.client.post(path, json=body, headers={"idempotency-key": "once"})
    assert again.json() == answer.json()


async def test_a_child_has_a_flow_run_of_its_own(served: Served) -> None:
    await served.client.post("/api/v1/workflows", json={"document": GREETING, "publish": True})
    parent = chain(
        sub("call", "greeting", inputs={"name": "Cy"}), outputs={"child": "{{ call.run_id }}"}, name="parent"
    )
    started = await served.start(parent)
    result = await served.platform.runner.wait(started["run_id"], 30)
    assert result is not None
    assert result.outputs is not None
    flow_run = await served.flow_run(result.outputs["child"], "Completed")
    assert flow_run["name"].startswith("greeting ")


async def test_http_nodes_never_reach_prefect(served: Served) -> None:
    answer = await served.client.post(
        "/api/v1/runs?wait=20s", json={"document": chain(http("call", f"{served.link.ui_url}/api/health"))}
    )
    assert answer.json()["error"]["type"] == "blocked_address"


async def test_a_pool_run_that_ended_outside_the_pool_is_settled(served: Served) -> None:
    runner, store = served.platform.runner, served.platform.store
    pinned = await served.platform.documents.from_text(GREETING)
    request = Request(inputs={"name": "Ada"}, trigger={"kind": "api", **POOL})
    run_id, _ = await runner.create(pinned, request)
    later = datetime.now(UTC) + timedelta(minutes=30)
    host = served.link._host
    assert host is not None
    await host.ensure_deployment("file:greeting", "greeting", {})
    flow_run_id = await host.submit("file:greeting", run_id, {}, (), later)
    await store.runs.mirrored([(run_id, "queued", flow_run_id)])
    assert await runner.resume(await store.runs.get(run_id))
    await runner.wait(run_id, 20)
    assert served.link.reconciler is not None
    await served.link.reconciler.compare()
    await served.flow_run(run_id, "Completed")
    assert run_id not in {run.id for run in await store.runs.to_mirror()}


async def test_a_run_of_the_pool_waits_and_goes_on_in_prefect(served: Served) -> None:
    run_id = (await served.start(ASK, via="pool"))["run_id"]
    await served.flow_run(run_id, "Suspended")
    assert run_id not in served.platform.runner.active
    [request] = (await served.client.get(f"/api/v1/approvals?run_id={run_id}")).json()["items"]
    answered = await served.client.post(
        f"/api/v1/approvals/{request['id']}/answer", json={"action": "approve"}
    )
    assert answered.status_code == 200, answered.text
    await served.flow_run(run_id, "Completed")
    run = (await served.client.get(f"/api/v1/runs/{run_id}")).json()
    assert (run["status"], run["outputs"]["action"]) == ("succeeded", "approve")


async def test_a_mirrored_run_is_shown_suspended_and_then_completed(served: Served) -> None:
    run_id = (await served.start(ASK))["run_id"]
    await served.flow_run(run_id, "Suspended")
    [request] = (await served.client.get(f"/api/v1/approvals?run_id={run_id}")).json()["items"]
    await served.client.post(f"/api/v1/approvals/{request['id']}/answer", json={"action": "reject"})
    await served.flow_run(run_id, "Completed")


async def test_a_flow_run_that_is_gone_keeps_no_other_from_being_settled(served: Served) -> None:
    runner, store, host = served.platform.runner, served.platform.store, served.link._host
    assert host is not None
    pinned = await served.platform.documents.from_text(GREETING)
    await host.ensure_deployment("file:greeting", "greeting", {})
    run_ids = []
    for _ in range(2):
        request = Request(inputs={"name": "Ada"}, trigger={"kind": "api", **POOL})
        run_id, _new = await runner.create(pinned, request)
        later = datetime.now(UTC) + timedelta(minutes=30)
        flow_run_id = await host.submit("file:greeting", run_id, {}, (), later)
        await store.runs.mirrored([(run_id, "queued", flow_run_id)])
        if not run_ids:
            await served.prefect.request("DELETE", f"/flow_runs/{flow_run_id}")
        assert await runner.resume(await store.runs.get(run_id))
        await runner.wait(run_id, 20)
        run_ids.append(run_id)
    assert served.link.reconciler is not None
    await served.link.reconciler.compare()
    await served.flow_run(run_ids[1], "Completed")
    assert (await store.runs.get(run_ids[0])).flow_run_id is None, "the mirror shows it as any other"
