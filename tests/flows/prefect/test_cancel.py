"""Runs that are called off, and runs whose host is gone: both sides end up saying the same."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from interlace.flows.prefect import (
    Host,
    Outcome,
    PrefectApi,
    PrefectConnection,
    PrefectError,
)

Body = Callable[[str, Mapping[str, Any]], Awaitable[Outcome]]


def fresh() -> str:
    return f"run_{uuid4().hex}"


@pytest.mark.parametrize("side", ["prefect", "ours"])
async def test_cancelled_within_a_second(
    host: Host, engine: Any, api: PrefectApi, state_of: Any, side: str
) -> None:
    engine.body = engine.until_cancelled
    key = await host.submit("wf", fresh(), {})
    await state_of(api, key, "Running")
    start = time.monotonic()
    if side == "ours":
        await host.cancel(key)
    else:
        state = {"type": "CANCELLING", "name": "Cancelling"}
        await api.post(f"/flow_runs/{key}/set_state", {"state": state})
    flow_run = await state_of(api, key, "Cancelled")
    assert time.monotonic() - start < 3.0
    assert flow_run["state"]["message"] == "on request"


async def test_a_run_that_is_over_in_the_engine_moves_prefect_too(
    host: Host, engine: Any, api: PrefectApi, state_of: Any
) -> None:
    engine.body = engine.until_cancelled
    run_id = fresh()
    key = await host.submit("wf", run_id, {})
    await state_of(api, key, "Running")
    await engine.cancel(run_id)
    await state_of(api, key, "Cancelled")


async def test_what_ends_while_it_is_being_cancelled_shows_its_own_end(
    host: Host, engine: Any, api: PrefectApi, state_of: Any
) -> None:
    async def body(run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        await engine.event(run_id).wait()
        return Outcome(state="succeeded", message="just in time")

    engine.body = body
    key = await host.submit("wf", fresh(), {})
    await state_of(api, key, "Running")
    await host.cancel(key)
    flow_run = await state_of(api, key, "Completed")
    assert flow_run["state"]["message"] == "just in time"


async def test_a_suspended_run_is_cancelled_from_prefect(
    host: Host, engine: Any, api: PrefectApi, state_of: Any
) -> None:
    async def body(run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        return Outcome(state="suspended")

    engine.body = body
    run_id = fresh()
    key = await host.submit("wf", run_id, {})
    await state_of(api, key, "Suspended")
    await host.cancel(key)
    await state_of(api, key, "Cancelled")
    await asyncio.wait_for(engine.event(run_id).wait(), 10)
    assert run_id in engine.over


async def test_the_sweep_hands_runs_of_dead_hosts_back(
    host: Host, engine: Any, api: PrefectApi, state_of: Any
) -> None:
    deployment = await host.ensure_deployment("wf", "Orders")
    dead, living, calling = fresh(), fresh(), fresh()
    engine.leases.add(living)
    keys = {}
    for run_id, state in ((dead, "RUNNING"), (living, "RUNNING"), (calling, "CANCELLING")):
        body = {
            "parameters": {"run_id": run_id, "workflow_id": "wf"},
            "state": {"type": "RUNNING", "name": "Running"},
            "enforce_parameter_schema": False,
        }
        keys[run_id] = (await api.post(f"/deployments/{deployment}/create_flow_run", body))["id"]
        if state == "CANCELLING":
            engine.leases.add(run_id)
            moved = {"state": {"type": state, "name": "Cancelling"}, "force": True}
            await api.post(f"/flow_runs/{keys[run_id]}/set_state", moved)
            engine.leases.discard(run_id)
    await host.sweep()
    await state_of(api, keys[dead], "Completed")
    await state_of(api, keys[calling], "Cancelled")
    assert (await api.get(f"/flow_runs/{keys[living]}"))["state_name"] == "Running"
    assert engine.started == [dead]


async def test_the_sweep_shows_the_end_of_a_run_that_it_meets_too_late(
    host: Host, engine: Any, api: PrefectApi, state_of: Any
) -> None:
    deployment = await host.ensure_deployment("wf", "Orders")
    before, meanwhile = fresh(), fresh()
    engine.over.add(before)
    engine.ended[before] = Outcome(state="failed", message="it failed")
    engine.ends_meanwhile[meanwhile] = Outcome(state="succeeded")
    keys = {}
    for run_id in (before, meanwhile):
        body = {
            "parameters": {"run_id": run_id, "workflow_id": "wf"},
            "state": {"type": "RUNNING", "name": "Running"},
            "enforce_parameter_schema": False,
        }
        keys[run_id] = (await api.post(f"/deployments/{deployment}/create_flow_run", body))["id"]
    assert set(await host.sweep()) == set(keys.values())
    await state_of(api, keys[before], "Failed")
    await state_of(api, keys[meanwhile], "Completed")
    assert engine.started == []


async def test_a_host_that_stops_hands_its_runs_back(
    connection: PrefectConnection, engine: Any, api: PrefectApi, state_of: Any
) -> None:
    forever = asyncio.Event()

    async def body(run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        await forever.wait()
        return Outcome(state="succeeded")

    engine.body = body
    first = Host(connection, f"pool-{uuid4().hex[:8]}", engine, poll_seconds=2)
    await first.start()
    await first.ready()
    await first.ensure_deployment("wf", "Orders")
    run_id = fresh()
    key = await first.submit("wf", run_id, {})
    await state_of(api, key, "Running")
    await first.stop(grace=0)
    assert (await api.get(f"/flow_runs/{key}"))["state_name"] == "AwaitingRetry"
    assert engine.running == 0
    forever.set()
    second = Host(connection, first.pool, engine, poll_seconds=2)
    await second.start()
    await state_of(api, key, "Completed")
    await second.stop()
    assert engine.started == [run_id, run_id]


async def test_a_host_that_stops_before_it_began(connection: PrefectConnection, engine: Any) -> None:
    host = Host(connection, f"pool-{uuid4().hex[:8]}", engine)
    await host.start()
    await asyncio.wait_for(host.stop(), 30)
    assert host.active == frozenset()


async def test_a_host_without_prefect_goes_on_trying(tmp_path: Path, engine: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/api"
    host = Host(PrefectConnection(api_url=url, home=tmp_path), "pool", engine)
    await host.start()
    with pytest.raises(PrefectError, match="does not hear Prefect at"):
        await host.ready(0.2)
    await asyncio.wait_for(host.stop(), 30)
