"""Calls of tools as runs: started, watched with progress, asked about, cancelled with the call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp import MCPError, types
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.events import FINAL_EVENTS, Event
from interlace.flows.children import MAX_DEPTH
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.server.asked import may_answer, pending_of
from interlace.server.auth import name_of
from interlace.server.mcp.catalogue import tools_of
from interlace.server.mcp.questions import question, take
from interlace.server.mcp.results import RUN_TOOL, failed, result_of, waiting
from interlace.server.mcp.who import Caller, Context, caller_of, takes_questions, takes_tasks
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run
from interlace.store.wait_row import Wait

KIND: Final = "mcp"
SOON_SECONDS: Final = 0.3
"""So long a call whose client follows tasks is waited for before it becomes one."""
_DONE = frozenset({"node.succeeded", "node.failed", "node.skipped"})


@dataclass(slots=True, kw_only=True)
class Watch:
    """A run as one call watches it."""

    run_id: str
    nodes: int
    after: int = 0
    done: int = 0


class Calls:
    """The calls of all clients."""

    def __init__(self, platform: Platform, leaving: asyncio.Event) -> None:
        self._platform = platform
        self._leaving = leaving

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        """Call a tool: its result; what is to be asked first; or a task, where the client follows tasks.

        Raises:
            MCPError: there is no such tool.
        """
        caller = caller_of(ctx)
        if params.request_state is not None:
            run = await self.run_of(params.request_state, caller)
            open_, problem = await self.answers(run, params.input_responses or {}, caller)
            if open_ and problem is None:
                return waiting(self._platform, run.id, (await pending_of(self._platform, run.id)).people)
            return await self.watched(ctx, run, problem=problem)
        if params.name == RUN_TOOL:
            return await self._go_on(ctx, str((params.arguments or {}).get("run_id", "")), caller)
        started = await self.start(params.name, params.arguments or {}, caller)
        if isinstance(started, types.CallToolResult):
            return started
        if takes_tasks(ctx) and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            result = await self._platform.runner.wait(started.id, SOON_SECONDS)
            if result is None or result.status not in FINAL:
                from interlace.server.mcp.tasks import created  # noqa: PLC0415 - it imports this

                return await created(self._platform, started.id, caller)
        return await self.watched(ctx, started)

    async def _go_on(self, ctx: Context, run_id: str, caller: Caller) -> Any:
        if not run_id:
            return failed("The arguments do not fit:\n- run_id: is required.")
        try:
            run = await self.run_of(run_id, caller)
        except MCPError as error:
            return failed(error.message)
        return await self.watched(ctx, run, ours=False)

    async def start(
        self, name: str, arguments: Mapping[str, Any], caller: Caller
    ) -> Run | types.CallToolResult:
        """Start the run of a tool; a result that says why not, where the arguments do not fit.

        Raises:
            MCPError: there is no such tool.
        """
        found = (await tools_of(self._platform, caller.by)).get(name)
        if found is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {name}")
        if caller.depth > MAX_DEPTH:
            return failed(f"Workflows call each other deeper than {MAX_DEPTH}; this one is not started.")
        request = Request(
            inputs=arguments, trigger={"kind": KIND, "tool": name, "by": await name_of(self._platform, caller.key)},
            environment=self._platform.settings.environment, owner=caller.by.user_id, principal=caller.by,
            org_id=found.org_id, depth=caller.depth,
        )  # fmt: skip
        try:
            run_id = await self._platform.runner.start(found.pinned, request)
        except InvalidDocument as error:
            wrong = "\n".join(f"- {problem.field}: {problem.message}" for problem in error.problems)
            return failed(f"The arguments do not fit:\n{wrong}")
        except InterlaceError as error:
            return failed(str(error))
        return await self._platform.store.runs.get(run_id)

    async def run_of(self, run_id: str, caller: Caller) -> Run:
        """A run of the caller's that a tool has started.

        Raises:
            MCPError: there is none of that id.
        """
        try:
            run = await self._platform.store.runs.get(run_id, owner=caller.by)
        except NotFoundError:
            run = None
        if run is None or run.trigger.get("kind") != KIND:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown run: {run_id}")
        return run

    # -- watching ------------------------------------------------------------------------------------------------------

    async def watched(
        self, ctx: Context, run: Run, *, problem: str | None = None, ours: bool = True
    ) -> types.CallToolResult | types.InputRequiredResult:
        """The result of a run; a call that is cancelled cancels the run that it has started."""
        caller, watch = caller_of(ctx), Watch(run_id=run.id, nodes=max(run.node_count, 1))
        try:
            while True:
                if problem is None and await self._ended(ctx, watch):
                    return await self.result(run, caller)
                waits = list((await pending_of(self._platform, run.id)).people)
                if not waits:
                    problem = None  # nothing is asked any more, of whoever it was asked
                    continue
                mine = [
                    wait
                    for wait in waits
                    if await may_answer(self._platform, wait, key=caller.key, by=caller.by)
                ]
                if not mine or not takes_questions(ctx):
                    return waiting(self._platform, run.id, waits)
                if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    return asked(run.id, mine, problem)
                still_open, problem = await self._ask(ctx, mine[0], problem, caller)
                if still_open and problem is None:
                    return waiting(self._platform, run.id, waits)
        except asyncio.CancelledError:
            if ours and not self._leaving.is_set():
                self._platform.runner.background(self._cancel(run.id))
            raise

    async def _cancel(self, run_id: str) -> None:
        await self._platform.runner.cancel(run_id, "cancelled by the client")

    async def _ended(self, ctx: Context, watch: Watch) -> bool:
        """Follow a run until it has ended, or is suspended; False for that."""
        async for event in self._platform.store.events.follow(watch.run_id, watch.after):
            watch.after = event.seq
            await self._tell(ctx, watch, event)
            if event.type in FINAL_EVENTS:
                return True
            if event.type == "run.suspended" and (await pending_of(self._platform, watch.run_id)).people:
                return False
        return True

    async def _tell(self, ctx: Context, watch: Watch, event: Event) -> None:
        if event.type in _DONE and not any(mark in event.path for mark in "[#"):
            watch.done += 1
            outcome = event.type.removeprefix("node.")
            total = max(watch.nodes, watch.done)
            await ctx.session.report_progress(watch.done, total, f"{event.path} {outcome}")

    async def _ask(
        self, ctx: Context, wait: Wait, problem: str | None, caller: Caller
    ) -> tuple[bool, str | None]:
        """Ask the client's user over the open call; whether it is still open then, and why an answer does not count."""
        form = question(wait, problem)
        result = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
        return await self._take(wait, result, caller)

    async def _take(self, wait: Wait, result: Any, caller: Caller) -> tuple[bool, str | None]:
        if not isinstance(result, types.ElicitResult) or result.action != "accept":
            return True, None
        if not await may_answer(self._platform, wait, key=caller.key, by=caller.by):
            return True, None
        problem = await take(self._platform, wait, result, caller)
        return (await self._platform.store.waits.get(wait.id)).status == "pending", problem

    async def answers(self, run: Run, given: Mapping[str, Any], caller: Caller) -> tuple[bool, str | None]:
        """Take the answers to what a run asks: whether one of these is still open, and why an answer does not count."""
        known = {wait.id: wait for wait in (await pending_of(self._platform, run.id)).people}
        still_open, problem = False, None
        for wait_id, result in given.items():
            if wait_id in known:
                open_, wrong = await self._take(known[wait_id], result, caller)
                still_open, problem = still_open or open_, problem or wrong
        return still_open, problem

    async def result(self, run: Run, caller: Caller) -> types.CallToolResult:
        """The result of a run that has ended."""
        result = await self._platform.runner.turn(run.id)
        schema = None
        if result.status == "succeeded" and run.workflow_id is not None:
            try:
                found = await self._platform.published.find(run.workflow_id, caller.by)
            except InterlaceError:
                return result_of(result, None)  # it is not published any more
            if found.pinned.hash == run.document_hash:
                schema = await self._platform.published.outputs(found, caller.by)
        return result_of(result, schema)


def asked(run_id: str, waits: list[Wait], problem: str | None = None) -> types.InputRequiredResult:
    """What is to be asked before a call can go on."""
    requests = {wait.id: types.ElicitRequest(params=question(wait, problem)) for wait in waits}
    return types.InputRequiredResult(input_requests=dict(requests), request_state=run_id)
