"""The loop: ask the model, make the calls that it asks for, show it what came of them, until it answers.

It does its work over from the beginning whenever its node is run again, and takes what is recorded instead of doing it:
so it goes on after a crash, or after an answer of a person, where it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.agents.loop.asker import Asker
from interlace.agents.loop.calls import Calls
from interlace.agents.loop.conversation import Conversation
from interlace.agents.loop.ending import Ending
from interlace.agents.loop.job import Job
from interlace.agents.loop.program import RunProgram
from interlace.agents.loop.prompts import BROKEN, EMPTY, NOT_COMPLETE, system
from interlace.agents.loop.reading import ReadResult
from interlace.agents.loop.spending import Budget
from interlace.agents.loop.task import Finished, Profile, Task
from interlace.agents.loop.work import Work
from interlace.agents.toolset import ToolSet
from interlace.engine.chat import Message, ToolCall

_MARGIN = 5.0
"""Seconds before the node's own time-out at which the loop has ended."""


class Loop:
    """One agent at one task."""

    def __init__(
        self, work: Work, profile: Profile, tools: ToolSet, task: Task, outer: Budget | None = None
    ) -> None:
        budget = Budget(
            profile.limits, work.spending, _seconds(work, profile), began=work.ctx.now(), outer=outer
        )
        work.budget = budget
        program = RunProgram(lambda: self._job) if profile.how.code_mode else None
        self._job = Job(work, profile, tools, task, budget, ReadResult(work), program)

    async def run(self) -> Finished:
        """Work until there is an answer, or no more may be done.

        Raises:
            Suspend: people are asked; the node is run again when one of them has answered.
            NodeError: a model cannot be asked, `invalid_output`, `unknown_outcome`.
        """
        job = self._job
        job.conversation = Conversation(await self._opening())
        asker, calls = Asker(job), Calls(job)
        ending = Ending(job, calls, asker.window)
        turn, misses = 0, 0
        while True:
            turn += 1
            record = job.work.finished(str(turn))
            if record is not None:
                asker.recall(turn, record)
            else:
                record = await asker.ask(turn)
            said = _said(record)
            if said.content or said.tool_calls:
                job.conversation.say(said)
            if record.get("last"):
                return await ending.partial(turn, record["last"], record)
            if said.tool_calls:
                misses = 0
                job.conversation.observe(await calls.perform(turn, said.tool_calls))
                asker.tool_turns += 1
                continue
            complaint = _complaint(record)
            if complaint is not None:
                misses += 1
                if misses > 1:
                    return await ending.partial(turn, complaint[0], record)
                job.conversation.say(Message(role="user", content=complaint[1]))
                continue
            if await asker.has_news(turn):
                continue
            missing = await ending.missing(turn, asker.tool_turns)
            if missing is not None:
                job.conversation.say(Message(role="user", content=NOT_COMPLETE.format(missing=missing)))
                continue
            return await ending.answer(turn, record)

    async def _opening(self) -> list[Message]:
        """What the conversation begins with; as it was, where it has begun."""
        first = self._job.work.finished("1")
        if first is not None:
            return [Message.model_validate(entry) for entry in first["opening"]]
        texts = await self._job.profile.hooks.start(self._job.work.call("0"))
        prompt = system(
            self._job.profile.instructions, [*self._job.tools.notes, *texts], self._job.task.output_schema,
            tools=bool(self._job.tools.active),
        )  # fmt: skip
        return [
            Message(role="system", content=prompt),
            *self._job.task.history,
            Message(role="user", content=self._job.task.prompt),
        ]


def _said(record: Mapping[str, Any]) -> Message:
    """What the model said, as it stands in the conversation."""
    calls = tuple(ToolCall.model_validate(call) for call in record.get("tool_calls", ()))
    return Message(role="assistant", content=record.get("text") or None, tool_calls=calls)


def _complaint(record: Mapping[str, Any]) -> tuple[Any, str] | None:
    """Why a turn without calls is no answer: the reason to stop where it happens again, and what the model is told."""
    if record.get("broken"):
        return "invalid_format", BROKEN
    if not str(record.get("text") or "").strip() and record.get("finish_reason") != "content_filter":
        return "no_answer", EMPTY
    return None


def _seconds(work: Work, profile: Profile) -> float:
    """Most time at work: the agent's limit, and that of the node around it."""
    node = work.ctx.seconds
    if node is None:
        return profile.limits.seconds
    return min(profile.limits.seconds, node - min(_MARGIN, 0.05 * node))
