"""The conversation of one loop, in the form of native tool calling whatever the model can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from interlace.agents.loop.observation import Observation
from interlace.engine.chat import Message, ToolCall
from interlace.resources.models.extraction import candidates


@dataclass(slots=True)
class Entry:
    """One message after the question; `observation` is set for results of tools, `kept` for what the user said since."""

    message: Message
    observation: Observation | None = None
    kept: bool = False


class Conversation:
    """What has been said: instructions, what was said before, the question, and all that followed."""

    def __init__(self, opening: Sequence[Message]) -> None:
        self.opening = list(opening)
        self.entries: list[Entry] = []

    def say(self, message: Message, *, kept: bool = False) -> None:
        """Add a message; one that is `kept` is shown to the model whatever else is left out."""
        self.entries.append(Entry(message, kept=kept))

    def observe(self, observations: Iterable[Observation]) -> None:
        """Add results of tools."""
        self.entries.extend(Entry(found.message(), found) for found in observations)

    def messages(self) -> list[Message]:
        """All of it."""
        return [*self.opening, *(entry.message for entry in self.entries)]

    def last_said(self) -> str:
        """The newest text of the model."""
        for entry in reversed(self.entries):
            message = entry.message
            if message.role == "assistant" and isinstance(message.content, str) and message.content.strip():
                return message.content
        return ""

    def plain(self) -> tuple[dict[str, Any], ...]:
        """Question, calls, results and answer in the chat wire format; files as the places where they stood."""
        question = [message for message in self.opening[-1:] if message.role == "user"]
        said = (*question, *(entry.message for entry in self.entries))
        return tuple({**message.wire(), "content": _without_files(message.content)} for message in said)


def _without_files(content: str | list[dict[str, Any]] | None) -> Any:
    if not isinstance(content, list):
        return content
    return [
        part if part.get("type") == "text" else {"type": "text", "text": f"[{part.get('type', 'file')}]"}
        for part in content
    ]


def as_json_turns(messages: Iterable[Message]) -> list[Message]:
    """The same conversation for a model without tools of its own: calls as JSON texts, results as messages to it."""
    found: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "tool":
            name = names.get(message.tool_call_id or "", "the tool")
            found.append(Message(role="user", content=f"Result of {name}:\n{message.content}"))
        elif message.tool_calls:
            for call in message.tool_calls:
                names[call.id] = call.name
                found.append(Message(role="assistant", content=_call_text(call)))
        else:
            found.append(message)
    return found


def _call_text(call: ToolCall) -> str:
    return f'{{"tool": {orjson.dumps(call.name).decode()}, "arguments": {call.arguments or "{}"}}}'


@dataclass(frozen=True, slots=True)
class Action:
    """One turn of a model that writes JSON: a call, or an answer; neither where it cannot be read."""

    answer: str | None = None
    tool: str | None = None
    arguments: str = "{}"


def action_of(text: str) -> Action:
    """What a turn in JSON asks for."""
    for value in candidates(text):
        if not isinstance(value, Mapping):
            continue
        tool, answer = value.get("tool"), value.get("answer")
        if isinstance(tool, str) and tool:
            given = value.get("arguments", {})
            arguments = given if isinstance(given, str) else orjson.dumps(given).decode()
            return Action(tool=tool, arguments=arguments)
        if answer is not None:
            return Action(answer=answer if isinstance(answer, str) else orjson.dumps(answer).decode())
    return Action()
