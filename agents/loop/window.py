"""What of a conversation a model is shown, so that it fits into its context.

Old results of tools are left out first: a note stays, by which they can be read again. Then old turns are summed up. The
instructions, the question and what the user said since stay, and a result never stands without its call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from interlace.agents.loop import prompts
from interlace.agents.loop.conversation import Entry
from interlace.agents.loop.job import Job
from interlace.agents.loop.reading import NAME
from interlace.engine.chat import ChatRequest, Message, ModelFacts, ToolSpec, Usage
from interlace.engine.errors import NodeError
from interlace.resources.models import tokens
from interlace.resources.models.prompting import as_text

_RESERVE: Final = 4096
"""Tokens kept for the answer where the model's longest one is not known."""
_AIM: Final = 0.75
"""To this part of the budget a conversation is shortened, so that not every turn shortens it again."""
_SHORT: Final = 400
"""Characters of a result that is not worth leaving out."""
_KEPT_TURNS: Final = 2
"""Newest turns that are never summed up."""
_OVERHEAD: Final = 16
"""Most tokens that the form of a message takes."""
_IMAGE: Final = 1000


class Window:
    """The view of one conversation."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.facts: ModelFacts | None = None
        self.shortens = False
        """Whether something was left out, so that `read_result` is of use."""
        self._left_out: set[str] = set()
        self._summary: str | None = None
        self._summed = 0
        """So many entries stand in the summary."""
        self._history = True
        """Whether what was said before the question is shown as it was."""
        self._counts: dict[int, tuple[Message, int]] = {}
        self._made: dict[tuple[int, str], Message] = {}
        self._learned: int | None = None

    def learn(self, asked: Sequence[Message]) -> bool:
        """Take a lower limit from a model that says that this was too long; False where that was tried before."""
        before = self._learned
        self._learned = int(0.6 * sum(map(self._count, asked)))
        return before is None or self._learned < before

    async def fit(self, step: str, tools: Sequence[ToolSpec], said: Sequence[str]) -> list[Message]:
        """The messages to send, `said` by the loop at their end.

        Raises:
            NodeError: `context_length`: instructions and question alone are too long.
        """
        notes = [Message(role="user", content=text) for text in said]
        room, found = self._room(), [*self._view(None), *notes]
        if room is None:
            return found
        schemas = orjson.dumps([tool.wire() for tool in tools])
        if _at_most(found) + len(schemas) <= room:
            return found
        budget = max(room - (tokens.count(schemas.decode(), self._model) if tools else 0), 1)
        if self._size(found) <= budget:
            return found
        self.shortens = True
        self._leave_out_results(budget, notes)
        found = [*self._view(budget), *notes]
        if self._size(found) > budget:
            await self._sum_up(f"{step}+summary", budget)
            found = [*self._view(budget), *notes]
        if self._size(found) > budget:
            found = [*self._view(budget // 4), *notes]
        if self._size(found) > budget:
            raise NodeError(
                f"the instructions and the question need {self._size(found)} tokens and more than the {budget} that model"
                f" {self.facts.name if self.facts else ''} has room for; shorten them, or take a model with a longer context",
                kind="context_length", retryable=False,
            )  # fmt: skip
        return found

    def recall(self, record: Mapping[str, Any]) -> None:
        """Take a recorded summary."""
        self._summary, self._summed, self._history = record["text"], record["covers"], False
        self.shortens = True
        self._job.work.spending.add(Usage.model_validate(record["usage"]))

    # -- the view -----------------------------------------------------------------------------------------------------

    def _view(self, budget: int | None) -> list[Message]:
        opening, entries = self._job.conversation.opening, self._job.conversation.entries
        system, *history, question = opening
        found = [system, *(history if self._history else ()), question]
        if self._summary is not None:
            found.append(Message(role="user", content=prompts.SO_FAR.format(summary=self._summary)))
        found += [entry.message for entry in entries[: self._summed] if entry.kept]
        longest = None if budget is None else max(budget // 4, 200)
        found += [self._shown(entry, longest) for entry in entries[self._summed :]]
        return found

    def _shown(self, entry: Entry, longest: int | None) -> Message:
        """A message as the model sees it: a result may be left out, or be cut."""
        seen = entry.observation
        if seen is None:
            return entry.message
        text = as_text(entry.message.content)
        if seen.name in self._left_out:
            note = prompts.LEFT_OUT.format(tool=seen.call.name, size=len(text), ref=seen.name, name=NAME)
            return self._instead(entry.message, note)
        if longest is None or len(text) <= longest:  # a token is a character at least
            return entry.message
        part = tokens.first(text[: 8 * longest], longest, self._model)
        if part == text:
            return entry.message
        note = prompts.CUT.format(size=len(text), ref=seen.name, offset=len(part), name=NAME)
        return self._instead(entry.message, part + note)

    def _instead(self, message: Message, text: str) -> Message:
        """A message with another text: the same object for the same text, as counts go by it."""
        key = (id(message), text)
        if key not in self._made:
            self._made[key] = message.model_copy(update={"content": text})
        return self._made[key]

    # -- shortening ---------------------------------------------------------------------------------------------------

    def _leave_out_results(self, budget: int, notes: Sequence[Message]) -> None:
        """Leave out results, the oldest first; those of the newest turn stay."""
        entries = self._job.conversation.entries
        last = max((i for i, entry in enumerate(entries) if entry.message.tool_calls), default=len(entries))
        for entry in entries[self._summed : last]:
            seen = entry.observation
            if seen is None or seen.name in self._left_out or len(as_text(entry.message.content)) <= _SHORT:
                continue
            self._left_out.add(seen.name)
            if self._size([*self._view(budget), *notes]) <= _AIM * budget:
                return

    async def _sum_up(self, step: str, budget: int) -> None:
        """Sum up what is old: what was said before the question, and all but the newest turns."""
        known = self._job.work.finished(step)
        if known is not None:
            self.recall(known)
            return
        entries = self._job.conversation.entries
        turns = [i for i, entry in enumerate(entries) if entry.message.role == "assistant"]
        covers = turns[-_KEPT_TURNS] if len(turns) >= _KEPT_TURNS else 0
        _, *history, question = self._job.conversation.opening
        old = [
            *(history if self._history else ()),
            *(entry.message for entry in entries[self._summed : covers]),
        ]
        if not old:
            return
        text, usage = await self._summed_text(step, old, question, budget)
        data = {"text": text, "covers": max(covers, self._summed), "usage": usage.plain()}
        self.recall(self._job.work.record("model.finished", step, data))

    async def _summed_text(
        self, step: str, old: Sequence[Message], question: Message, budget: int
    ) -> tuple[str, Usage]:
        each = max(4 * budget // (2 * len(old)), 200)
        lines = [f"{message.role}: {_as_line(message)[:each]}" for message in old]
        before = f"Summary until then: {self._summary}\n\n" if self._summary else ""
        asked = f"The question: {as_text(question.content)[:each]}\n\n{before}" + "\n\n".join(lines)
        request = ChatRequest(
            messages=(Message(role="system", content=prompts.SUM_UP), Message(role="user", content=asked)),
            model="fast",
        )
        work = self._job.work
        try:
            result = await work.models(step).chat(request, site=work.site)
        except NodeError as error:
            if error.kind == "budget_exceeded":
                raise
            return prompts.NOT_SUMMED, Usage(calls=0)  # the work can go on without it
        return result.text.strip() or prompts.NOT_SUMMED, result.usage

    # -- counting -----------------------------------------------------------------------------------------------------

    @property
    def _model(self) -> str:
        return self.facts.name if self.facts is not None else ""

    def _room(self) -> int | None:
        """Tokens for messages and tools; None where nothing is known of the model's context."""
        if self._learned is not None:
            return self._learned
        window = None if self.facts is None else self.facts.context_window
        if window is None:
            return None
        assert self.facts is not None
        longest = self._job.profile.how.max_tokens or self.facts.max_output or _RESERVE
        return window - min(longest, window // 4)

    def _size(self, messages: Sequence[Message]) -> int:
        return sum(map(self._count, messages))

    def _count(self, message: Message) -> int:
        known = self._counts.get(id(message))
        if known is None:
            # The message is held, so that no other one gets its identity.
            known = self._counts[id(message)] = (
                message,
                tokens.count_messages([message.wire()], self._model),
            )
        return known[1]


def _at_most(messages: Sequence[Message]) -> int:
    """More tokens than these messages have: none is shorter than a byte."""
    total = 0
    for message in messages:
        content = message.content
        if isinstance(content, list):
            total += sum(len(str(part.get("text", "")).encode()) + _IMAGE for part in content)
        elif content:
            total += len(content) if content.isascii() else len(content.encode())
        total += _OVERHEAD + sum(
            len(c.name) + len(c.arguments.encode()) + _OVERHEAD for c in message.tool_calls
        )
    return total


def _as_line(message: Message) -> str:
    calls = ", ".join(f"{call.name}({call.arguments})" for call in message.tool_calls)
    return " ".join(part for part in (as_text(message.content), f"calls {calls}" if calls else "") if part)
