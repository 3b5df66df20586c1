"""Runs as tasks: the extension of the current protocol, and what the protocol before it had in its core.

A task is a run; it lives as long as the run is kept, and any server over the same database answers for it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from mcp import MCPError, types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field, ValidationError

from interlace.engine.errors import InterlaceError
from interlace.flows.platform import Platform
from interlace.server.asked import may_answer, pending_of
from interlace.server.mcp.calls import KIND, Calls
from interlace.server.mcp.questions import question
from interlace.server.mcp.who import TASKS, Caller, Context, caller_of, takes_tasks
from interlace.store.run_row import FINAL, Run
from interlace.store.wait_row import Wait

POLL_MS: Final = 500
_WORDS: Final = {"succeeded": "completed", "failed": "completed", "cancelled": "cancelled"}
_PAGE: Final = 50


class TaskParams(types.RequestParams):
    """Which task."""

    task_id: str


class UpdateParams(TaskParams):
    """Answers to what a task asks, by the ids of the requests."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


async def created(platform: Platform, run_id: str, caller: Caller) -> dict[str, Any]:
    """A task in place of a result."""
    run = await platform.store.runs.get(run_id)
    return {"resultType": "task", **await _about(platform, run, caller)}


async def _mine(platform: Platform, run: Run, caller: Caller) -> list[Wait]:
    if run.status in FINAL:
        return []
    return [
        wait for wait in (await pending_of(platform, run.id)).people
        if await may_answer(platform, wait, key=caller.key, by=caller.by)
    ]  # fmt: skip


async def _about(platform: Platform, run: Run, caller: Caller) -> dict[str, Any]:
    """The fields of a task, as the extension names them."""
    waits = await _mine(platform, run, caller)
    status = "input_required" if waits else _WORDS.get(run.status, "working")
    found: dict[str, Any] = {
        "taskId": run.id, "status": status, "createdAt": _instant(run.created_at),
        "lastUpdatedAt": _instant(run.finished_at or run.started_at or run.created_at), "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }  # fmt: skip
    if waits:
        found["statusMessage"] = waits[0].title
    return found


def _instant(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Tasks:
    """The tasks of all clients."""

    def __init__(self, platform: Platform, calls: Calls) -> None:
        self._platform = platform
        self._calls = calls

    def install(self, server: Server[Any]) -> None:
        """Serve the methods of both eras."""
        server.extensions[TASKS] = {}
        server.add_request_handler("tasks/get", TaskParams, self._get)
        server.add_request_handler("tasks/update", UpdateParams, self._update)
        server.add_request_handler("tasks/cancel", TaskParams, self._cancel)
        server.add_request_handler("tasks/result", TaskParams, self._result)
        server.add_request_handler("tasks/list", types.PaginatedRequestParams, self._list)
        server.middleware.append(self._augmented)

    # -- the extension -------------------------------------------------------------------------------------------------

    async def _find(self, ctx: Context, params: TaskParams) -> Run:
        if _modern(ctx):
            if not takes_tasks(ctx):
                raise MCPError(
                    code=types.MISSING_REQUIRED_CLIENT_CAPABILITY, message=f"declare the extension {TASKS}",
                    data={"requiredCapabilities": {"extensions": {TASKS: {}}}},
                )  # fmt: skip
            assert ctx.request is not None
            if ctx.request.headers.get("mcp-name") != params.task_id:
                raise MCPError(code=types.HEADER_MISMATCH, message="the header Mcp-Name is not the taskId")
        try:
            return await self._calls.run_of(params.task_id, caller_of(ctx))
        except MCPError:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown task: {params.task_id}") from None

    async def _get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        run, caller = await self._find(ctx, params), caller_of(ctx)
        about = await _about(self._platform, run, caller)
        if not _modern(ctx):
            return _as_before(about)
        if about["status"] == "completed":
            result = await self._calls.result(run, caller)
            about["result"] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        elif about["status"] == "input_required":
            waits = await _mine(self._platform, run, caller)
            about["inputRequests"] = {
                wait.id: types.ElicitRequest(params=question(wait)).model_dump(
                    by_alias=True, mode="json", exclude_none=True
                )
                for wait in waits
            }
        return about

    async def _update(self, ctx: Context, params: UpdateParams) -> dict[str, Any]:
        _only(ctx, modern=True)
        run = await self._find(ctx, params)
        given: dict[str, types.ElicitResult] = {}
        for name, value in params.input_responses.items():
            try:
                given[name] = types.ElicitResult.model_validate(value, by_name=False)
            except ValidationError:
                continue  # an answer to something else than what is asked here
        _, problem = await self._calls.answers(run, given, caller_of(ctx))
        if problem is not None:
            raise MCPError(code=types.INVALID_PARAMS, message=problem)
        return {}

    async def _cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        run = await self._find(ctx, params)
        cancelled = await self._platform.runner.cancel(run.id, "cancelled by the client")
        if _modern(ctx):
            return {}
        if not cancelled:
            raise MCPError(code=types.INVALID_PARAMS, message=f"the task is {_WORDS[run.status]} already")
        await self._platform.runner.wait(run.id, _CANCEL_SECONDS)
        run = await self._platform.store.runs.get(run.id)
        return _as_before(await _about(self._platform, run, caller_of(ctx)))

    # -- the era before ------------------------------------------------------------------------------------------------

    async def _augmented(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a call that asks for a task, and say at the handshake that this is possible."""
        params = ctx.params or {}
        if _modern(ctx) or ctx.method not in ("tools/call", "initialize"):
            return await call_next(ctx)
        if ctx.method == "initialize":
            found = await call_next(ctx)
            if isinstance(found, dict) and found.get("protocolVersion") == _ERA:
                wanted: dict[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
                found["capabilities"] = {**found.get("capabilities", {}), "tasks": wanted}
            return found
        if ctx.protocol_version != _ERA or not isinstance(params.get("task"), dict):
            return await call_next(ctx)
        typed = types.CallToolRequestParams.model_validate(params, by_name=False)
        caller = caller_of(ctx)
        started = await self._calls.start(typed.name, typed.arguments or {}, caller)
        if isinstance(started, types.CallToolResult):
            return started.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {"task": _as_before(await _about(self._platform, started, caller))}

    async def _result(self, ctx: Context, params: TaskParams) -> Any:
        """Wait for the result of a task; what it asks meanwhile is asked over this request."""
        _only(ctx, modern=False)
        run = await self._find(ctx, params)
        found = await self._calls.watched(
            ctx, run, ours=False
        )  # who waits no longer has not cancelled the task
        dumped = found.model_dump(by_alias=True, mode="json", exclude_none=True)
        related = {"io.modelcontextprotocol/related-task": {"taskId": run.id}}
        return {**dumped, "_meta": {**dumped.get("_meta", {}), **related}}

    async def _list(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        _only(ctx, modern=False)
        caller = caller_of(ctx)
        try:
            page = await self._platform.store.runs.list(owner=caller.by, limit=_PAGE, cursor=params.cursor)
        except InterlaceError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from None
        found = [
            _as_before(await _about(self._platform, run, caller))
            for run in page.items if run.trigger.get("kind") == KIND
        ]  # fmt: skip
        return {"tasks": found, **({"nextCursor": page.cursor} if page.cursor else {})}


_ERA: Final = "2025-11-25"
_CANCEL_SECONDS: Final = 5.0


def _modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _only(ctx: Context, *, modern: bool) -> None:
    if _modern(ctx) is not modern:
        raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found", data=ctx.method)


def _as_before(about: dict[str, Any]) -> dict[str, Any]:
    """A task as the era before writes it."""
    found = {name: value for name, value in about.items() if name not in ("ttlMs", "pollIntervalMs")}
    return {**found, "ttl": about["ttlMs"], "pollInterval": about["pollIntervalMs"]}
