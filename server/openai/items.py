"""Input items of the Responses API as entries of a conversation, and answers as its output items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from interlace.flows.stateless import Entry
from interlace.server.encoding import to_json
from interlace.server.openai.contents import read_content, wrong


def input_entries(given: Any) -> tuple[str, list[Entry]]:
    """What the application says to the model, and the conversation.

    Raises:
        WireError: an item has a form that is not read.
    """
    if isinstance(given, str):
        return "", [Entry(role="user", text=given)]
    if not isinstance(given, list):
        raise wrong("input", "the input is a text or a list of items")
    told: list[str] = []
    found: list[Entry] = []
    for index, item in enumerate(given):
        where = f"input.{index}"
        if not isinstance(item, Mapping):
            raise wrong(where, "an item is an object with a type")
        kind = item.get("type", "message")
        if kind == "message":
            _message(item, where, told, found)
        elif kind == "function_call":
            _call(item, where, found)
        elif kind == "function_call_output":
            text, _ = read_content(item.get("output"), f"{where}.output")
            if not isinstance(item.get("call_id"), str):
                raise wrong(f"{where}.call_id", "the output of a call names the call")
            found.append(Entry(role="tool", text=text, call_id=item["call_id"]))
        else:
            raise wrong(
                f"{where}.type",
                f"items of type {kind!r} are not read; message, function_call and function_call_output are",
            )
    return "\n\n".join(text for text in told if text), found


def _message(item: Mapping[str, Any], where: str, told: list[str], found: list[Entry]) -> None:
    text, files = read_content(item.get("content"), f"{where}.content")
    role = item.get("role")
    if role in ("system", "developer"):
        told.append(text)
    elif role == "user":
        found.append(Entry(role="user", text=text, files=files))
    elif role == "assistant":
        found.append(Entry(role="assistant", text=text))
    else:
        raise wrong(f"{where}.role", f"no role {role!r}; there are system, developer, user and assistant")


def _call(item: Mapping[str, Any], where: str, found: list[Entry]) -> None:
    """A call belongs to the message that it came with."""
    if not isinstance(item.get("call_id"), str):
        raise wrong(f"{where}.call_id", "a call has an id")
    call = {"id": item["call_id"], "name": item.get("name"), "arguments": item.get("arguments")}
    if found and found[-1].role == "assistant":
        last = found.pop()
        found.append(Entry(role="assistant", text=last.text, calls=(*last.calls, call)))
    else:
        found.append(Entry(role="assistant", calls=(call,)))


def message_item(answer: str, text: str, status: str = "completed") -> dict[str, Any]:
    """An answer as an output item."""
    return {
        "id": f"msg_{answer}", "type": "message", "status": status, "role": "assistant",
        "content": [text_part(text)] if status != "in_progress" else [],
    }  # fmt: skip


def text_part(text: str) -> dict[str, Any]:
    """The content of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def call_item(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call of the client's tool as an output item."""
    arguments = to_json(call["arguments"]).decode()
    return {
        "id": f"fc_{call['id']}", "type": "function_call", "status": "completed", "call_id": call["id"],
        "name": call["name"], "arguments": arguments,
    }  # fmt: skip


def output_items(answer: str, text: str, calls: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All output items of an answer."""
    made = [call_item(call) for call in calls]
    return [*([message_item(answer, text)] if text or not made else []), *made]


def events_of(answer: str, response: Mapping[str, Any], head: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of a finished response, as it would have been streamed in one piece."""
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": dict(head)},
        {"type": "response.in_progress", "response": dict(head)},
    ]
    output: Sequence[Mapping[str, Any]] = response["output"]
    for index, item in enumerate(output):
        if item["type"] == "message":
            text = item["content"][0]["text"]
            found += [
                *begin_message(answer, index),
                {
                    "type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                    "content_index": 0, "delta": text, "logprobs": [],
                },
                *end_message(answer, index, text),
            ]  # fmt: skip
        else:
            found += call_events(item, index)
    return found


def begin_message(answer: str, index: int) -> list[dict[str, Any]]:
    """The events before a text."""
    part = {"item_id": f"msg_{answer}", "output_index": index, "content_index": 0, "part": text_part("")}
    return [
        {
            "type": "response.output_item.added", "output_index": index,
            "item": message_item(answer, "", "in_progress"),
        },
        {"type": "response.content_part.added", **part},
    ]  # fmt: skip


def end_message(answer: str, index: int, text: str) -> list[dict[str, Any]]:
    """The events after a text."""
    head = {"item_id": f"msg_{answer}", "output_index": index, "content_index": 0}
    return [
        {"type": "response.output_text.done", **head, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **head, "part": text_part(text)},
        {"type": "response.output_item.done", "output_index": index, "item": message_item(answer, text)},
    ]


def call_events(item: Mapping[str, Any], index: int) -> list[dict[str, Any]]:
    """The events of a call."""
    head = {"item_id": item["id"], "output_index": index}
    return [
        {
            "type": "response.output_item.added", "output_index": index,
            "item": {**item, "arguments": "", "status": "in_progress"},
        },
        {"type": "response.function_call_arguments.delta", **head, "delta": item["arguments"]},
        {
            "type": "response.function_call_arguments.done", **head, "arguments": item["arguments"],
            "name": item["name"],
        },
        {"type": "response.output_item.done", "output_index": index, "item": dict(item)},
    ]  # fmt: skip
