"""A reply as it stands after the limits of its request: cut, stopped, with its usage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from interlace.resources.models import tokens
from interlace.resources.models.testing.script import Asked, Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A tool call as it goes over the wire."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What is sent, whatever the endpoint's format."""

    id: str
    created: int
    model: str
    text: str | None
    calls: tuple[MadeCall, ...]
    refusal: str | None
    reasoning: str | None
    finish_reason: str
    input: int
    output: int
    cached: int
    thought: int

    def pieces(self, text: str, size: int) -> Iterator[str]:
        """A text in the chunks of a stream."""
        for start in range(0, len(text), size):
            yield text[start : start + size]


def make(asked: Asked, reply: Reply, number: int, created: int) -> Made:
    """Apply `max_tokens` and `stop` of the request to a reply."""
    text, reason = reply.content, "stop"
    calls = tuple(
        MadeCall(
            id=call.id or f"call_{number}_{index}",
            name=call.name,
            arguments=call.arguments
            if isinstance(call.arguments, str)
            else orjson.dumps(call.arguments).decode(),
        )
        for index, call in enumerate(reply.tool_calls)
    )
    if text is not None:
        text = _stopped(text, asked.body.get("stop"))
        most = _most(asked.body)
        if most is not None and tokens.count(text) > most:
            text, reason = tokens.first(text, most), "length"
    if calls and reason == "stop":
        reason = "tool_calls"
    usage = reply.usage
    spent = tokens.count(text or reply.refusal or "") + sum(
        tokens.count(call.name) + tokens.count(call.arguments) for call in calls
    )
    return Made(
        id=f"scripted-{number}",
        created=created,
        model=reply.model or asked.model,
        text=text,
        calls=calls,
        refusal=reply.refusal,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason or reason,
        input=_asked(asked) if usage.input is None else usage.input,
        output=spent + usage.reasoning if usage.output is None else usage.output,
        cached=usage.cached,
        thought=usage.reasoning,
    )


def _asked(asked: Asked) -> int:
    return tokens.count_messages(asked.messages, tools=asked.body.get("tools") or ())


def _most(body: Mapping[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
        if body.get(name) is not None:
            return int(body[name])
    return None


def _stopped(text: str, stop: Any) -> str:
    for end in [stop] if isinstance(stop, str) else stop or ():
        text = text.partition(end)[0]
    return text
