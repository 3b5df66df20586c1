"""What a scripted server answers: rules that look at a request, and replies that are given in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Call(_Part):
    """A tool call that the model asks for."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    """An object, or a text that is sent as it is (broken JSON, …)."""
    id: str | None = None


class Used(_Part):
    """Tokens as the server reports them; counted where not given."""

    input: int | None = None
    output: int | None = None
    cached: int = 0
    reasoning: int = 0


class Reply(_Part):
    """One answer, or one fault."""

    text: str | None = None
    data: Any = None
    """Sent as JSON text."""
    tool_calls: list[Call] = Field(default_factory=list)
    refusal: str | None = None
    reasoning: str | None = None
    """A chain of thought, sent as `reasoning_content` as many servers do."""
    finish_reason: str | None = None
    model: str | None = None
    """Another model's name in the answer."""
    usage: Used = Field(default_factory=Used)
    no_usage: bool = False
    """Leave the usage out, as some servers do."""

    status: int = 200
    error: str | None = None
    """Message of an error; the status' own when None."""
    code: str | None = None
    param: str | None = None
    retry_after: float | None = None
    """Seconds, sent as Retry-After."""
    body: str | None = None
    """A body that is sent as it is: broken JSON, an error page."""
    media_type: str = "application/json"

    delay: float = 0.0
    """Seconds before the first byte."""
    chunk_delay: float = 0.0
    """Seconds between the chunks of a stream."""
    chunk_size: int = Field(12, ge=1)
    """Characters in a chunk of a stream."""
    cut: int | None = None
    """Break the connection off in the middle of a chunk, after so many whole ones."""
    no_done: bool = False
    """End a stream without `[DONE]` and without its last chunks."""

    @property
    def content(self) -> str | None:
        """The text, be it given as text or as data."""
        return orjson.dumps(self.data).decode() if self.data is not None else self.text


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server understood it."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, in the chat format whatever the endpoint."""
        if self.path.endswith("/responses"):
            from interlace.resources.models.testing.responses import messages_of  # noqa: PLC0415 - it imports this

            return messages_of(self.body)
        found: list[dict[str, Any]] = self.body.get("messages", [])
        return found

    @property
    def system(self) -> str:
        """All instructions, joined."""
        return "\n".join(
            text_of(message) for message in self.messages if message.get("role") in {"system", "developer"}
        )

    @property
    def user(self) -> str:
        """The last message of the user."""
        found = [text_of(message) for message in self.messages if message.get("role") == "user"]
        return found[-1] if found else ""

    @property
    def turn(self) -> int:
        """How many answers the conversation holds already."""
        return sum(message.get("role") == "assistant" for message in self.messages)

    @property
    def has_tool_result(self) -> bool:
        """Whether the conversation ends with the result of a tool."""
        return bool(self.messages) and self.messages[-1].get("role") == "tool"


class Match(_Part):
    """What a rule looks at; all that is given must hold."""

    user: str | None = None
    """A part of the last user message."""
    user_pattern: str | None = None
    """A regular expression that is searched in it."""
    system: str | None = None
    model: str | None = None
    turn: int | None = None
    has_tool_result: bool | None = None
    has_tools: bool | None = None
    format: str | None = None
    """`text`, `json_object` or `json_schema`."""

    def holds(self, asked: Asked) -> bool:
        """Whether a request is meant."""
        texts = [(self.user, asked.user), (self.system, asked.system)]
        facts: list[tuple[Any, Any]] = [
            (self.model, asked.model),
            (self.turn, asked.turn),
            (self.has_tool_result, asked.has_tool_result),
            (self.has_tools, bool(asked.body.get("tools"))),
            (self.format, format_of(asked.body)),
        ]
        return (
            all(wanted is None or wanted in found for wanted, found in texts)
            and all(wanted is None or wanted == found for wanted, found in facts)
            and (self.user_pattern is None or re.search(self.user_pattern, asked.user) is not None)
        )


Answering = Callable[[Asked], "Reply | str | dict[str, Any]"]


class Rule(_Part):
    """Replies to the requests that match: one after the other, the last one again and again."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    when: Match = Field(default_factory=Match)
    reply: Reply | list[Reply] | Answering
    times: int | None = Field(None, ge=1)
    """After so many answers the rule matches no more; a list of replies ends by itself where this is its length."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        """`reply: text` stands for `reply: {text: …}`, in lists too."""
        if isinstance(data, Mapping) and "reply" in data:
            reply = data["reply"]
            listed = [_written(entry) for entry in reply] if isinstance(reply, list) else _written(reply)
            return {**data, "reply": listed}
        return data

    def answer(self, asked: Asked, given: int) -> Reply:
        """The reply number `given`, counted from 0."""
        if isinstance(self.reply, list):
            return self.reply[min(given, len(self.reply) - 1)]
        if isinstance(self.reply, Reply):
            return self.reply
        return _reply(self.reply(asked))


class Script(_Part):
    """Everything a server answers."""

    models: list[str] = Field(default_factory=lambda: ["scripted", "scripted-mini", "scripted-embedding"])
    api_key: str | None = None
    """Requests with another key get 401; None takes every key, and none."""
    dimensions: int = Field(64, ge=1, le=4096)
    """Length of the embeddings, where the request names none."""
    rules: list[Rule] = Field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Script:
        """Read a script in YAML or JSON.

        Raises:
            ValueError: it is no script; the message names the field.
        """
        return cls.model_validate(yaml.safe_load(path.read_text("utf-8")))


def _written(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _reply(value: Reply | str | dict[str, Any]) -> Reply:
    return value if isinstance(value, Reply) else Reply.model_validate(_written(value))


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def format_of(body: Mapping[str, Any]) -> str:
    """Which response format a request asks for."""
    wanted = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    return str(wanted.get("type", "text"))
