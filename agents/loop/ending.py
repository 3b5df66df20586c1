"""How a loop ends: the answer, in the form that was asked for, or as much of one as there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.agents.loop import prompts
from interlace.agents.loop.calls import Calls
from interlace.agents.loop.job import Job
from interlace.agents.loop.spending import WORDS, StopReason
from interlace.agents.loop.task import Finished
from interlace.agents.loop.window import Window
from interlace.engine.chat import ChatRequest, Delta, Message, Usage
from interlace.engine.deltas import DeltaEvents
from interlace.engine.errors import NodeError
from interlace.engine.json_schema import problems_of
from interlace.resources.models.extraction import candidates
from interlace.resources.models.structured import ask_for_data

_CHECKED_AFTER = 3
"""Turns with tools from which on an answer is checked for completeness."""
_SHOWN = 500


class Ending:
    """The end of one loop."""

    def __init__(self, job: Job, calls: Calls, window: Window) -> None:
        self._job = job
        self._window = window
        self._calls = calls
        self._checked = False

    async def answer(self, turn: int, record: Mapping[str, Any]) -> Finished:
        """The answer that the model gave by itself.

        Raises:
            NodeError: `invalid_output`, it does not fit the schema.
        """
        if record.get("refused") or record.get("finish_reason") == "content_filter":
            return self._finished(str(record.get("text") or ""), "refused")
        if record.get("finish_reason") == "length":
            return await self.partial(turn, "length", record)
        text = str(record["text"])
        if self._job.profile.how.synthesis and self._calls.made:
            text = await self._synthesis(turn)
        elif record.get("json") and self._job.streams:
            self._show(turn, text)
        if self._job.task.output_schema is None:
            return self._finished(text, "answer")
        data = await self._data(turn, text, self._job.task.output_schema)
        return self._finished(text, "answer", data)

    async def partial(self, turn: int, reason: StopReason, record: Mapping[str, Any]) -> Finished:
        """What there is when no more may be done."""
        text = str(record.get("text") or "") or self._job.conversation.last_said() or self._nothing(reason)
        data = None
        if self._job.task.output_schema is not None:
            data = _fitting(text, self._job.task.output_schema)[1]
            if data is None and self._job.budget.may_ask(self._job.now, self._job.prompt_tokens):
                try:
                    data = await self._data(turn, text, self._job.task.output_schema)
                except NodeError as error:
                    if error.kind not in ("invalid_output", "output_truncated", "refused", "budget_exceeded"):
                        raise
        return self._finished(text, reason, data)

    async def missing(self, turn: int, tool_turns: int) -> str | None:
        """What an answer lacks, by one look at it after some turns with tools; None where it is complete."""
        if not self._job.profile.how.completion_check or self._checked or tool_turns < _CHECKED_AFTER:
            return None
        self._checked = True
        record = self._job.work.finished(f"{turn}+check")
        if record is None:
            request = await self._request(f"{turn}+check", prompts.CHECK)
            found = await ask_for_data(
                self._job.work.models(f"{turn}+check"),
                request,
                prompts.CHECK_SCHEMA,
                site=self._job.work.site,
            )
            data = {"data": found.data, "usage": found.result.usage.plain()}
            record = self._job.work.record("model.finished", f"{turn}+check", data)
        self._job.work.spending.add(Usage.model_validate(record["usage"]))
        verdict = record["data"]
        return None if verdict["complete"] else str(verdict["missing"])

    async def _synthesis(self, turn: int) -> str:
        """The answer written anew, where the agent's settings ask for it."""
        record = self._job.work.finished(f"{turn}+synthesis")
        if record is None:
            request, site = await self._request(f"{turn}+synthesis", prompts.SYNTHESIS), self._job.work.site
            if self._job.streams:
                with DeltaEvents(self._job.work.ctx, step=f"{turn}+synthesis") as on_delta:
                    result = await self._job.work.models(f"{turn}+synthesis").chat(
                        request, site=site, on_delta=on_delta
                    )
            else:
                result = await self._job.work.models(f"{turn}+synthesis").chat(request, site=site)
            data = {"text": result.text, "usage": result.usage.plain()}
            record = self._job.work.record("model.finished", f"{turn}+synthesis", data)
        self._job.work.spending.add(Usage.model_validate(record["usage"]))
        text = str(record["text"])
        self._job.conversation.say(Message(role="assistant", content=text))
        return text

    async def _data(self, turn: int, text: str, schema: Mapping[str, Any]) -> Any:
        """The answer as data: as it stands in the text, else asked for as strictly as the model can be.

        Raises:
            NodeError: `invalid_output`.
        """
        fits, data = _fitting(text, schema)
        if fits:
            return data
        record = self._job.work.finished(f"{turn}+data")
        if record is None:
            request = await self._request(f"{turn}+data", prompts.AS_DATA)
            found = await ask_for_data(
                self._job.work.models(f"{turn}+data"), request, schema, site=self._job.work.site
            )
            kept = {"text": found.result.text, "data": found.data, "usage": found.result.usage.plain()}
            record = self._job.work.record("model.finished", f"{turn}+data", kept)
        self._job.work.spending.add(Usage.model_validate(record["usage"]))
        return record["data"]

    async def _request(self, step: str, said: str) -> ChatRequest:
        messages = await self._window.fit(step, (), [said])
        return ChatRequest(messages=tuple(messages), model=self._job.profile.model)

    def _show(self, turn: int, text: str) -> None:
        """Show an answer that came inside JSON."""
        with DeltaEvents(self._job.work.ctx, step=str(turn)) as on_delta:
            on_delta(Delta(text=text))

    def _nothing(self, reason: StopReason) -> str:
        """A text where the model has said nothing: never nothing at all."""
        text = f"No answer was reached, because of {WORDS[reason]}."
        if self._calls.made and not self._job.work.is_delegate:  # a caller gets no more than an answer
            found = self._calls.made[-1]
            shown = found.text if len(found.text) <= _SHOWN else found.text[:_SHOWN] + " …"
            text += f" The last call was {found.call.name}, which gave: {shown}"
        return text

    def _finished(self, text: str, reason: StopReason, data: Any = None) -> Finished:
        return Finished(
            text=text, data=data, messages=self._job.conversation.plain(),
            tool_calls=tuple(found.plain() for found in self._calls.made), usage=self._job.work.spending.usage,
            stop_reason=reason,
        )  # fmt: skip


def _fitting(text: str, schema: Mapping[str, Any]) -> tuple[bool, Any]:
    """The first JSON value in a text that fits a schema."""
    for value in candidates(text):
        if not problems_of(schema, value, "answer", code="output"):
            return True, value
    return False, None
