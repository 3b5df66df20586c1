"""Templates tried as they are, and the schemas of definitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.flows.settings import Settings
from interlace.server.api.definitions import DEFINITIONS
from interlace.server.demo import with_examples

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return with_examples(Settings(home=tmp_path / "home", prefect="off"))


async def test_the_first_example_runs_on_its_own_data(api: httpx2.AsyncClient, problem: Problem) -> None:
    done = await api.post("/api/v1/templates/storm_report/run", params={"wait": "60s"}, json={})
    assert done.status_code == 200, done.text
    assert done.json()["outputs"]
    bad = {"inputs": {"cancelled_share": "much"}}
    assert (await api.post("/api/v1/templates/storm_report/run", json=bad)).status_code == 422
    for name in ("none", "..%2Fstorm_report", "%2Fetc%2Fpasswd"):
        assert (await api.post(f"/api/v1/templates/{name}/run", json={})).status_code in {404, 405}
    problem(await api.post("/api/v1/templates/none/run", json={}), 404, "not_found")
    assert (await api.get("/api/v1/workflows")).json()["items"] == []


async def test_every_definition_has_a_schema(api: httpx2.AsyncClient, problem: Problem) -> None:
    for kind in DEFINITIONS:
        schema = (await api.get(f"/api/v1/resource-schemas/{kind}")).json()
        assert schema["properties"], kind
    problem(await api.get("/api/v1/resource-schemas/nothing"), 404, "not_found")
