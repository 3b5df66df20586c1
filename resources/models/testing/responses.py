"""`/v1/responses` as OpenAI writes it: whole and as a stream of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from interlace.resources.models.testing.made import Made
from interlace.resources.models.testing.script import Asked, Reply


def refused(asked: Asked) -> tuple[str, str] | None:
    """What OpenAI would find wrong with a request, and in which field."""
    if not asked.body.get("input"):
        return "Missing required parameter: 'input'.", "input"
    calls: set[Any] = set()
    for index, item in enumerate(asked.body["input"] if isinstance(asked.body["input"], list) else ()):
        if item.get("type") == "function_call":
            calls.add(item.get("call_id"))
        if item.get("type") == "function_call_output" and item.get("call_id") not in calls:
            return f"No tool call found for function call output with call_id {item.get('call_id')}.", (
                f"input[{index}]"
            )
    return None


def messages_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation of a request in the chat format."""
    found: list[dict[str, Any]] = []
    if body.get("instructions"):
        found.append({"role": "system", "content": body["instructions"]})
    given = body.get("input") or []
    if isinstance(given, str):
        return [*found, {"role": "user", "content": given}]
    for item in given:
        kind = item.get("type", "message")
        if kind == "function_call":
            function = {"name": item.get("name", ""), "arguments": item.get("arguments", "")}
            found.append({
                "role": "assistant", "content": None,
                "tool_calls": [{"id": item.get("call_id"), "type": "function", "function": function}],
            })  # fmt: skip
        elif kind == "function_call_output":
            found.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
        elif kind == "message":
            found.append({"role": item.get("role", "user"), "content": item.get("content")})
    return found


def whole(asked: Asked, reply: Reply, made: Made) -> dict[str, Any]:
    """The answer in one piece."""
    del reply
    short = made.finish_reason == "length"
    return {
        **_head(asked, made),
        "status": "incomplete" if short else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if short else None,
        "output": _items(made),
        "usage": {
            "input_tokens": made.input,
            "input_tokens_details": {"cached_tokens": made.cached},
            "output_tokens": made.output,
            "output_tokens_details": {"reasoning_tokens": made.thought},
            "total_tokens": made.input + made.output,
        },
    }


def events(asked: Asked, reply: Reply, made: Made) -> Iterator[dict[str, Any]]:
    """The answer as the events of a stream."""
    numbers = count()

    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "sequence_number": next(numbers), **data}

    started = {
        **_head(asked, made),
        "status": "in_progress",
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }
    yield event("response.created", response=started)
    yield event("response.in_progress", response=started)
    for index, item in enumerate(_items(made)):
        for kind, data in _of_item(item, made, reply.chunk_size):
            yield event(kind, output_index=index, **data)
    if not reply.no_done:
        done = whole(asked, reply, made)
        yield event(f"response.{done['status']}", response=done)


def _of_item(item: dict[str, Any], made: Made, size: int) -> Iterator[tuple[str, dict[str, Any]]]:
    here = {"item_id": item["id"]}
    if item["type"] == "function_call":
        yield "response.output_item.added", {"item": {**item, "arguments": "", "status": "in_progress"}}
        for piece in made.pieces(item["arguments"], size):
            yield "response.function_call_arguments.delta", {**here, "delta": piece}
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield "response.function_call_arguments.done", {**here, **done}
    else:
        yield "response.output_item.added", {"item": {**item, "content": [], "status": "in_progress"}}
        part = item["content"][0]
        place = {**here, "content_index": 0}
        field = "refusal" if part["type"] == "refusal" else "text"
        kind = "refusal" if field == "refusal" else "output_text"
        yield "response.content_part.added", {**place, "part": {**part, field: ""}}
        extra: dict[str, Any] = {"logprobs": []} if field == "text" else {}
        for piece in made.pieces(part[field], size):
            yield f"response.{kind}.delta", {**place, "delta": piece, **extra}
        yield f"response.{kind}.done", {**place, field: part[field], **extra}
        yield "response.content_part.done", {**place, "part": part}
    yield "response.output_item.done", {"item": item}


def _items(made: Made) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if made.refusal is not None:
        content: dict[str, Any] = {"type": "refusal", "refusal": made.refusal}
    else:
        content = {"type": "output_text", "text": made.text or "", "annotations": [], "logprobs": []}
    if made.text is not None or made.refusal is not None:
        found.append({
            "type": "message", "id": f"msg_{made.id}", "role": "assistant", "status": "completed", "content": [content],
        })  # fmt: skip
    found += [
        {
            "type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, "name": call.name,
            "arguments": call.arguments, "status": "completed",
        }
        for call in made.calls
    ]  # fmt: skip
    return found


def _head(asked: Asked, made: Made) -> dict[str, Any]:
    body = asked.body
    return {
        "id": f"resp_{made.id}",
        "object": "response",
        "created_at": made.created,
        "model": made.model,
        "error": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "truncation": "disabled",
    }
