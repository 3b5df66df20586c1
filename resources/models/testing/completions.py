"""`/v1/chat/completions` as OpenAI writes it: whole and as a stream of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlace.resources.models.testing.made import Made
from interlace.resources.models.testing.script import Asked, Reply, format_of, text_of

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def refused(asked: Asked) -> tuple[str, str] | None:
    """What OpenAI would find wrong with a request, and in which field; None where it would answer."""
    body = asked.body
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        return "Missing required parameter: 'messages'.", "messages"
    for index, message in enumerate(body["messages"]):
        where = f"messages[{index}]"
        if message.get("role") not in _ROLES:
            return f"Invalid value: {message.get('role')!r}. Supported values are roles.", f"{where}.role"
    if (lonely := _lonely_tool(body["messages"])) is not None:
        return (
            "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
            f"messages[{lonely}].role",
        )
    if format_of(body) == "json_object" and not any("json" in text_of(m).lower() for m in body["messages"]):
        return (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            "messages",
        )
    return None


def _lonely_tool(messages: list[dict[str, Any]]) -> int | None:
    """Index of a tool's result whose call no message before it made."""
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] == "tool" and message.get("tool_call_id") not in open_calls:
            return index
        if message["role"] == "assistant":
            open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    return None


def whole(asked: Asked, reply: Reply, made: Made) -> dict[str, Any]:
    """The answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": made.text, "refusal": made.refusal}
    if made.reasoning is not None:
        message["reasoning_content"] = made.reasoning
    if made.calls:
        message["tool_calls"] = [_call(made, index) for index in range(len(made.calls))]
    answer = {
        "id": made.id,
        "object": "chat.completion",
        "created": made.created,
        "model": made.model,
        "choices": [
            {"index": index, "message": message, "logprobs": None, "finish_reason": made.finish_reason}
            for index in range(int(asked.body.get("n") or 1))
        ],
    }
    if not reply.no_usage:
        answer["usage"] = usage(made, int(asked.body.get("n") or 1))
    return answer


def chunks(asked: Asked, reply: Reply, made: Made) -> Iterator[dict[str, Any]]:
    """The answer as the chunks of a stream, the one with the usage last where it was asked for."""
    wants_usage = bool((asked.body.get("stream_options") or {}).get("include_usage")) and not reply.no_usage
    count = int(asked.body.get("n") or 1)
    head = {"id": made.id, "object": "chat.completion.chunk", "created": made.created, "model": made.model}
    if wants_usage:
        head["usage"] = None
    for index in range(count):
        for delta in _deltas(made, reply.chunk_size):
            yield {
                **head,
                "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": None}],
            }
        if not reply.no_done:
            last = {"index": index, "delta": {}, "logprobs": None, "finish_reason": made.finish_reason}
            yield {**head, "choices": [last]}
    if wants_usage and not reply.no_done:
        yield {**head, "choices": [], "usage": usage(made, count)}


def _deltas(made: Made, size: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if made.calls and not made.text else "", "refusal": None}
    for piece in made.pieces(made.reasoning or "", size):
        yield {"reasoning_content": piece}
    for piece in made.pieces(made.text or "", size):
        yield {"content": piece}
    for piece in made.pieces(made.refusal or "", size):
        yield {"refusal": piece}
    for index, call in enumerate(made.calls):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
        for piece in made.pieces(call.arguments, size):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(made: Made, index: int) -> dict[str, Any]:
    call = made.calls[index]
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def usage(made: Made, count: int = 1) -> dict[str, Any]:
    """The tokens of an answer."""
    return {
        "prompt_tokens": made.input,
        "completion_tokens": made.output * count,
        "total_tokens": made.input + made.output * count,
        "prompt_tokens_details": {"cached_tokens": made.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": made.thought, "audio_tokens": 0},
    }
