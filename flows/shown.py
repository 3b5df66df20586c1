"""Runs as Prefect's pages show them: read from rows and journals for the mirror."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import structlog

from interlace.engine.document import Body, Document
from interlace.engine.errors import InterlaceError
from interlace.engine.events import Event
from interlace.flows.platform import Platform
from interlace.flows.prefect.records import LogLine, Mark, NodeRecord, RunRecord
from interlace.flows.request import POOL
from interlace.store.run_row import FINAL, Run
from interlace.store.state import NodeRecord as Node
from interlace.store.state import RunState

_HAND_OVER_SECONDS = 30.0
_NODES = 1000
"""Nodes of a run shown in Prefect's graph; runs with more are shown without the rest."""
_LOGGED = {"node.log": 20, "node.retrying": 30, "node.failed": 40, "node.unknown": 40}

log = structlog.get_logger("interlace.prefect")


class ShownRuns:
    """Implements the mirror's `RunSource` on a platform."""

    def __init__(self, platform: Platform, *, nodes: bool | Sequence[str], logs: bool) -> None:
        self._platform = platform
        self._nodes = nodes
        self._logs = logs

    async def pending(self, limit: int) -> list[RunRecord]:
        """Runs whose present status Prefect does not know, the oldest first."""
        runs = self._platform.store.runs
        found: list[Run] = []
        after = ""
        # The pool's runs are among them until the pool has shown them: however many, the others come through.
        while len(found) < limit and (page := await runs.to_mirror(limit, after=after)):
            after = page[-1].id
            now = self._platform.runner.clock.now()
            found += [run for run in page if not is_hosted(run, now)]
            live = [
                run
                for run in page
                if run.flow_run_id is not None and run.status not in FINAL and is_hosted(run, now)
            ]
            await runs.mirrored((run.id, run.status, None) for run in live)
        return [await self._shown(run) for run in found[:limit]]

    async def recorded(self, marks: Sequence[Mark]) -> None:
        """Remember what Prefect was told."""
        await self._platform.store.runs.mirrored(
            (mark.run_id, mark.state, mark.flow_run_id) for mark in marks
        )

    async def _shown(self, run: Run) -> RunRecord:
        try:
            return await self._record(run, nodes=self._nodes, logs=self._logs)
        except InterlaceError as error:
            # One that cannot be read must not keep the others out.
            log.warning("a run is shown in Prefect without its nodes", run=run.id, error=str(error))
            return await self._record(run, nodes=False, logs=False)

    async def _record(self, run: Run, *, nodes: bool | Sequence[str], logs: bool) -> RunRecord:
        store, documents = self._platform.store, self._platform.documents
        records: list[NodeRecord] = []
        lines: list[LogLine] = []
        if nodes:
            state = await store.events.fold(run.id)
            document = await documents.read(run.document_hash)
            records = [node for node in _records(document, state) if nodes is True or node.kind in nodes][
                :_NODES
            ]
        if logs:
            lines = await self._lines(run.id)
        started = run.started_at if run.started_at is not None else run.created_at
        return RunRecord(
            run_id=run.id,
            workflow_id=deployment_of(run),
            workflow_name=run.name,
            state=run.status,  # type: ignore[arg-type]
            started_at=_moment(started),
            finished_at=None if run.finished_at is None else _moment(run.finished_at),
            parameters=run.inputs,
            tags=("interlace", *run.tags),
            message=(run.error or {}).get("message"),
            nodes=records,
            logs=lines,
            flow_run_id=run.flow_run_id,
        )

    async def _lines(self, run_id: str) -> list[LogLine]:
        found: list[LogLine] = []
        last = 0
        while batch := await self._platform.store.events.read(run_id, last):
            last = batch[-1].seq
            found.extend(_line(event) for event in batch if event.type in _LOGGED)
        return found


def deployment_of(run: Run) -> str:
    """The name of the deployment that shows a run; documents that are not stored share one by name."""
    return run.workflow_id or f"file:{run.name}"


def is_hosted(run: Run, now: float) -> bool:
    """Whether Prefect's pool runs and shows a run; one that the pool was not given in time is shown as any other."""
    if run.trigger.get("via") != POOL["via"]:
        return False
    return run.flow_run_id is not None or now - run.created_at < _HAND_OVER_SECONDS


def _line(event: Event) -> LogLine:
    error = event.data.get("error")
    text = event.data.get("message") or (error.get("message") if isinstance(error, dict) else "")
    message = f"{event.path} {event.type.removeprefix('node.')}: {text}"
    return LogLine(at=_moment(event.at), message=message, level=_LOGGED[event.type], path=event.path)


def _records(document: Document, state: RunState) -> Iterator[NodeRecord]:
    specs = {spec.id: spec for spec, _ in document.walk()}
    sources = dict(_sources(document))
    for path, node in state.nodes.items():
        prefix, _, name = path.rpartition(".")
        spec = specs.get(name)
        if spec is None or node.status == "pending":
            continue
        start = f"{prefix}." if prefix else ""
        upstream = tuple(
            f"{start}{source}"
            for source, handle in sources.get(name, ())
            if _taken(state.nodes.get(f"{start}{source}"), handle)
        )
        yield NodeRecord(
            path=path,
            name=spec.label or path,
            kind=spec.type,
            state=node.status,
            started_at=None if node.started_at is None else _moment(node.started_at),
            finished_at=None if node.ended_at is None else _moment(node.ended_at),
            upstream=upstream,
            message=node.reason or (node.error or {}).get("message"),
        )


def _sources(container: Document | Body) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for edge in container.edges:
        found.setdefault(edge.to, []).append((edge.from_, edge.handle))
    yield from found.items()
    for node in container.nodes:
        if node.body is not None:
            yield from _sources(node.body)


def _taken(node: Node | None, handle: str) -> bool:
    return (
        node is not None
        and handle in (node.handles or ("out",))
        and node.status not in ("skipped", "pending")
    )


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
