"""Questions as the chat API takes them, and its answers, whole or streamed, as results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from interlace.engine.chat import ChatRequest, ChatResult, Delta, Format, OnDelta, ToolCall, Usage
from interlace.engine.errors import NodeError
from interlace.resources.models.catalogue import Target
from interlace.resources.models.strictness import is_strict

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

_ORDER: Final[tuple[Format, ...]] = ("json_schema", "json_object", "text")
_NAME: Final = "answer"


@dataclass(slots=True)
class Habits:
    """What a model turned out to refuse; learned from its answers and kept while the process lives."""

    dropped: set[str] = field(default_factory=set)
    formats: set[Format] = field(default_factory=set)
    limit: str | None = None

    def format(self, target: Target) -> Format:
        """The strictest format that the model is thought to take."""
        can = target.model.can
        for name in _ORDER:
            known = name == "text" or can("json_schema" if name == "json_schema" else "json_mode")
            if known and name not in self.formats:
                return name
        return "text"

    def learn(self, sent: Mapping[str, Any], param: str | None, message: str) -> bool:
        """Note which part of a refused request is to blame; whether the request is worth another try without it."""
        for name in (
            "response_format",
            "temperature",
            "stream_options",
            "max_tokens",
            "max_completion_tokens",
        ):
            if name not in sent or not ((param or "").startswith(name) or (not param and name in message)):
                continue
            if name == "response_format":
                self.formats.add(sent[name]["type"])
            elif name.startswith("max_"):
                other = "max_completion_tokens" if name == "max_tokens" else "max_tokens"
                if other not in message:
                    return False  # the number is wrong, not the name
                self.limit = other
            else:
                self.dropped.add(name)
            return True
        return False


def options(request: ChatRequest, target: Target, habits: Habits, *, stream: bool) -> dict[str, Any]:
    """The arguments of `chat.completions.create`."""
    shape = habits.format(target) if request.output_schema is not None else "text"
    sent: dict[str, Any] = {"model": target.model.name, "messages": _messages(request, shape)}
    if request.tools:
        sent["tools"] = [tool.wire() for tool in request.tools]
        named = request.tool_choice not in {"auto", "none", "required"}
        choice = {"type": "function", "function": {"name": request.tool_choice}}
        sent["tool_choice"] = choice if named else request.tool_choice
    if shape == "json_schema":
        assert request.output_schema is not None
        schema = request.output_schema
        sent["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": _NAME, "schema": schema, "strict": is_strict(schema)},
        }
    elif shape == "json_object":
        sent["response_format"] = {"type": "json_object"}
    if request.temperature is not None and not target.model.can("reasoning"):
        sent["temperature"] = request.temperature
    if request.max_tokens is not None:
        most = min(request.max_tokens, target.model.max_output or request.max_tokens)
        sent[habits.limit or target.provider.definition.limit_parameter] = most
    if request.stop:
        sent["stop"] = list(request.stop)
    if stream:
        sent |= {"stream": True, "stream_options": {"include_usage": True}}
    return {name: value for name, value in sent.items() if name not in habits.dropped}


def _messages(request: ChatRequest, shape: Format) -> list[dict[str, Any]]:
    found = [message.wire() for message in request.messages]
    if request.output_schema is None or shape == "json_schema":
        return found
    schema = orjson.dumps(request.output_schema).decode()
    rule = f"Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{schema}"
    return [{"role": "system", "content": rule}, *found]


def format_of(sent: Mapping[str, Any]) -> Format:
    """The format that a request asks for."""
    found: Format = (sent.get("response_format") or {"type": "text"})["type"]
    return found


def read(answer: ChatCompletion) -> ChatResult:
    """A whole answer.

    Raises:
        NodeError: `bad_response`.
    """
    if not getattr(answer, "choices", None):
        raise NodeError("the answer is no chat completion", kind="bad_response", retryable=False)
    choice = answer.choices[0]
    said = choice.message
    calls = tuple(
        ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in said.tool_calls or ()
        if call.type == "function"
    )
    return ChatResult(
        text=said.content or "",
        tool_calls=calls,
        finish_reason=_reason(choice.finish_reason, calls),
        refusal=getattr(said, "refusal", None),
        reasoning=getattr(said, "reasoning_content", None),
        usage=_usage(answer.usage),
        model=answer.model or "",
    )


@dataclass(slots=True)
class Collected:
    """An answer that comes in pieces."""

    on_delta: OnDelta
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, list[str]] = field(default_factory=dict)
    """Id, name and arguments, by place."""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    def add(self, chunk: ChatCompletionChunk) -> None:
        """Take a chunk."""
        self.model = chunk.model or self.model
        if chunk.usage is not None:
            self.usage = _usage(chunk.usage)
        if not chunk.choices or chunk.choices[0].index:
            return
        choice = chunk.choices[0]
        self.finish_reason = choice.finish_reason or self.finish_reason
        delta = choice.delta
        text, thought = delta.content or "", getattr(delta, "reasoning_content", None) or ""
        if text:
            self.text.append(text)
        if thought:
            self.reasoning.append(thought)
        if delta.refusal:
            self.refusal.append(delta.refusal)
        for part in delta.tool_calls or ():
            call = self.calls.setdefault(part.index, ["", "", ""])
            call[0] = part.id or call[0]
            if part.function is not None:
                call[1] = part.function.name or call[1]
                call[2] += part.function.arguments or ""
        if text or thought:
            self.on_delta(Delta(text=text, reasoning=thought))

    def result(self) -> ChatResult:
        """The answer, once the stream has ended.

        Raises:
            NodeError: `connection`, the stream ended before the answer did.
        """
        if self.finish_reason is None:
            raise NodeError("the stream broke off before the answer was complete", kind="connection")
        calls = tuple(
            ToolCall(id=call_id or f"call_{index}", name=name, arguments=arguments)
            for index, (call_id, name, arguments) in sorted(self.calls.items())
        )
        return ChatResult(
            text="".join(self.text),
            tool_calls=calls,
            finish_reason=_reason(self.finish_reason, calls),
            refusal="".join(self.refusal) or None,
            reasoning="".join(self.reasoning) or None,
            usage=self.usage,
            model=self.model,
        )


def _reason(reason: str | None, calls: tuple[ToolCall, ...]) -> str:
    """Some servers say `stop` where they ask for calls, and `function_call` is of old."""
    if calls and reason in {None, "stop", "function_call"}:
        return "tool_calls"
    return reason or "stop"


def _usage(found: CompletionUsage | None) -> Usage:
    if found is None:
        return Usage()
    read_before, thought = found.prompt_tokens_details, found.completion_tokens_details
    asked = _count(found.prompt_tokens)
    return Usage(
        input_tokens=asked,
        output_tokens=_count(found.completion_tokens),
        cached_tokens=min(_count(read_before.cached_tokens if read_before else 0), asked),
        reasoning_tokens=_count(thought.reasoning_tokens if thought else 0),
    )


def _count(told: object) -> int:
    """A number of tokens as a server tells it: less than nothing would give budgets back what they spent."""
    return max(told, 0) if isinstance(told, int) else 0
