"""The two ways a batch of runs is written to Prefect: our endpoint of the embedded server, or the public API."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

import httpx2

from interlace.flows.prefect.connection import PrefectApi, PrefectRefused
from interlace.flows.prefect.events import task_event
from interlace.flows.prefect.wire import LOGGER_NAME, SentRun, StateName

ENDPOINT = "/interlace/record"
_BULK = 100
_LINES = 500

_T = TypeVar("_T")


class Writer(Protocol):
    """Writes runs; the flow run of each, in the order given. Writing a run again changes nothing."""

    async def write(self, runs: Sequence[SentRun]) -> list[str]:
        """Write them all, or raise."""
        ...


async def writer_for(api: PrefectApi) -> Writer:
    """Choose the way: our endpoint where the server has it."""
    try:
        await api.post(ENDPOINT, {"runs": []})
    except PrefectRefused as refusal:
        if refusal.status not in {httpx2.codes.NOT_FOUND, httpx2.codes.METHOD_NOT_ALLOWED}:
            raise
        return PublicWriter(api)
    return EndpointWriter(api)


class EndpointWriter:
    """Writes through our endpoint: one request, one transaction, real times."""

    def __init__(self, api: PrefectApi) -> None:
        self._api = api

    async def write(self, runs: Sequence[SentRun]) -> list[str]:
        """Write all runs, or none."""
        answer = await self._api.post(ENDPOINT, {"runs": [_plain(run) for run in runs]})
        return [str(key) for key in answer["flow_run_ids"]]


class PublicWriter:
    """Writes through Prefect's public API, for a server that is not ours.

    That API stamps a flow run's states with the time of the request: the real times stand in the labels
    `interlace.started_at` and `interlace.finished_at`, in the task runs and in the log.
    """

    def __init__(self, api: PrefectApi) -> None:
        self._api = api

    async def write(self, runs: Sequence[SentRun]) -> list[str]:
        """Write the runs in bulk; a run that is there already is moved to its state."""
        placed: dict[str, str] = {}
        for deployment_id, group in itertools.groupby(
            sorted(runs, key=lambda run: run.deployment_id), key=lambda run: run.deployment_id
        ):
            for chunk in _chunks(list(group), _BULK):
                placed.update(await self._create(deployment_id, chunk))
        await self._states(runs, placed)
        events = [event for run in runs for event in _events(run, UUID(placed[run.run_id]))]
        for some in _chunks(events, _LINES):
            await self._api.post("/events", some)
        lines = [line for run in runs for line in _lines(run, placed[run.run_id])]
        for some in _chunks(lines, _LINES):
            await self._api.post("/logs/", some)
        return [placed[run.run_id] for run in runs]

    async def _create(self, deployment_id: UUID, runs: Sequence[SentRun]) -> dict[str, str]:
        answer = await self._api.post(
            f"/deployments/{deployment_id}/create_flow_run/bulk", [_created(run) for run in runs]
        )
        results = answer["results"]
        for run, result in zip(runs, results, strict=True):
            if result["status"] != "CREATED":
                raise PrefectRefused(
                    f"Prefect refused to record run {run.run_id!r}: {result.get('error')}",
                    status=httpx2.codes.UNPROCESSABLE_CONTENT,
                )
        return {run.run_id: result["flow_run_id"] for run, result in zip(runs, results, strict=True)}

    async def _states(self, runs: Sequence[SentRun], placed: dict[str, str]) -> None:
        """Move the runs that were recorded earlier, in another state, to their present one."""
        wanted = {placed[run.run_id]: run for run in runs}
        found = await self._api.post("/flow_runs/filter", {"flow_runs": {"id": {"any_": list(wanted)}}})
        for flow_run in found:
            run = wanted[flow_run["id"]]
            if flow_run["state_type"] != run.state_type:
                await self._api.post(
                    f"/flow_runs/{flow_run['id']}/set_state", {"state": _state(run), "force": True}
                )


def _plain(run: SentRun) -> dict[str, Any]:
    plain = dict(run)
    plain["nodes"] = [dict(node) for node in run.nodes]
    plain["logs"] = [dict(line) for line in run.logs]
    return plain


def _state(run: SentRun) -> dict[str, Any]:
    details = {"pause_reschedule": True} if run.state_type == "PAUSED" else {}
    return {"type": run.state_type, "name": run.state_name, "message": run.message, "state_details": details}


def _created(run: SentRun) -> dict[str, Any]:
    times = {"interlace.started_at": run.started_at.isoformat()}
    if run.finished_at is not None:
        times["interlace.finished_at"] = run.finished_at.isoformat()
    return {
        "name": run.name,
        "parameters": run.parameters,
        "enforce_parameter_schema": False,
        "tags": run.tags,
        "idempotency_key": run.run_id,
        "state": _state(run),
        "labels": {"interlace.recorded": True, **times},
    }


def _events(run: SentRun, flow_run_id: UUID) -> Iterator[dict[str, Any]]:
    for node in run.nodes:
        yield task_event(
            flow_run_id=flow_run_id,
            task_run_id=node.id,
            path=node.path,
            name=node.name,
            kind=node.kind,
            state=StateName(node.state_type, node.state_name),
            message=node.message,
            started_at=node.started_at,
            finished_at=node.finished_at,
            upstream=node.upstream,
            parents=node.parents,
            tags=["recorded", node.kind],
        )


def _lines(run: SentRun, flow_run_id: str) -> Iterator[dict[str, Any]]:
    for line in run.logs:
        yield {
            "name": LOGGER_NAME,
            "level": line.level,
            "message": line.message,
            "timestamp": line.at.isoformat(),
            "flow_run_id": flow_run_id,
            "task_run_id": str(line.task_run_id) if line.task_run_id else None,
        }


def _chunks(items: Sequence[_T], size: int) -> Iterable[Sequence[_T]]:
    return (items[at : at + size] for at in range(0, len(items), size))
