"""The flow by its import path: what a work pool of Prefect's own runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from interlace.flows.prefect import Deployments, Outcome, PrefectApi, PrefectConnection, PrefectError
from interlace.flows.prefect.deployments import ENTRYPOINT
from interlace.flows.prefect.internals import prepare_client

_RUNNER = """
from interlace.flows.prefect import Outcome

async def run(run_id, workflow_id, inputs):
    return Outcome(state="succeeded", message=f"{run_id} {workflow_id} {inputs['n'] + 1}")
"""


@pytest.fixture
def flow(connection: PrefectConnection, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    prepare_client(connection)
    from interlace.flows.prefect import flow

    monkeypatch.delenv("INTERLACE_RUNNER", raising=False)
    yield flow
    flow.bind(None)


@pytest.mark.parametrize("path", [ENTRYPOINT, "interlace.flows.prefect.flow:workflow_run"])
def test_prefect_finds_it_by_its_path(flow: Any, path: str) -> None:
    from prefect.flows import load_flow_from_entrypoint

    assert load_flow_from_entrypoint(path, use_placeholder_flow=False) is flow.workflow_run


async def test_without_a_runner_it_says_how_to_bind_one(flow: Any) -> None:
    with pytest.raises(PrefectError, match=r"bind\(runner\) or set INTERLACE_RUNNER="):
        await flow.workflow_run.fn("r", "w", {})


@pytest.mark.parametrize("name", ["no.such.module:run", "json:nothing", "json"])
async def test_a_runner_that_is_not_there(flow: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("INTERLACE_RUNNER", name)
    with pytest.raises(PrefectError, match=f"INTERLACE_RUNNER='{name}' names no runner"):
        await flow.workflow_run.fn("r", "w", {})


async def test_a_bound_runner_is_asked(flow: Any) -> None:
    async def runner(run_id: str | None, workflow_id: str | None, inputs: Mapping[str, Any]) -> Outcome:
        return Outcome(state="failed", message=f"{run_id} {workflow_id} {inputs}")

    flow.bind(runner)
    state = await flow.workflow_run.fn("r", "w", {"a": 1})
    assert state.is_failed()
    assert state.message == "r w {'a': 1}"


async def test_in_a_process_of_its_own(
    connection: PrefectConnection, api: PrefectApi, tmp_path: Path
) -> None:
    (tmp_path / "own_runner.py").write_text(_RUNNER)
    deployments = Deployments(api, f"pool-{uuid4().hex[:8]}")
    deployment = await deployments.ensure("wf", "Orders")
    parameters = {"run_id": "run-4", "workflow_id": "wf", "inputs": {"n": 4}}
    made = await api.post(
        f"/deployments/{deployment.id}/create_flow_run",
        {
            "parameters": parameters,
            "state": {"type": "PENDING", "name": "Pending"},
            "enforce_parameter_schema": False,
        },
    )
    environment = {
        **os.environ,
        **connection.environment(),
        "INTERLACE_RUNNER": "own_runner:run",
        "PYTHONPATH": str(tmp_path),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this loop
        [sys.executable, "-m", "prefect.engine", made["id"]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    flow_run = await api.get(f"/flow_runs/{made['id']}")
    assert (flow_run["state_name"], flow_run["state"]["message"]) == ("Completed", "run-4 wf 5"), done.stderr
    assert not (tmp_path / ".prefect").exists()
