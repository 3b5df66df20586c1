"""Nodes of running flow runs, shown live as task runs; for nodes that take long enough to be worth it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from interlace.flows.prefect.connection import (
    PrefectApi,
    PrefectConnection,
    PrefectRefused,
    PrefectUnavailable,
)
from interlace.flows.prefect.events import task_event
from interlace.flows.prefect.records import LogLine, NodeRecord, task_run_key
from interlace.flows.prefect.wire import LOGGER_NAME, NODE_STATES, TERMINAL, body_of

_LOG = logging.getLogger(__name__)
_CHUNK = 200
_CAPACITY = 20_000
_LONGEST_PAUSE_SECONDS = 15.0

_Item = tuple[str, dict[str, Any]]


class TaskRecorder:
    """Sends nodes' states and log lines to Prefect in the background, in order and in bulk.

    Nothing waits for it and nothing fails with it: where Prefect is away it keeps the last 20,000 items, then drops
    the oldest (`dropped` counts them). A node costs Prefect 4 to 6 ms per state: leave pure nodes out.

    Args:
        connection: the Prefect to send to.
        flush_seconds: how long an item waits for others.
    """

    def __init__(self, connection: PrefectConnection, *, flush_seconds: float = 0.25) -> None:
        self.dropped = 0
        self._connection = connection
        self._flush_seconds = flush_seconds
        self._items: deque[_Item] = deque()
        self._some = asyncio.Event()
        self._sent = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Send from now on."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="prefect-task-recorder")

    async def stop(self, seconds: float = 5.0) -> None:
        """Send what is left, for at most that long, and stop."""
        task, self._task = self._task, None
        if task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._emptied()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def node(self, flow_run_id: str, node: NodeRecord) -> None:
        """Show a node's present state; returns at once."""
        run = UUID(flow_run_id)
        state = NODE_STATES[node.state]
        started_at = node.started_at or datetime.now(UTC)
        finished_at = (node.finished_at or datetime.now(UTC)) if state.type in TERMINAL else None
        body = body_of(node.path)
        event = task_event(
            flow_run_id=run,
            task_run_id=task_run_key(run, node.path),
            path=node.path,
            name=node.name,
            kind=node.kind,
            state=state,
            message=node.message,
            started_at=started_at,
            finished_at=finished_at,
            upstream=[task_run_key(run, path) for path in node.upstream],
            parents=[task_run_key(run, body)] if body else [],
            tags=[node.kind],
        )
        self._add("/events", event)

    def log(self, flow_run_id: str, line: LogLine) -> None:
        """Show a line on the flow run's page; returns at once."""
        task_run_id = str(task_run_key(UUID(flow_run_id), line.path)) if line.path else None
        entry = {
            "name": LOGGER_NAME,
            "level": line.level,
            "message": line.message.replace("\x00", ""),
            "timestamp": line.at.isoformat(),
            "flow_run_id": flow_run_id,
            "task_run_id": task_run_id,
        }
        self._add("/logs/", entry)

    def _add(self, path: str, item: dict[str, Any]) -> None:
        if len(self._items) >= _CAPACITY:
            self._items.popleft()
            self.dropped += 1
        self._items.append((path, item))
        self._sent.clear()
        self._some.set()

    async def _emptied(self) -> None:
        while self._items:
            self._sent.clear()
            await self._sent.wait()

    async def _run(self) -> None:
        async with PrefectApi(self._connection) as api:
            pause = 1.0
            while True:
                await self._some.wait()
                await asyncio.sleep(self._flush_seconds)
                try:
                    await self._send(api)
                    pause = 1.0
                except PrefectUnavailable:
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def _send(self, api: PrefectApi) -> None:
        while self._items:
            path = self._items[0][0]
            chunk: list[_Item] = []
            while self._items and self._items[0][0] == path and len(chunk) < _CHUNK:
                chunk.append(self._items.popleft())
            try:
                await api.post(path, [item for _, item in chunk])
            except PrefectRefused as refusal:
                self.dropped += len(chunk)
                _LOG.warning("Prefect refused %d nodes or log lines: %s", len(chunk), refusal)
            except (PrefectUnavailable, asyncio.CancelledError):
                self._items.extendleft(reversed(chunk))
                raise
        self._some.clear()
        self._sent.set()
