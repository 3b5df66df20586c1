"""The calls of tools that a model asks for in one turn: checked, judged, asked about, made, recorded.

Every call takes this one way, whoever the agent is and whatever the tool: schema, hooks, gate, record, work, hooks,
record. Nothing that a tool gave is looked at by any of it: results are data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from interlace.agents.loop.arguments import Unusable, arguments_of, asked_for, check, print_of, tool_of
from interlace.agents.loop.asking import again, permission, refusal, unknown, whether_done
from interlace.agents.loop.job import Job
from interlace.agents.loop.observation import Observation, data_of, failed, failure_of
from interlace.agents.loop.work import CallContext
from interlace.engine.chat import ToolCall, Usage
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError, StoreError
from interlace.engine.waits import Suspend, Wanted
from interlace.resources.tools.tool import Tool, ToolResult, part_of

_WARNING: Final = (
    "\n\nNote: this very call with the same arguments was asked for {times} times. Do something else, or answer with what you"
    " know; another one ends the work."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A call that may be made."""

    name: str
    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]
    effects: Effects
    note: str = ""
    question: str | None = None
    """The request whose answer lets an interrupted call be made again."""
    rewritten: bool = False
    """Whether a hook changed the arguments."""


_Prepared = Observation | _Ready | Wanted


class Calls:
    """Makes the calls of one loop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._work = job.work
        self._tools = job.tools
        self._hooks = job.profile.hooks
        self._budget = job.budget
        self.made: list[Observation] = []
        """All that was asked for, in order."""

    async def perform(self, turn: int, calls: Sequence[ToolCall]) -> list[Observation]:
        """What came of the calls of one turn, in their order; those that may be made are made side by side.

        Raises:
            Suspend: people are asked about some of them; all others are made and recorded.
            NodeError: `unknown_outcome`.
        """
        prepared = [await self._prepare(f"{turn}.{index}", call) for index, call in enumerate(calls)]
        ready = [entry for entry in prepared if isinstance(entry, _Ready)]
        made = iter(await self._make_all(ready))
        outcomes = [next(made) if isinstance(entry, _Ready) else entry for entry in prepared]
        found: list[Observation] = []
        wanted: list[Wanted] = []
        for outcome in outcomes:
            if isinstance(outcome, Observation):
                found.append(outcome)
            else:
                wanted += outcome if isinstance(outcome, list) else [outcome]
        if wanted:
            raise Suspend(wanted[0], also=wanted[1:])
        self.made += found
        return found

    # -- before a call ------------------------------------------------------------------------------------------------

    async def _prepare(self, name: str, call: ToolCall) -> _Prepared:
        times = self._budget.again(print_of(call.name, asked_for(call)))
        step = self._work.get(name)
        if step is not None and step.finished is not None:
            return self._recalled(name, call, step.finished)
        if step is not None and step.started is not None:
            return self._interrupted(name, call, step.started)
        request = self._work.request(name)
        if request is None:
            return await self._judged(name, call, times)
        answer = self._work.answer(name)
        if answer is None:
            return again(request)
        if answer.action != "approve":
            return self._refused(name, call, refusal(call.name, answer), request.state["arguments"])
        return self._allowed(name, call, request.state["arguments"])

    def _recalled(self, name: str, call: ToolCall, record: Mapping[str, Any]) -> Observation:
        """What an earlier turn of the node has recorded, and what followed from it."""
        if "usage" in record:
            self._work.spending.add(Usage.model_validate(record["usage"]))
        if "made" in record:
            self._work.spending.called()
        if "stop" in record:
            self._budget.stopped = record["stop"]
        self._tools.load(record.get("loaded", ()))
        return Observation(name, call, record)

    def _interrupted(self, name: str, call: ToolCall, started: Mapping[str, Any]) -> _Prepared:
        """A call that was begun, and whose end nobody recorded."""
        arguments, policy = started["arguments"], self._work.steps.on_unknown
        if started.get("effects") != "once" or policy == "retry":
            return self._allowed(name, call, arguments)
        if policy == "fail":
            raise unknown(call.name)
        question = f"{name}?"
        request, answer = self._work.request(question), self._work.answer(question)
        if request is None:
            return whether_done(self._work, name, call.name, arguments)
        if answer is None:
            return again(request)
        if answer.action == "not_happened":
            return self._allowed(name, call, arguments, question)
        self._work.take(question)
        if answer.action != "happened":
            raise unknown(call.name)
        said = answer.form.get("result") or "The call did its work; what it gave is not known."
        return self._record(name, call, ToolResult(value=None, text=str(said)), arguments, made=True)

    async def _judged(self, name: str, call: ToolCall, times: int) -> _Prepared:
        """A call that is new: read, checked, judged by hooks and by the tool itself."""
        arguments: dict[str, Any] | None = None
        note = _WARNING.format(times=times) if times == self._budget.limits.repeats else ""
        if (stop := self._stopped(name, call, times)) is not None:
            return stop
        try:
            tool = tool_of(call, self._tools, self._job.own(call.name))
            arguments = arguments_of(call)
            check(tool, arguments)
            self._work.spending.called()
            ctx = self._work.call(name)
            judged = await self._hooks.before(tool.name, arguments, ctx, part_of=part_of(tool))
            if judged.denied is not None:
                denied = failed(f"this call is not allowed: {judged.denied}")
                return self._record(name, call, denied, arguments, hooks=["deny"])
            if judged.arguments != arguments:
                check(tool, judged.arguments, "a hook changed the arguments, and now they")
            gate = await tool.gate(judged.arguments, ctx)
        except Unusable as error:
            return self._refused(name, call, f"{error}{note}", arguments)
        except NodeError as error:
            return self._record(name, call, failure_of(error, once=False), arguments)
        if gate is not None or judged.ask is not None:
            reasons = [reason for reason in (None if gate is None else gate.reason, judged.ask) if reason]
            title = f"Call {tool.name}?" if gate is None else gate.title
            return permission(
                self._work, name, tool.name, judged.arguments, title=title, reasons=reasons,
                more=_asked(call, judged.arguments),
            )  # fmt: skip
        ready = self._ready(name, call, tool, judged.arguments, note)
        return replace(ready, rewritten=judged.arguments != arguments)

    def _stopped(self, name: str, call: ToolCall, times: int) -> Observation | None:
        """A call that the limits leave no room for."""
        limits, said = self._budget.limits, asked_for(call)
        arguments = said if isinstance(said, dict) else None
        if times > limits.repeats:
            self._budget.stopped = "repeated_call"
            text = f"this very call was asked for {times - 1} times; it is not made again"
            return self._record(name, call, failed(text), arguments, stop="repeated_call")
        if limits.tool_calls is not None and self._budget.spending.tool_calls >= limits.tool_calls:
            text = f"the limit of {limits.tool_calls} tool calls is reached; this one was not made"
            return self._refused(name, call, text, arguments)
        return None

    def _allowed(
        self, name: str, call: ToolCall, arguments: Mapping[str, Any], question: str | None = None
    ) -> _Prepared:
        """A call that was judged before, with the arguments that it was judged with."""
        self._tools.load([call.name])  # another selection of tools may be shown by now
        try:
            tool = tool_of(call, self._tools, self._job.own(call.name))
        except Unusable as error:
            return self._refused(name, call, str(error), arguments)
        self._work.spending.called()
        return replace(self._ready(name, call, tool, arguments), question=question)

    def _ready(
        self, name: str, call: ToolCall, tool: Tool, arguments: Mapping[str, Any], note: str = ""
    ) -> _Ready:
        effects = tool.effects(arguments)
        return _Ready(name=name, call=call, tool=tool, arguments=arguments, effects=effects, note=note)

    # -- the calls ----------------------------------------------------------------------------------------------------

    async def _make_all(self, ready: Sequence[_Ready]) -> list[Observation | list[Wanted]]:
        if not ready:
            return []
        once = any(entry.effects == "once" for entry in ready)
        async with self._work.steps.once() if once else nullcontext():
            for entry in ready:
                known = self._work.get(entry.name)
                started = {
                    "name": entry.call.name, "call": entry.call.id, "arguments": entry.arguments,
                    **_asked(entry.call, entry.arguments),
                }  # fmt: skip
                if entry.tool is self._job.program:
                    before = None if known is None else known.started
                    started["at"] = self._work.ctx.now() if before is None else before.get("at")
                if entry.question is not None:
                    self._work.take(entry.question)
                self._work.record("tool.started", entry.name, {**started, "effects": entry.effects})
            if any(entry.effects != "none" for entry in ready):
                await self._work.steps.commit()
            if len(ready) == 1:
                return [await self._make(ready[0])]
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._make(entry)) for entry in ready]
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None
            return [task.result() for task in tasks]

    async def _make(self, ready: _Ready) -> Observation | list[Wanted]:
        """Make a call; requests of a delegate that works in it are handed on."""
        ctx, before, began = (
            self._work.call(ready.name, ready.call.id),
            set(self._tools.active),
            perf_counter(),
        )
        try:
            result = await self._result(ready, ctx)
        except Suspend as suspend:
            return [suspend.wanted, *suspend.also]
        given = result
        try:
            result = await self._hooks.after(
                ready.tool.name, ready.arguments, result, ctx, part_of=part_of(ready.tool)
            )
        except NodeError as error:
            result = failed(error.message, error.kind)
        about: dict[str, Any] = {"elapsed_ms": round((perf_counter() - began) * 1000, 3), "made": True}
        did = [what for what, so in (("rewrite", ready.rewritten), ("result", result != given)) if so]
        if did:
            about["hooks"] = did
        loaded = [name for name in self._tools.active if name not in before]
        if loaded:
            about["loaded"] = loaded
        if ctx.spent is not None and ctx.spent.usage.calls:
            about["usage"] = ctx.spent.usage.plain()
        if ready.note:
            text = data_of(result)
            shown = Observation(ready.name, ready.call, text).text
            result = ToolResult(
                value=result.value,
                text=shown + ready.note,
                is_error=result.is_error,
                citations=result.citations,
            )
        return self._record(ready.name, ready.call, result, ready.arguments, **about)

    async def _result(self, ready: _Ready, ctx: CallContext) -> ToolResult:
        seconds = self._budget.work_left(ctx.now())
        if (
            ready.tool.category != "agents" and ready.tool is not self._job.program
        ):  # these have limits of their own
            seconds = min(seconds, self._budget.limits.tool_seconds)
        limit = asyncio.timeout(max(seconds, 0.0))
        once = ready.effects == "once"
        try:
            async with limit:
                return await ready.tool.run(ready.arguments, ctx)
        except Suspend:
            raise
        except NodeError as error:
            return failure_of(error, once=once)
        except Exception as error:
            if isinstance(error, StoreError) and error.breaks_run:
                raise
            if isinstance(error, TimeoutError) and limit.expired():
                text = f"{ready.tool.name} took longer than {max(seconds, 0.0):g} s and was ended"
                return failure_of(NodeError(text, kind="timeout"), once=once)
            text = f"{ready.tool.name} has a fault: {type(error).__name__}: {error}"
            return failure_of(NodeError(text, kind="internal", outcome_known=False), once=once)

    # -- after a call -------------------------------------------------------------------------------------------------

    def _refused(
        self, name: str, call: ToolCall, message: str, arguments: Mapping[str, Any] | None
    ) -> Observation:
        """A call that is not made."""
        return self._record(name, call, failed(message), arguments)

    def _record(
        self, name: str, call: ToolCall, result: ToolResult, arguments: Mapping[str, Any] | None, **about: Any
    ) -> Observation:
        head: dict[str, Any] = {"name": call.name, "call": call.id}
        if arguments is not None:
            head |= {"arguments": dict(arguments), **_asked(call, arguments)}
        try:
            record = self._work.record("tool.finished", name, {**head, **data_of(result), **about})
        except StoreError as error:
            if error.breaks_run:
                raise
            fault = failed(f"the result of {call.name} cannot be recorded: {error}", "not_json")
            record = self._work.record("tool.finished", name, {**head, **data_of(fault), **about})
        return Observation(name, call, record)


def _asked(call: ToolCall, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the model asked for, where a hook left other arguments."""
    asked = asked_for(call)
    return {} if asked == arguments else {"asked": asked}
