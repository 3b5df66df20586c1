"""What a prompt is made of, by where each part comes from: bytes, by which its tokens are told apart afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from interlace.engine.chat import Message, ToolSpec
from interlace.resources.models.prompting import as_text


def sizes_of(
    messages: Sequence[Message], opening: Sequence[Message], notes: Sequence[str], tools: Sequence[ToolSpec]
) -> dict[str, int]:
    """Bytes by source: `system`, `stubs` (in the system prompt), `tools`, `history`, `question`, `turns`, `results`, `said`.

    Args:
        messages: what is sent, before it takes another form for a model without tools.
        opening: what the conversation began with: instructions, what was said before, the question.
        notes: the sections of the instructions that belong to tools.
        tools: what the model is told of.
    """
    history = {id(message) for message in opening[1:-1]}
    question = id(opening[-1]) if len(opening) > 1 else 0
    found: dict[str, int] = {}
    for message in messages:
        if message.role == "system":
            source = "system"
        elif message.role == "tool":
            source = "results"
        elif id(message) in history:
            source = "history"
        elif id(message) == question:
            source = "question"
        else:
            source = "turns" if message.role == "assistant" else "said"
        found[source] = found.get(source, 0) + _size(message)
    stubs = min(sum(len(note.encode()) for note in notes), found.get("system", 0))
    if stubs:
        found["stubs"] = stubs
        found["system"] -= stubs
    if tools:
        found["tools"] = len(orjson.dumps([tool.wire() for tool in tools]))
    return found


def _size(message: Message) -> int:
    calls = sum(len(call.name) + len(call.arguments.encode()) for call in message.tool_calls)
    return len(as_text(message.content).encode()) + calls
