"""The child runs of SUB_WORKFLOW: runs of their own, linked to the node that started them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlace.engine.errors import InvalidDocument, NodeError, StoreError
from interlace.engine.events import Event
from interlace.engine.principal import Principal
from interlace.engine.protocols import ChildResult
from interlace.engine.run import RunResult
from interlace.flows.request import Request
from interlace.resources.lookup import resource_not_found
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run

if TYPE_CHECKING:
    from interlace.flows.documents import Pinned
    from interlace.flows.runner import Runner

MAX_DEPTH = 10
_CANCEL_SECONDS = 5.0


class ChildRuns:
    """Implements `Children` on a runner."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._reported: dict[str, set[str]] = {}
        """By parent: children whose failure their node has heard of, so that a retry starts a new one."""
        runner.ended.append(self._forget)

    async def run(
        self,
        workflow: str,
        version: str | int,
        inputs: Mapping[str, Any],
        *,
        parent: str,
        path: str,
        wait: bool,
    ) -> ChildResult:
        """Start the child of a node, or find the one an earlier try started, and wait until it has ended or is suspended.

        Raises:
            NodeError: the workflow does not exist, the inputs do not fit, or the depth is too great.
        """
        runner = self._runner
        row = await runner.store.runs.get(parent)
        started = await runner.store.runs.children(parent, path)
        if started and not await self._is_reported(started[-1], parent, path):
            child_id = started[-1].id
            if started[-1].status == "suspended":
                return ChildResult(run_id=child_id, status="suspended")
            if started[-1].status not in FINAL:
                await runner.resume(started[-1])
        else:
            pinned = await self._find(workflow, version, row)
            child_id = await self._start(pinned, inputs, row, path, wait=wait)
        if not wait:
            return ChildResult(run_id=child_id, status="running")
        try:
            result = await runner.turn(child_id)
        except asyncio.CancelledError:
            if not runner.closing:
                await asyncio.shield(self._cancel(parent, child_id))
            raise
        return self._result(parent, result)

    async def result(self, run_id: str, *, parent: str) -> ChildResult:
        """How a child ended, or that it is suspended."""
        return self._result(parent, await self._runner.turn(run_id))

    def _result(self, parent: str, result: RunResult) -> ChildResult:
        if result.status in FINAL and result.status != "succeeded":
            self._reported.setdefault(parent, set()).add(result.run_id)
        return ChildResult(
            run_id=result.run_id, status=result.status, outputs=result.outputs or {}, error=result.error
        )

    async def _is_reported(self, child: Run, parent: str, path: str) -> bool:
        """Whether the node has failed with a child already, in this process or in one before it."""
        if child.id in self._reported.get(parent, ()):
            return True
        if child.status not in FINAL or child.status == "succeeded":
            return False
        last = 0
        while batch := await self._runner.store.events.read(parent, last):
            last = batch[-1].seq
            if any(_repeats(event, path) and event.at >= child.created_at for event in batch):
                return True
        return False

    async def _start(
        self, pinned: Pinned, inputs: Mapping[str, Any], parent: Run, path: str, *, wait: bool
    ) -> str:
        if parent.depth + 1 > MAX_DEPTH:
            raise NodeError(f"sub-workflows are nested deeper than {MAX_DEPTH}", kind="too_deep")
        request = Request(
            inputs=inputs,
            trigger={"kind": "sub_workflow", "run_id": parent.id, "path": path, "wait": wait},
            environment=parent.environment,
            parent=parent,
            parent_path=path,
            test=parent.test,
            options={"record": True} if parent.options.get("record") else {},
        )
        try:
            return await self._runner.start(pinned, request)
        except InvalidDocument as error:
            message = f"workflow {pinned.document.name!r} refuses the inputs: {error}"
            raise NodeError(message, kind="validation") from None

    async def _find(self, workflow: str, version: str | int, parent: Run) -> Pinned:
        documents = self._runner.documents
        try:
            owner = await self._runner.principal(parent, parent.owner)
            if not workflow.startswith("."):
                await self._see(workflow, owner)
                return await documents.stored(workflow, version, owner=owner)
            return await documents.from_file(_beside(workflow, parent), owner=owner)
        except (StoreError, InvalidDocument) as error:
            raise NodeError(
                f"workflow {workflow!r} cannot be run: {error}", kind="unknown_workflow"
            ) from None

    async def _see(self, workflow: str, owner: Principal) -> None:
        try:
            await self._runner.store.workflows.get(workflow, owner=owner)
        except NotFoundError:
            raise resource_not_found("workflow", workflow) from None

    async def _cancel(self, parent: str, run_id: str) -> None:
        self._reported.setdefault(parent, set()).add(run_id)
        await self._runner.cancel(run_id, "cancelled with its parent")
        await self._runner.wait(run_id, _CANCEL_SECONDS)

    async def _forget(self, run_id: str, result: RunResult) -> None:
        if result.status in FINAL:
            self._reported.pop(run_id, None)


def _repeats(event: Event, path: str) -> bool:
    """Whether an event has the node at a path, or a container around it, tried again."""
    around = (f"{event.path}[", f"{event.path}#")
    return event.type == "node.retrying" and (event.path == path or path.startswith(around))


def _beside(workflow: str, parent: Run) -> Path:
    folder = parent.trigger.get("folder")
    if folder is None:
        raise NodeError(
            f"{workflow!r} is a path, and this workflow does not come from a file; name a stored workflow",
            kind="unknown_workflow",
        )
    path = Path(folder) / workflow
    if not path.is_file():
        raise NodeError(
            f"there is no workflow file {workflow!r} beside the parent's file", kind="unknown_workflow"
        )
    return path
