"""Asks the model of a loop for its next turn, and records what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interlace.agents.loop import prompts
from interlace.agents.loop.conversation import action_of, as_json_turns
from interlace.agents.loop.inbox import heard
from interlace.agents.loop.job import Job
from interlace.agents.loop.reading import NAME
from interlace.agents.loop.sizes import sizes_of
from interlace.agents.loop.spending import StopReason
from interlace.agents.loop.window import Window
from interlace.agents.toolset import spec_of
from interlace.engine.chat import ChatRequest, ChatResult, Delta, Message, Usage
from interlace.engine.deltas import DeltaEvents
from interlace.engine.errors import NodeError
from interlace.engine.protocols import Said


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said to the model before a turn: by the user, while it worked, or by the loop itself."""

    text: str
    by_user: bool = False


class Asker:
    """The model of one loop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._json: bool | None = {"auto": None, "native": False, "json": True}[job.profile.how.calling]
        self._news: list[Said] = []
        self._sizes: dict[str, int] = {}
        """Of the newest prompt."""
        self.window = Window(job)
        self.tool_turns = 0
        """Turns that called tools."""

    def recall(self, turn: int, record: Mapping[str, Any]) -> None:
        """Take a recorded turn: what was said before it, and what it took."""
        summary = self._job.work.finished(f"{turn}+summary")
        if summary is not None:
            self.window.recall(summary)
        # What was shown to the model is not for another selection to take away.
        self._job.tools.load(call["name"] for call in record.get("tool_calls", ()))
        self._say(Remark(entry["content"], entry["by_user"]) for entry in record.get("before", ()))
        self._job.work.spending.add(Usage.model_validate(record["usage"]))
        self._job.work.spending.seconds = record["elapsed"]

    async def has_news(self, turn: int) -> bool:
        """Whether the user has said something meanwhile, so that the answer is not the last word."""
        after = self._job.work.finished(str(turn + 1))
        if after is not None:
            return "injected" in after
        if not self._news:
            self._news = await heard(self._job.work, f"{turn}?")
        return bool(self._news)

    async def ask(self, turn: int) -> Mapping[str, Any]:
        """Ask for turn number `turn` and record the answer; `last` in it says why there is no other.

        Raises:
            NodeError: the model cannot be asked.
        """
        job, prompt = self._job, self._job.prompt_tokens
        reason = job.budget.reason(turn - 1, job.now, prompt=prompt)
        if reason == "iterations" and not job.tools.active:
            reason = None  # nothing is held back
        news, self._news = self._news or await heard(job.work, str(turn)), []
        before = [*(Remark(said.text, by_user=True) for said in news), *self._notes()]
        while True:
            said = [*before, *([Remark(prompts.last(reason))] if reason is not None else [])]
            if reason is not None and not job.budget.may_ask(job.now, prompt):
                return self._silent(reason)
            left = (job.budget.work_left if reason is None else job.budget.left)(job.now)
            try:
                async with asyncio.timeout(left) as limit:
                    result = await self._asked(turn, said, reason)
                break
            except TimeoutError:
                if not limit.expired():
                    raise
                if reason is not None:
                    return self._silent(reason)
                reason = "time"
            except NodeError as error:
                if error.kind != "budget_exceeded" or turn == 1:
                    raise
                return self._silent("budget")
        return self._record(turn, result, said, reason, [entry.id for entry in news])

    def _notes(self) -> list[Remark]:
        """What the loop itself has to say before the next turn."""
        every, entries = self._job.profile.how.reflection_every, self._job.conversation.entries
        due = every and self.tool_turns and self.tool_turns % every == 0
        return [Remark(prompts.REFLECT)] if due and entries[-1].observation is not None else []

    def _silent(self, reason: StopReason) -> dict[str, Any]:
        """The last turn where the model can not be asked any more; it is not recorded, as nothing happened."""
        return {"text": "", "last": reason, "finish_reason": "stop"}

    async def _asked(self, turn: int, said: list[Remark], reason: StopReason | None) -> ChatResult:
        """Ask; what the model or its provider cannot take is left out, and it is asked again."""
        work, how = self._job.work, self._job.profile.how
        if self.window.facts is None:
            facts = await work.models(str(turn)).facts(self._job.profile.model, site=work.site)
            self.window.facts = facts
            if self._json is None:
                self._json = not facts.tools
        while True:
            request = await self._request(turn, said, reason)
            try:
                return await self._answered(turn, request, again=reason == "time")
            except NodeError as error:
                if error.kind == "context_length" and self.window.learn(request.messages):
                    continue
                if self._json or how.calling != "auto" or not _takes_no_tools(error):
                    raise
                self._json = True

    async def _answered(self, turn: int, request: ChatRequest, *, again: bool) -> ChatResult:
        how, work = self._job.profile.how, self._job.work
        models = work.models(str(turn))
        if not self._job.streams or how.synthesis or self._json:
            return await models.chat(request, site=work.site)
        with DeltaEvents(work.ctx, step=str(turn)) as on_delta:
            if work.ctx.attempt > 1 or again:
                on_delta(Delta(restart=True))  # an attempt before may have begun to speak
            return await models.chat(request, site=work.site, on_delta=on_delta)

    async def _request(self, turn: int, said: list[Remark], reason: StopReason | None) -> ChatRequest:
        job, how = self._job, self._job.profile.how
        tools = job.tools.specs() if reason is None else ()
        messages = await self.window.fit(str(turn), tools, [remark.text for remark in said])
        if self.window.shortens and reason is None and NAME not in job.tools.active:
            tools = (*tools, spec_of(job.reader))
        if job.program is not None and reason is None and tools:
            tools = (*tools, spec_of(job.program))
        self._sizes = sizes_of(messages, job.conversation.opening, job.tools.notes, tools)
        most, left = how.max_tokens, job.budget.tokens_left(job.prompt_tokens)
        if left is not None:
            most = left if most is None else min(most, left)
        if not self._json:
            return ChatRequest(
                messages=tuple(messages), model=job.profile.model, tools=tools, temperature=how.temperature,
                max_tokens=most,
            )  # fmt: skip
        rules = Message(role="system", content=prompts.actions(tools))
        first, *rest = as_json_turns(messages)
        return ChatRequest(
            messages=(first, rules, *rest), model=job.profile.model, temperature=how.temperature, max_tokens=most,
            output_schema=dict(prompts.ACTION),
        )  # fmt: skip

    def _record(
        self,
        turn: int,
        result: ChatResult,
        said: list[Remark],
        reason: StopReason | None,
        injected: list[str],
    ) -> Mapping[str, Any]:
        job = self._job
        job.work.spending.add(result.usage)
        data: dict[str, Any] = {
            **self._content(turn, result, reason), "finish_reason": result.finish_reason, "usage": result.usage.plain(),
            "model": f"{result.provider}/{result.model}", "elapsed": round(job.budget.elapsed(job.now), 3),
            "prompt": self._sizes,
        }  # fmt: skip
        if result.reasoning:
            data["reasoning"] = result.reasoning
        if said:
            data["before"] = [{"content": remark.text, "by_user": remark.by_user} for remark in said]
        if injected:
            data["injected"] = injected
        if reason is not None:
            data["last"] = reason
        if turn == 1:
            data["opening"] = [message.model_dump() for message in job.conversation.opening]
        record = job.work.record("model.finished", str(turn), data)
        self._say(said)
        return record

    def _say(self, said: Iterable[Remark]) -> None:
        for remark in said:
            self._job.conversation.say(Message(role="user", content=remark.text), kept=remark.by_user)

    def _content(self, turn: int, result: ChatResult, reason: StopReason | None) -> dict[str, Any]:
        """Text and calls; of a turn in JSON what it asks for. Calls of the last turn are none."""
        if result.refusal is not None:
            return {"text": result.refusal, "tool_calls": [], "refused": True}
        if not self._json:
            calls = result.tool_calls if reason is None else ()
            ids = [call.id for call in calls]
            return {
                "text": result.text,
                "tool_calls": [
                    {
                        # Some servers give none, or the same one twice.
                        "id": call.id if call.id and ids.count(call.id) == 1 else f"call_{turn}_{index}",
                        "name": call.name,
                        "arguments": call.arguments,
                    }
                    for index, call in enumerate(calls)
                ],
            }
        action = action_of(result.text)
        if action.tool is not None and reason is None:
            call = {"id": f"call_{turn}_0", "name": action.tool, "arguments": action.arguments}
            return {"text": "", "tool_calls": [call]}
        if action.answer is not None:
            return {"text": action.answer, "tool_calls": [], "json": True}
        return {"text": result.text, "tool_calls": [], "broken": True}


def _takes_no_tools(error: NodeError) -> bool:
    """Whether a provider refused a request because of its tools."""
    return error.kind in {"http_400", "http_404", "http_422", "http_501"} and "tool" in error.message.lower()
