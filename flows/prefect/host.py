"""Our Prefect worker: registers a work pool of type `interlace` and runs its flow runs inside this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import platform
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2

from interlace.flows.prefect.connection import PrefectApi, PrefectConnection, PrefectError, PrefectRefused
from interlace.flows.prefect.deployments import Deployments
from interlace.flows.prefect.outcome import Outcome, Runs, state_of
from interlace.flows.prefect.pickup import Pickup
from interlace.flows.prefect.records import parameters_of, run_name

_LOG = logging.getLogger(__name__)
_PAGE = 200


class Host:
    """Runs the flow runs of a work pool in this process. Used from one loop, the engine's, which is never blocked.

    Args:
        connection: the Prefect to serve; it need not answer yet.
        pool_name: the work pool; made when missing.
        runs: the engine and its leases.
        name: this host's name among Prefect's workers; machine and process by default.
        limit: how many runs at most at once.
        poll_seconds: how often the pool is looked through beside listening to Prefect's events.
    """

    def __init__(
        self,
        connection: PrefectConnection,
        pool_name: str,
        runs: Runs,
        *,
        name: str | None = None,
        limit: int = 50,
        poll_seconds: float = 10.0,
    ) -> None:
        self.name = name or f"{platform.node() or 'host'}-{os.getpid()}"
        self.pool = pool_name
        self._connection = connection
        self._runs = runs
        self._limit = limit
        self._poll_seconds = poll_seconds
        self._api = PrefectApi(connection)
        self._deployments = Deployments(self._api, pool_name)
        self._pickup: Pickup | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def active(self) -> frozenset[str]:
        """The flow runs that run here now."""
        return self._pickup.active if self._pickup is not None else frozenset()

    async def start(self) -> None:
        """Serve from now on; returns at once, see `ready`."""
        if self._thread is not None:
            return
        self._pickup = Pickup(
            self._connection,
            self.pool,
            self._runs,
            name=self.name,
            limit=self._limit,
            poll_seconds=self._poll_seconds,
        )
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=_serve, args=(loop, self._pickup), name="prefect-host", daemon=True
        )
        self._thread.start()

    async def ready(self, seconds: float = 30.0) -> None:
        """Wait until it hears Prefect's events.

        Raises:
            PrefectError: it does not within that time, and goes on trying; or it cannot run at all.
        """
        assert self._pickup is not None, "await start() first"
        try:
            async with asyncio.timeout(seconds):
                await self._pickup.listening.wait()
        except TimeoutError as late:
            raise PrefectError(
                f"The host does not hear Prefect at {self._connection.api_url!r} yet."
            ) from late
        if self._pickup.failure is not None:
            raise PrefectError(f"The Prefect host ended: {self._pickup.failure}") from self._pickup.failure

    async def stop(self, grace: float = 10.0) -> None:
        """Stop serving: runs in hand have `grace` seconds, then they are handed back to be taken up again."""
        thread, self._thread = self._thread, None
        if thread is not None and self._pickup is not None and self._loop is not None:
            with contextlib.suppress(RuntimeError):
                await asyncio.wrap_future(
                    asyncio.run_coroutine_threadsafe(self._pickup.drain(grace), self._loop)
                )
            await asyncio.to_thread(thread.join)
        await self._api.close()

    async def ensure_deployment(
        self,
        workflow_id: str,
        name: str,
        parameter_schema: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
    ) -> str:
        """Write a workflow's deployment as it should be now; its id. What was written so before is not written again."""
        return (await self._deployments.written(workflow_id, name, parameter_schema, tags)).id

    async def submit(
        self,
        workflow_id: str,
        run_id: str,
        parameters: Mapping[str, Any],
        tags: Sequence[str] = (),
        scheduled_for: datetime | None = None,
    ) -> str:
        """Make a flow run of a run, to be started now or at a time; its id. The same run gives the same flow run.

        Raises:
            PrefectRefused: the workflow has no deployment (HTTP 404), or Prefect refused the run.
            PrefectUnavailable: Prefect does not answer.
        """
        try:
            made = await self._create(workflow_id, run_id, parameters, tags, scheduled_for)
        except PrefectRefused as refusal:
            if refusal.status != httpx2.codes.NOT_FOUND:
                raise
            # Another database behind the same address: what was written there before is gone.
            await self._deployments.write_again(workflow_id)
            made = await self._create(workflow_id, run_id, parameters, tags, scheduled_for)
        if self._pickup is not None and scheduled_for is None:
            self._pickup.poke(UUID(made))
        return made

    async def submit_all(
        self, workflow_id: str, runs: Sequence[tuple[str, Mapping[str, Any], Sequence[str]]]
    ) -> dict[str, str]:
        """Make flow runs of runs (id, parameters, tags), to be started now; their ids by run.

        Raises:
            PrefectRefused: the workflow has no deployment (HTTP 404), or Prefect refused one.
            PrefectUnavailable: Prefect does not answer.
        """
        try:
            return await self._create_all(workflow_id, runs)
        except PrefectRefused as refusal:
            if refusal.status != httpx2.codes.NOT_FOUND:
                raise
            await self._deployments.write_again(workflow_id)
            return await self._create_all(workflow_id, runs)

    async def _create_all(
        self, workflow_id: str, runs: Sequence[tuple[str, Mapping[str, Any], Sequence[str]]]
    ) -> dict[str, str]:
        deployment = await self._deployments.lookup(workflow_id)
        bodies = [
            {
                "name": run_name(deployment.workflow_name, run_id),
                "parameters": parameters_of(run_id, workflow_id, parameters),
                "enforce_parameter_schema": False,
                "tags": ["interlace", *tags],
                "idempotency_key": run_id,
                "state": {"type": "SCHEDULED", "name": "Scheduled"},
            }
            for run_id, parameters, tags in runs
        ]
        answer = await self._api.post(f"/deployments/{deployment.id}/create_flow_run/bulk", bodies)
        made = {
            run_id: str(result["flow_run_id"])
            for (run_id, _, _), result in zip(runs, answer["results"], strict=True)
            if result["status"] == "CREATED"
        }
        if self._pickup is not None:
            for flow_run_id in made.values():
                self._pickup.poke(UUID(flow_run_id))
        return made

    async def resume(self, flow_run_id: str) -> bool:
        """Let a suspended flow run go on; False if it is not suspended."""
        answer = await self._api.post(f"/flow_runs/{flow_run_id}/resume", {})
        accepted = bool(answer["status"] == "ACCEPT")
        if accepted and self._pickup is not None:
            self._pickup.poke(UUID(flow_run_id), again=True)
        return accepted

    async def cancel(self, flow_run_id: str) -> None:
        """Cancel a flow run from our side: the host that runs it cancels the run, one that waits ends at once."""
        state = {"type": "CANCELLING", "name": "Cancelling"}
        await self._api.post(f"/flow_runs/{flow_run_id}/set_state", {"state": state})

    async def settle(self, flow_run_id: str, outcome: Outcome) -> None:
        """Make Prefect show how a run stands, whatever it shows now: for a reconciler that trusts the journal."""
        await self._api.post(
            f"/flow_runs/{flow_run_id}/set_state", {"state": state_of(outcome), "force": True}
        )

    async def sweep(self) -> list[str]:
        """Set right what Prefect shows at work and no living host has any more; the ids of these flow runs.

        What was Running or Pending is scheduled again (AwaitingRetry), what was being cancelled is Cancelled, and a run
        that has ended is shown so.
        """
        moved: list[str] = []
        for flow_run in await self._unfinished():
            flow_run_id, run_id = flow_run["id"], flow_run["parameters"].get("run_id")
            if flow_run_id in self.active or run_id is None:
                continue
            stands = await self._runs.standing(run_id)
            if stands is None:
                continue
            if stands.state in ("interrupted", "suspended") and flow_run["state_type"] == "CANCELLING":
                await self._runs.cancel(run_id)
                stands = Outcome(state="cancelled")
            await self._set_right(flow_run_id, run_id, stands)
            moved.append(flow_run_id)
        return moved

    async def _set_right(self, flow_run_id: str, run_id: str, stands: Outcome) -> None:
        """Show how a run stands; what became of it meanwhile may have been shown before, and is shown again."""
        await self.settle(flow_run_id, stands)
        if stands.state == "interrupted":
            now = await self._runs.standing(run_id)
            if now is not None and now.state != "interrupted":
                await self.settle(flow_run_id, now)
        elif stands.state == "suspended" and await self._runs.parked(flow_run_id, run_id):
            await self.resume(flow_run_id)

    async def _unfinished(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            page = await self._api.post(
                "/flow_runs/filter",
                {
                    "flow_runs": {"state": {"type": {"any_": ["PENDING", "RUNNING", "CANCELLING"]}}},
                    "work_pools": {"name": {"any_": [self.pool]}},
                    "limit": _PAGE,
                    "offset": len(found),
                    "sort": "ID_DESC",
                },
            )
            found += page
            if len(page) < _PAGE:
                return found

    async def _create(
        self,
        workflow_id: str,
        run_id: str,
        parameters: Mapping[str, Any],
        tags: Sequence[str],
        scheduled_for: datetime | None,
    ) -> str:
        deployment = await self._deployments.lookup(workflow_id)
        state: dict[str, Any] = {"type": "SCHEDULED", "name": "Scheduled"}
        if scheduled_for is not None:
            state["state_details"] = {"scheduled_time": scheduled_for.isoformat()}
        made = await self._api.post(
            f"/deployments/{deployment.id}/create_flow_run",
            {
                "name": run_name(deployment.workflow_name, run_id),
                "parameters": parameters_of(run_id, workflow_id, parameters),
                "enforce_parameter_schema": False,
                "tags": ["interlace", *tags],
                "idempotency_key": run_id,
                "state": state,
            },
        )
        return str(made["id"])


def _serve(loop: asyncio.AbstractEventLoop, pickup: Pickup) -> None:
    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(pickup.serve())
    except asyncio.CancelledError:
        pass
    except Exception as error:  # noqa: BLE001 - a thread's boundary: its end must not pass unseen
        _LOG.exception("The Prefect host ended.")
        pickup.fail(error)
