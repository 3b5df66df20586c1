"""The child runs of SUB_WORKFLOW: runs of their own, linked to the node that started them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlace.engine.errors import InvalidDocument, NodeError
from interlace.engine.protocols import ChildResult
from interlace.store.run_row import FINAL, Run

if TYPE_CHECKING:
    from interlace.flows.documents import Pinned
    from interlace.flows.runner import Runner

MAX_DEPTH = 10


class ChildRuns:
    """Implements `Children` on a runner."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

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
        """Start the child of a node, or find the one an earlier try started, and wait for its end.

        Raises:
            NodeError: the workflow does not exist, the inputs do not fit, or the depth is too great.
        """
        runner = self._runner
        started = await runner.store.runs.children(parent, path)
        if started:
            child_id = started[-1].id
            if started[-1].status not in FINAL:
                await runner.resume(started[-1])
        else:
            child_id = await self._start(workflow, version, inputs, parent=parent, path=path)
        if not wait:
            return ChildResult(run_id=child_id, status="running")
        try:
            result = await runner.wait(child_id)
        except asyncio.CancelledError:
            if not runner.closing:
                await asyncio.shield(self._cancel(child_id))
            raise
        assert result is not None
        return ChildResult(
            run_id=child_id, status=result.status, outputs=result.outputs or {}, error=result.error
        )

    async def _start(
        self, workflow: str, version: str | int, inputs: Mapping[str, Any], *, parent: str, path: str
    ) -> str:
        from interlace.flows.runner import Request  # noqa: PLC0415 - the modules need each other

        run = await self._runner.store.runs.get(parent)
        if run.depth + 1 > MAX_DEPTH:
            raise NodeError(f"sub-workflows are nested deeper than {MAX_DEPTH}", kind="too_deep")
        pinned = await self._find(workflow, version, run)
        trigger = {"kind": "sub_workflow", "run_id": parent, "path": path}
        request = Request(
            inputs=inputs, trigger=trigger, environment=run.environment, parent=run, parent_path=path
        )
        try:
            return await self._runner.start(pinned, request)
        except InvalidDocument as error:
            raise NodeError(f"workflow {workflow!r} refuses the inputs: {error}", kind="validation") from None

    async def _find(self, workflow: str, version: str | int, parent: Run) -> Pinned:
        documents = self._runner.documents
        if not workflow.startswith("."):
            return await documents.stored(workflow, version)
        folder = parent.trigger.get("folder")
        if folder is None:
            raise NodeError(
                f"{workflow!r} is a path, and this workflow does not come from a file; name a stored workflow",
                kind="unknown_workflow",
            )
        path = (Path(folder) / workflow).resolve()
        if not path.is_file():
            raise NodeError(
                f"there is no workflow file {workflow!r} beside the parent's file", kind="unknown_workflow"
            )
        return await documents.from_file(path)

    async def _cancel(self, run_id: str) -> None:
        await self._runner.cancel(run_id, "cancelled with its parent")
        await self._runner.wait(run_id, timeout=5.0)
