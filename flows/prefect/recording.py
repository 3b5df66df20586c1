"""The endpoint the embedded server has beside Prefect's own: it writes many ended runs in one transaction.

Prefect's API cannot be told when a run started and ended, takes one request for each of a run's states and about 60 ms
for each run. Here the rows are written as Prefect's orchestration would have left them: with the run's real times, its
nodes as task runs, its log; sending the same run again replaces what was written.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from prefect.server.database import PrefectDBInterface, provide_database_interface
from prefect.server.events.clients import PrefectServerEventsClient
from prefect.server.events.schemas.events import Event
from prefect.server.schemas.core import TaskRunResult
from prefect.server.schemas.states import StateDetails, StateType

from interlace.flows.prefect.wire import LOGGER_NAME, TERMINAL, Batch, SentNode, SentRun, Written

PATH = "/interlace/record"
_STEP = timedelta(microseconds=1)


class _Place(NamedTuple):
    """What a run's rows take from its deployment."""

    deployment_id: UUID
    deployment: str
    flow_id: UUID
    flow: str
    work_queue_id: UUID | None


class _Former(NamedTuple):
    """What was written about a run before."""

    flow_run_id: UUID
    state_id: UUID | None
    state_type: StateType | None
    since: datetime | None


class _Row(NamedTuple):
    """A run and where it goes; `since` is when its present state began, `former` what is there already."""

    run: SentRun
    place: _Place
    flow_run_id: UUID
    state_id: UUID
    since: datetime
    former: _Former | None


def mount(app: Any) -> None:
    """Add the endpoint to a Prefect server application."""
    app.api_app.post(PATH)(record)


async def record(batch: Batch) -> Written:
    """Write a batch of runs, all or nothing."""
    db = provide_database_interface()
    async with db.session_context(begin_transaction=True, with_for_update=True) as session:
        rows = await _placed(db, session, batch.runs)
        await _write_runs(db, session, rows)
        await _write_nodes(db, session, rows)
        await _write_logs(db, session, rows)
    await _announce(rows)
    return Written(flow_run_ids=[row.flow_run_id for row in rows])


async def _placed(db: PrefectDBInterface, session: Any, runs: list[SentRun]) -> list[_Row]:
    deployments, flows, table = db.Deployment.__table__, db.Flow.__table__, db.FlowRun.__table__
    found = await session.execute(
        deployments.join(flows, deployments.c.flow_id == flows.c.id)
        .select()
        .with_only_columns(
            deployments.c.id, deployments.c.name, flows.c.id, flows.c.name, deployments.c.work_queue_id
        )
        .where(deployments.c.id.in_({run.deployment_id for run in runs}))
    )
    places = {row[0]: _Place(*row) for row in found}
    missing = {str(run.deployment_id) for run in runs} - {str(place) for place in places}
    if missing:
        from prefect.server.exceptions import ObjectNotFoundError  # noqa: PLC0415

        raise ObjectNotFoundError(f"no deployments {sorted(missing)!r}")
    taken = await session.execute(
        table.select()
        .with_only_columns(
            table.c.flow_id,
            table.c.idempotency_key,
            table.c.id,
            table.c.state_id,
            table.c.state_type,
            table.c.state_timestamp,
        )
        .where(table.c.idempotency_key.in_([run.run_id for run in runs]))
    )
    present = {(flow_id, key): _Former(*former) for flow_id, key, *former in taken}
    return [_row(run, places[run.deployment_id], present) for run in runs]


def _row(run: SentRun, place: _Place, present: dict[tuple[UUID, str], _Former]) -> _Row:
    since = run.started_at
    if run.state_type != "RUNNING":
        # Never the start's own time, which is that of the first state.
        since = max(run.finished_at or run.started_at, run.started_at + _STEP)
    former = present.get((place.flow_id, run.run_id))
    if former is None:
        return _Row(run, place, run.id, uuid4(), since, None)
    if former.since is not None and former.state_id is not None and former.state_type == run.state_type:
        return _Row(run, place, former.flow_run_id, former.state_id, former.since, former)
    after = max(since, former.since + _STEP) if former.since is not None else since
    return _Row(run, place, former.flow_run_id, uuid4(), after, former)


async def _write_runs(db: PrefectDBInterface, session: Any, rows: list[_Row]) -> None:
    new = [row for row in rows if row.former is None]
    created = [{**_times(row), **_identity(row)} for row in new]
    moved = [row for row in rows if row.former is None or row.former.state_id != row.state_id]
    states = [_state(row, row.state_id, row.run.state_type, row.run.state_name, row.since) for row in moved]
    begun = [
        _state(row, uuid4(), "RUNNING", "Running", row.run.started_at)
        for row in new
        if row.run.state_type != "RUNNING"
    ]
    # The columns of a run and of its state name each other, so the run names its state when both are there.
    now = datetime.now(UTC)
    current = [
        {**_times(row), "id": row.flow_run_id, "state_id": row.state_id, "updated": now} for row in rows
    ]

    def write(sync: Any) -> None:
        sync.bulk_insert_mappings(db.FlowRun, created)
        sync.bulk_insert_mappings(db.FlowRunState, [*begun, *states])
        sync.bulk_update_mappings(db.FlowRun, current)

    await session.run_sync(write)


async def _write_nodes(db: PrefectDBInterface, session: Any, rows: list[_Row]) -> None:
    again = [row.flow_run_id for row in rows if row.former is not None and row.run.nodes]
    if again:
        table: Any = db.TaskRun.__table__
        await session.execute(table.delete().where(table.c.flow_run_id.in_(again)))
    runs: list[dict[str, Any]] = []
    states: list[dict[str, Any]] = []
    for row in rows:
        for node in row.run.nodes:
            state_id = uuid4()
            runs.append(_task_run(row.flow_run_id, node, state_id))
            states.append(_task_state(row.flow_run_id, node, state_id))

    def write(sync: Any) -> None:
        sync.bulk_insert_mappings(db.TaskRun, runs)
        sync.bulk_insert_mappings(db.TaskRunState, states)

    await session.run_sync(write)


async def _write_logs(db: PrefectDBInterface, session: Any, rows: list[_Row]) -> None:
    again = [row.flow_run_id for row in rows if row.former is not None and row.run.logs]
    if again:
        table: Any = db.Log.__table__
        await session.execute(
            table.delete().where(table.c.flow_run_id.in_(again), table.c.name == LOGGER_NAME)
        )
    lines = [
        {
            "id": uuid4(),
            "name": LOGGER_NAME,
            "level": line.level,
            "flow_run_id": row.flow_run_id,
            "task_run_id": line.task_run_id,
            "message": line.message,
            "timestamp": line.at,
        }
        for row in rows
        for line in row.run.logs
    ]
    await session.run_sync(lambda sync: sync.bulk_insert_mappings(db.Log, lines))


async def _announce(rows: list[_Row]) -> None:
    """Tell Prefect's automations and feeds about runs that ended."""
    ended = [
        row
        for row in rows
        if row.run.state_type in TERMINAL and (row.former is None or row.former.state_id != row.state_id)
    ]
    if not ended:
        return
    async with PrefectServerEventsClient() as events:
        for row in ended:
            await events.emit(_event(row))


def _identity(row: _Row) -> dict[str, Any]:
    return {
        "id": row.flow_run_id,
        "flow_id": row.place.flow_id,
        "deployment_id": row.place.deployment_id,
        "work_queue_id": row.place.work_queue_id,
        "work_queue_name": "default" if row.place.work_queue_id else None,
        "name": row.run.name,
        "parameters": row.run.parameters,
        "idempotency_key": row.run.run_id,
        "tags": row.run.tags,
        "labels": {
            "prefect.flow.id": str(row.place.flow_id),
            "prefect.deployment.id": str(row.place.deployment_id),
            "interlace.recorded": True,
        },
        "run_count": 1,
        "expected_start_time": row.run.started_at,
        "start_time": row.run.started_at,
    }


def _times(row: _Row) -> dict[str, Any]:
    run, since = row.run, row.since
    ended = run.state_type in TERMINAL
    return {
        "state_type": StateType(run.state_type),
        "state_name": run.state_name,
        "state_timestamp": since,
        "end_time": since if ended else None,
        "total_run_time": since - run.started_at if ended else timedelta(0),
    }


def _state(row: _Row, state_id: UUID, kind: str, name: str, at: datetime) -> dict[str, Any]:
    parked = kind == "PAUSED"
    return {
        "id": state_id,
        "flow_run_id": row.flow_run_id,
        "type": StateType(kind),
        "name": name,
        "timestamp": at,
        "message": None if kind == "RUNNING" else row.run.message,
        "state_details": StateDetails(flow_run_id=row.flow_run_id, pause_reschedule=parked),
    }


def _task_run(flow_run_id: UUID, node: SentNode, state_id: UUID) -> dict[str, Any]:
    inputs = {"upstream": [TaskRunResult(id=upstream) for upstream in node.upstream]}
    if node.parents:
        inputs["__parents__"] = [TaskRunResult(id=parent) for parent in node.parents]
    finished_at = node.finished_at
    return {
        "id": node.id,
        "flow_run_id": flow_run_id,
        "task_key": f"interlace.{node.kind}",
        "dynamic_key": node.path,
        "name": node.name,
        "tags": ["recorded", node.kind],
        "task_inputs": inputs,
        "run_count": 1,
        "flow_run_run_count": 1,
        "expected_start_time": node.started_at,
        "start_time": node.started_at,
        "end_time": finished_at,
        "total_run_time": finished_at - node.started_at if finished_at else timedelta(0),
        "state_id": state_id,
        "state_type": StateType(node.state_type),
        "state_name": node.state_name,
        "state_timestamp": finished_at or node.started_at,
    }


def _task_state(flow_run_id: UUID, node: SentNode, state_id: UUID) -> dict[str, Any]:
    return {
        "id": state_id,
        "task_run_id": node.id,
        "type": StateType(node.state_type),
        "name": node.state_name,
        "timestamp": node.finished_at or node.started_at,
        "message": node.message,
        "state_details": StateDetails(flow_run_id=flow_run_id, task_run_id=node.id),
    }


def _event(row: _Row) -> Event:
    run, place = row.run, row.place
    state = {"type": run.state_type, "name": run.state_name, "message": run.message}
    related = [
        (f"prefect.flow.{place.flow_id}", "flow", place.flow),
        (f"prefect.deployment.{place.deployment_id}", "deployment", place.deployment),
        *((f"prefect.tag.{tag}", "tag", tag) for tag in run.tags),
    ]
    return Event(
        id=row.state_id,
        occurred=row.since,
        event=f"prefect.flow-run.{run.state_name}",
        resource={
            "prefect.resource.id": f"prefect.flow-run.{row.flow_run_id}",
            "prefect.resource.name": run.name,
            "prefect.run-count": "1",
            "prefect.state-message": (run.message or "")[:1000],
            "prefect.state-name": run.state_name,
            "prefect.state-timestamp": row.since.isoformat(),
            "prefect.state-type": run.state_type,
        },
        related=[
            {"prefect.resource.id": key, "prefect.resource.role": role, "prefect.resource.name": name}
            for key, role, name in related
        ],
        payload={
            "intended": {"from": "RUNNING", "to": run.state_type},
            "initial_state": {"type": "RUNNING", "name": "Running", "message": None},
            "validated_state": state,
        },
    )
