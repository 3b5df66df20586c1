"""The host's own thread: hears of flow runs that are due, claims them, runs them in its loop, settles their end.

It is not the main thread, for a flow in the main thread takes over the process's SIGTERM. The engine runs on the
loop of whoever started the host; the two are bridged call by call.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote
from uuid import UUID

from interlace.flows.prefect import internals
from interlace.flows.prefect.connection import PrefectApi, PrefectConnection, PrefectError
from interlace.flows.prefect.deployments import Deployments
from interlace.flows.prefect.outcome import Outcome, Runs
from interlace.flows.prefect.settlement import Settlement

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun, State

_LOG = logging.getLogger(__name__)
_DUE = ("prefect.flow-run.Scheduled", "prefect.flow-run.Resuming", "prefect.flow-run.AwaitingRetry")
_OFF = ("prefect.flow-run.Cancelling", "prefect.flow-run.Cancelled")
_HEARTBEAT_SECONDS = 30
_POLL_LIMIT = 200
_HAND_BACK_SECONDS = 10.0
_SOON = timedelta(milliseconds=20)
_LONGEST_PAUSE_SECONDS = 15.0

_T = TypeVar("_T")


@dataclass(slots=True)
class _Turn:
    """A flow run that this host has in hand; `run_id` once it is claimed, `outcome` once the engine is done."""

    task: asyncio.Task[None] | None = None
    run_id: str | None = None
    outcome: Outcome | None = None
    again: bool = False


class Pickup:
    """Takes up the flow runs of one work pool. Made on the caller's loop, served on the thread's.

    Args:
        connection: the Prefect to serve.
        pool: the work pool's name.
        runs: the engine.
        name: this host's name among Prefect's workers.
        limit: how many runs at most at once.
        poll_seconds: how often the pool is looked through beside listening.
    """

    def __init__(
        self,
        connection: PrefectConnection,
        pool: str,
        runs: Runs,
        *,
        name: str,
        limit: int,
        poll_seconds: float,
    ) -> None:
        self.name = name
        self.listening = asyncio.Event()
        self.failure: Exception | None = None
        self._connection = connection
        self._pool = pool
        self._runs = runs
        self._poll_seconds = poll_seconds
        self._caller = asyncio.get_running_loop()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._serving: asyncio.Task[Any] | None = None
        self._limit = limit
        self._turns: dict[UUID, _Turn] = {}
        self._timers: dict[UUID, asyncio.TimerHandle] = {}
        self._stopping = False
        self._full = False

    @property
    def active(self) -> frozenset[str]:
        """The flow runs in hand, by id; readable from any thread."""
        return frozenset(str(key) for key, turn in list(self._turns.items()) if turn.run_id is not None)

    async def serve(self) -> None:
        """Serve until cancelled."""
        if self._stopping:
            return
        self._serving = asyncio.current_task()
        self._slots = asyncio.Semaphore(self._limit)
        self._look = asyncio.Event()
        self._leave = asyncio.Event()
        internals.prepare_client(self._connection)
        with internals.client_settings(self._connection):
            async with PrefectApi(self._connection) as self._api, internals.one_client() as self._client:
                self._context = contextvars.copy_context()
                self._settlement = Settlement(self._api, self._shown)
                self._loop = asyncio.get_running_loop()
                pool_id = await self._pool_id()
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._beat())
                    group.create_task(self._listen(pool_id))
                    group.create_task(self._poll())

    def fail(self, error: Exception) -> None:
        """Say, from the thread, that it ended with an error."""
        self.failure = error
        with contextlib.suppress(RuntimeError):
            self._caller.call_soon_threadsafe(self.listening.set)

    def poke(self, flow_run_id: UUID, *, again: bool = False) -> None:
        """Say, from any thread, that a flow run is due (`again`, if it was taken up before): events come later."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._consider, flow_run_id, again)

    async def drain(self, seconds: float) -> None:
        """Take up nothing more, wait for the runs in hand, hand back what is left, and end `serve`."""
        self._stopping = True
        for timer in self._timers.values():
            timer.cancel()
        tasks = [turn.task for turn in self._turns.values() if turn.task is not None]
        for turn in self._turns.values():
            if turn.run_id is None and turn.task is not None:
                turn.task.cancel()
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=seconds)
            self._leave.set()
            if left:
                await asyncio.wait(left, timeout=_HAND_BACK_SECONDS)
        if self._serving is not None:
            # Once, and this task alone: whoever is cancelled twice does not close its connection.
            self._serving.cancel()

    async def _pool_id(self) -> str:
        pause = 0.5
        while True:
            try:
                pool = await Deployments(self._api, self._pool).ensure_pool()
            except PrefectError as error:
                _LOG.info("The host waits for Prefect, again in %.1f s: %s", pause, error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            else:
                return str(pool["id"])

    async def _beat(self) -> None:
        path = f"/work_pools/{quote(self._pool)}/workers/heartbeat"
        while True:
            with contextlib.suppress(PrefectError):
                await self._api.post(
                    path, {"name": self.name, "heartbeat_interval_seconds": _HEARTBEAT_SECONDS}
                )
            await asyncio.sleep(_HEARTBEAT_SECONDS)

    async def _listen(self, pool_id: str) -> None:
        pause = 0.2
        while True:
            try:
                async with internals.flow_run_events(pool_id, [*_DUE, *_OFF]) as events:
                    # What happened while nobody listened is found by looking.
                    self._look.set()
                    self._caller.call_soon_threadsafe(self.listening.set)
                    pause = 0.2
                    async for event in events:
                        self._hear(event.event, event.resource.id.removeprefix("prefect.flow-run."))
            except Exception as error:  # noqa: BLE001 - a worker loop's boundary: whatever broke the stream, listen again
                _LOG.info("Prefect's events broke off, again in %.1f s: %r", pause, error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _hear(self, name: str, flow_run_id: str) -> None:
        if name in _DUE:
            self._consider(UUID(flow_run_id), again=name != _DUE[0])
        else:
            self._spawn(self._called_off(UUID(flow_run_id), over=name == _OFF[1]))

    async def _poll(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._look.wait()
            self._look.clear()
            try:
                await self._settlement.go_on()
                await self._look_through()
            except PrefectError as error:
                _LOG.info("The work pool cannot be looked through now: %s", error)

    async def _look_through(self) -> None:
        before = datetime.now(UTC) + timedelta(seconds=self._poll_seconds + 5)
        due = await self._api.post(
            f"/work_pools/{quote(self._pool)}/get_scheduled_flow_runs",
            {"scheduled_before": before.isoformat(), "limit": _POLL_LIMIT},
        )
        self._full = len(due) == _POLL_LIMIT
        for entry in due:
            self._consider(UUID(entry["flow_run"]["id"]))
        called_off = await self._api.post(
            "/flow_runs/filter",
            {
                "flow_runs": {"state": {"type": {"any_": ["CANCELLING"]}}},
                "work_pools": {"name": {"any_": [self._pool]}},
                "limit": _POLL_LIMIT,
            },
        )
        for flow_run in called_off:
            self._spawn(self._called_off(UUID(flow_run["id"]), over=False))

    def _consider(self, flow_run_id: UUID, again: bool = False) -> None:
        if self._stopping:
            return
        turn = self._turns.get(flow_run_id)
        if turn is not None:
            turn.again = turn.again or (again and turn.run_id is not None)
            return
        turn = self._turns[flow_run_id] = _Turn()
        turn.task = self._spawn(self._take(flow_run_id, turn))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # Of its own context: a poke comes with the caller's, where Prefect's settings are not ours.
        task = asyncio.get_running_loop().create_task(work, context=self._context.copy())
        task.add_done_callback(_report)
        return task

    async def _take(self, flow_run_id: UUID, turn: _Turn) -> None:
        try:
            async with self._slots:
                await self._take_up(flow_run_id, turn)
        finally:
            del self._turns[flow_run_id]
            if turn.again:
                self._consider(flow_run_id)
            elif self._full and len(self._turns) < self._limit:
                self._full = False
                self._look.set()

    async def _take_up(self, flow_run_id: UUID, turn: _Turn) -> None:
        flow_run = await internals.read_flow_run(self._client, flow_run_id)
        if flow_run is None or flow_run.state is None or not flow_run.state.is_scheduled():
            return
        if self._later(flow_run):
            return
        run_id = await self._run_id(flow_run)
        if run_id is None or not await self._ask(self._runs.claim(str(flow_run_id), run_id)):
            return
        turn.run_id = run_id
        pending = None
        try:
            pending = await internals.propose_pending(self._client, flow_run_id)
        finally:
            if pending is None:
                await self._ask(self._runs.release(str(flow_run_id), run_id))
        if pending is None:
            return
        flow_run.state = pending
        state = await self._run(flow_run, turn)
        await self._settle(flow_run_id, turn, state)

    def _later(self, flow_run: FlowRun) -> bool:
        """Whether a run is not due yet; then it is looked at again when it is."""
        due = flow_run.next_scheduled_start_time or flow_run.expected_start_time
        wait = (due - datetime.now(UTC)) if due is not None else timedelta(0)
        if wait <= _SOON:
            return False
        former = self._timers.pop(flow_run.id, None)
        if former is not None:
            former.cancel()
        if wait < timedelta(hours=1):
            self._timers[flow_run.id] = asyncio.get_running_loop().call_later(
                wait.total_seconds(), self._ring, flow_run.id
            )
        return True

    def _ring(self, flow_run_id: UUID) -> None:
        self._timers.pop(flow_run_id, None)
        self._consider(flow_run_id)

    async def _run_id(self, flow_run: FlowRun) -> str | None:
        """Give the run of a flow run; one that was started from Prefect's side gets its run here."""
        known = flow_run.parameters.get("run_id")
        if known:
            return str(known)
        workflow_id = flow_run.parameters.get("workflow_id")
        if not workflow_id:
            return None
        run_id = await self._ask(self._runs.adopt(str(flow_run.id), str(workflow_id), _inputs(flow_run)))
        if run_id is None:
            cancelled = {
                "type": "CANCELLED",
                "name": "Cancelled",
                "message": "Interlace refused to start this run.",
            }
            await self._api.post(f"/flow_runs/{flow_run.id}/set_state", {"state": cancelled, "force": True})
            return None
        flow_run.parameters["run_id"] = run_id
        await self._api.request("PATCH", f"/flow_runs/{flow_run.id}", {"parameters": flow_run.parameters})
        return run_id

    async def _run(self, flow_run: FlowRun, turn: _Turn) -> State[Any] | None:
        async def runner(run_id: str | None, _workflow_id: str | None, inputs: Mapping[str, Any]) -> Outcome:
            turn.outcome = await self._execute(str(run_id), inputs)
            return turn.outcome

        parameters = {"run_id": turn.run_id, "workflow_id": flow_run.parameters.get("workflow_id")}
        try:
            return await internals.run(flow_run, {**parameters, "inputs": _inputs(flow_run)}, runner)
        except Exception as error:  # noqa: BLE001 - Prefect's failure must not be the run's: it is executed and settled later
            _LOG.warning("Prefect failed around run %s: %r", turn.run_id, error)
            if turn.outcome is None:
                await runner(turn.run_id, None, _inputs(flow_run))
            return None

    async def _execute(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        """Let the engine run it on the caller's loop, unless the host has to leave first."""
        work = asyncio.ensure_future(self._ask(self._runs.execute(run_id, inputs)))
        leave = asyncio.ensure_future(self._leave.wait())
        try:
            await asyncio.wait((work, leave), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            return Outcome(state="interrupted", message=f"Host {self.name} stopped.")
        except Exception as error:  # noqa: BLE001 - the engine's boundary: what it did not turn into an outcome
            _LOG.exception("The engine broke at run %s.", run_id)
            return Outcome(state="failed", message=f"{type(error).__name__}: {error}")
        finally:
            leave.cancel()
            work.cancel()

    async def _settle(self, flow_run_id: UUID, turn: _Turn, state: State[Any] | None) -> None:
        """Make Prefect show the run's own end, where it does not yet."""
        assert turn.run_id is not None
        if turn.outcome is None:
            # Prefect ended it before its body: somebody called it off in that moment.
            await self._ask(self._runs.release(str(flow_run_id), turn.run_id))
            await self._called_off(flow_run_id, over=False, mine=True)
            return
        if state is None or state.is_cancelling() or state.is_running() or state.is_pending():
            await self._settlement.show(flow_run_id, turn.run_id, turn.outcome)
        elif turn.outcome.state != "interrupted":
            await self._ask(self._runs.shown(turn.run_id, turn.outcome))
        suspended = turn.outcome.state == "suspended"
        if suspended and await self._ask(self._runs.parked(str(flow_run_id), turn.run_id)):
            await self._settlement.resume(flow_run_id)
            turn.again = True

    async def _called_off(self, flow_run_id: UUID, *, over: bool, mine: bool = False) -> None:
        """Cancel the run of a flow run that Prefect shows as Cancelling, or already as Cancelled (`over`)."""
        turn = self._turns.get(flow_run_id)
        if turn is not None and turn.run_id is not None and not mine:
            if turn.outcome is None:
                await self._ask(self._runs.cancel(turn.run_id))
            return
        flow_run = await internals.read_flow_run(self._client, flow_run_id)
        if flow_run is None:
            return
        run_id = flow_run.parameters.get("run_id")
        state = flow_run.state
        if run_id is None or state is None or not (state.is_cancelled() if over else state.is_cancelling()):
            return
        # One that runs elsewhere is shown as cancelled by whoever runs it, once it is.
        elsewhere = not over and not mine and await self._ask(self._runs.is_alive(str(run_id)))
        await self._ask(self._runs.cancel(str(run_id)))
        if not over and not elsewhere:
            await self._settlement.show(flow_run_id, str(run_id), Outcome(state="cancelled"))

    async def _shown(self, run_id: str, outcome: Outcome) -> None:
        await self._ask(self._runs.shown(run_id, outcome))

    async def _ask(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Await something on the caller's loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._caller))


def _inputs(flow_run: FlowRun) -> dict[str, Any]:
    inputs = flow_run.parameters.get("inputs")
    return dict(inputs) if isinstance(inputs, Mapping) else {}


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.warning("A flow run could not be handled now; the next look finds it again: %r", error)
