"""`/metrics` as Prometheus reads it: what is counted, by which labels, and who may read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.telemetry.metrics import MOST_SERIES, OTHER, Metrics
from interlace.server.app import create_app
from tests.flows.documents import chain, http, template
from tests.flows.waiting import ASK
from tests.server.hooks import hook_flow, published

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


async def samples(api: httpx2.AsyncClient) -> dict[tuple[str, tuple[str, ...]], float]:
    answer = await api.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def test_what_is_counted(api: httpx2.AsyncClient, platform: Platform) -> None:
    document = chain(template("t", "{{ 1 }}"), name="secret-name-of-a-flow")
    for _ in range(3):
        await api.post("/api/v1/runs?wait=20", json={"document": document})
    await api.post("/api/v1/runs?wait=20", json={"document": chain(http("h", "http://10.0.0.1/"))})
    await api.post("/api/v1/runs?wait=20", json={"document": ASK})
    hook = await published(api, hook_flow({}))
    await api.post(hook["path"], json={})
    await platform.runner.idle()
    found = await samples(api)
    assert found["interlace_runs_ended_total", ("succeeded", "api")] == 3
    assert found["interlace_runs_ended_total", ("failed", "api")] == 1
    assert found["interlace_runs_ended_total", ("suspended", "api")] == 1
    assert found["interlace_runs", ("suspended",)] == 1
    assert found["interlace_runs", ("running",)] == 0
    assert found["interlace_nodes_total", ("succeeded", "TEMPLATE")] == 3
    assert found["interlace_nodes_total", ("failed", "HTTP")] == 1
    assert found["interlace_node_seconds_count", ("TEMPLATE",)] == 3
    assert found["interlace_webhook_deliveries", ("received",)] == 0
    assert found["interlace_webhook_deliveries", ("dead",)] == 0
    assert found["interlace_leased_runs", ()] == 0
    assert found["interlace_active_runs", ()] == 0
    assert found["interlace_http_request_seconds_count", ("POST", "/api/v1/runs", "2xx")] == 4
    assert found["interlace_http_request_seconds_count", ("POST", "/api/v1/runs", "5xx")] == 1
    assert found["interlace_http_request_seconds_count", ("POST", "/hooks/{token}", "2xx")] == 1
    text = (await api.get("/metrics")).text
    for hidden in ("secret-name-of-a-flow", hook["path"], hook["id"], "local"):
        assert hidden not in text


async def test_paths_and_methods_of_strangers_make_no_series(api: httpx2.AsyncClient) -> None:
    for number in range(20):
        await api.get(f"/nowhere/{number}")
        await api.request(f"METHOD{number}", "/api/v1/runs")
    routes = {labels for name, labels in await samples(api) if name == "interlace_http_request_seconds_count"}
    assert {labels[:2] for labels in routes} <= {
        ("GET", "none"),
        (OTHER, "/api/v1/runs"),
        (OTHER, "none"),
        ("GET", "/metrics"),
    }


async def test_names_of_people_are_bounded(platform: Platform) -> None:
    metrics = Metrics(platform)
    named = {metrics._bounded("model", f"m{number}") for number in range(MOST_SERIES + 50)}
    assert len(named) == MOST_SERIES + 1
    assert OTHER in named
    assert metrics._bounded("model", "m1") == "m1"


async def test_who_may_read(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, platform: Platform, problem: Problem
) -> None:
    ann = await platform.store.users.create("ann", by=LOCAL)
    _, hers = await platform.store.keys.create("hers", owner=ann.id)
    _, narrow = await platform.store.keys.create("narrow", scopes=["runs:read"])
    _, enough = await platform.store.keys.create("scrape", scopes=["metrics:read"])
    for key, status, code in (
        (hers, 403, "forbidden"),
        (narrow, 403, "missing_scope"),
        ("il_no_no", 401, "unauthorized"),
    ):
        problem(await anonymous.get("/metrics", headers={"authorization": f"Bearer {key}"}), status, code)
    assert (await anonymous.get("/metrics", headers={"authorization": f"Bearer {enough}"})).status_code == 200


@pytest.mark.parametrize(("setting", "status"), [("open", 200), ("off", 404), ("key", 401)])
async def test_as_the_setting_says(platform: Platform, setting: str, status: int) -> None:
    platform.settings = platform.settings.model_copy(update={"metrics": setting})
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(create_app(platform)), base_url="http://localhost"
    ) as client:
        assert (await client.get("/metrics")).status_code == status


async def test_without_the_database_the_rest_is_told(api: httpx2.AsyncClient, platform: Platform) -> None:
    (platform.settings.home / "interlace.db").rename(platform.settings.home / "gone.db")
    await platform.store.database._engine.dispose()
    platform.settings = platform.settings.model_copy(update={"metrics": "open"})
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(create_app(platform)), base_url="http://localhost"
    ) as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert "interlace_active_runs" in answer.text
    assert "interlace_queue_depth" not in answer.text
    del api
