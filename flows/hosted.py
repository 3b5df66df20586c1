"""The runs of the work pool, as Prefect's host drives them: claimed by our lease, executed by the runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.errors import InterlaceError, StoreError
from interlace.flows.platform import Platform
from interlace.flows.prefect.outcome import Outcome
from interlace.flows.request import POOL, Request
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL


class HostedRuns:
    """Implements the host's `Runs` on a platform."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._epochs: dict[str, int] = {}

    async def adopt(self, flow_run_id: str, workflow_id: str, inputs: Mapping[str, Any]) -> str | None:
        """Make the run of a flow run that somebody started in Prefect; None where the workflow or inputs are refused."""
        try:
            owner = await self._platform.store.workflows.owner(workflow_id)
            pinned = await self._platform.documents.stored(workflow_id, owner=owner)
            request = Request(
                inputs=inputs, trigger={"kind": "prefect", "flow_run_id": flow_run_id, **POOL},
                environment=self._platform.settings.environment, idempotency_key=f"prefect:{flow_run_id}",
                owner=owner,
            )  # fmt: skip
            run_id, _ = await self._platform.runner.create(pinned, request)
        except StoreError as error:
            if error.breaks_run:
                raise  # the database is away: another look finds the flow run again
            return None
        except InterlaceError:
            return None
        await self._platform.store.runs.mirrored([(run_id, "", flow_run_id)])
        return run_id

    async def claim(self, flow_run_id: str, run_id: str) -> bool:
        """Take the run's lease."""
        try:
            run = await self._platform.store.runs.get(run_id)
        except NotFoundError:
            return False
        epoch = await self._platform.runner.admission.claim(run)
        if epoch is not None:
            self._epochs[run_id] = epoch
            if run.flow_run_id != flow_run_id:
                await self._platform.store.runs.linked([(run_id, flow_run_id)])
        return epoch is not None

    async def release(self, flow_run_id: str, run_id: str) -> None:
        """Give the lease back."""
        del flow_run_id
        epoch = self._epochs.pop(run_id, None)
        if epoch is not None:
            await self._platform.store.runs.release(run_id, epoch)

    async def execute(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        """Run a claimed run to its end."""
        del inputs
        store, runner = self._platform.store, self._platform.runner
        run = await store.runs.get(run_id)
        if not await runner.resume(run, epoch=self._epochs.pop(run_id, None)):
            return Outcome(state="interrupted", message="another process owns the run")
        result = await runner.turn(run_id)
        if result.status in ("queued", "running"):
            return Outcome(state="interrupted")
        message = (result.error or {}).get("message")
        return Outcome(state=result.status, message=message)  # type: ignore[arg-type]

    async def shown(self, run_id: str, outcome: Outcome) -> None:
        """Hear that Prefect shows how the run stands: not before, it may be away, or have forgotten the run."""
        await self._platform.store.runs.mirrored([(run_id, outcome.state, None)])

    async def parked(self, flow_run_id: str, run_id: str) -> bool:
        """Hear that Prefect shows the run as suspended; True if it can go on already."""
        del flow_run_id
        store = self._platform.store
        if (await store.runs.get(run_id)).status != "suspended":
            return True
        return await store.waits.has_ended(run_id)

    async def cancel(self, run_id: str) -> None:
        """Cancel the run, wherever it is."""
        try:
            await self._platform.runner.cancel(run_id, "cancelled in Prefect")
        except NotFoundError:
            return

    async def is_alive(self, run_id: str) -> bool:
        """Whether somebody holds the run's lease; one that is not the pool's is nobody's here to hand back."""
        try:
            run = await self._platform.store.runs.get(run_id)
        except NotFoundError:
            return False
        if run.status in FINAL or run.trigger.get("via") != POOL["via"]:
            return run.status not in FINAL
        return await self._platform.store.runs.is_held(run_id)

    async def standing(self, run_id: str) -> Outcome | None:
        """How a run stands that Prefect shows at work."""
        if await self.is_alive(run_id):
            return None
        try:
            run = await self._platform.store.runs.get(run_id)
        except NotFoundError:
            return None  # of another installation, maybe, that shares the pool
        if run.status in FINAL or run.status == "suspended":
            return Outcome(state=run.status, message=(run.error or {}).get("message"))  # type: ignore[arg-type]
        return Outcome(state="interrupted", message="Its host is gone.")
