"""Conversations as data: the path to a message, what a model reads of it, what a run gave as an answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from interlace.engine.document import Document
from interlace.engine.errors import InterlaceError
from interlace.engine.events import Event
from interlace.resources.models.attachments import fenced
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.sessions import Message

MAX_TEXT = 200_000
"""Characters of one message of a user."""
_MAX_HISTORY = 400
"""Messages that a turn is given of what was said before; the newest."""
_TITLE = 80
ASKED: Final = "asked"
"""In a question's data: what it asks for besides its text (`system`, `tools`, `inputs`, what an agent's node takes)."""

SAID: Final = "said"
"""In an answer's data: what was said to it while it was made, and it took up."""


class BadMessage(InterlaceError):  # noqa: N818 - what it says
    """A message that cannot be asked."""

    code = "bad_request"


def path_to(messages: Iterable[Message], message_id: str | None) -> list[Message]:
    """The messages from the first one to this one, along its branch."""
    known = {message.id: message for message in messages}
    found: list[Message] = []
    while message_id is not None and (message := known.get(message_id)) is not None:
        found.append(message)
        message_id = message.parent_id
    return found[::-1]


def history_of(path: Sequence[Message], *, tools: bool = False) -> list[dict[str, Any]]:
    """What was said before, as `{role, content}`; answers that nobody got are left out with their questions' places kept.

    With `tools` answers have the names of the tools that were used for them besides, where there are any.
    """
    found: list[dict[str, Any]] = []
    for message in path[-_MAX_HISTORY:]:
        if found and message.role == "assistant" and message.data.get(SAID):
            found[-1] = {**found[-1], "content": with_said(found[-1]["content"], message)}
        names = ", ".join(str(file.get("name")) for file in message.files)
        text = f"{message.content}\n[attached: {names}]" if names else message.content
        if message.role == "user" or text:
            found.append({"role": message.role, "content": text.strip()})
            if tools and (used := _used(message)):
                found[-1]["tools"] = used
    return found


def _used(message: Message) -> list[str]:
    calls = message.data.get("tool_calls")
    names = (
        [call.get("name") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    )
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]


def with_said(question: str, answer: Message) -> str:
    """A question with what was said to its answer while that was made."""
    return "\n\n".join([question, *answer.data.get(SAID, ())])


def turn_inputs(document: Document, path: Sequence[Message]) -> dict[str, Any]:
    """The inputs of the turn that answers the last message of a path, as far as the document takes them."""
    question = path[-1]
    asked = question.data.get(ASKED, {})
    schema = document.inputs
    entry = schema.get("properties", {}).get("history", {}).get("items", {})
    tools = isinstance(entry, Mapping) and "tools" in entry.get("properties", {})
    history = history_of(path[:-1], tools=tools)
    if (told := asked.get("system")) and "system" not in schema.get("properties", {}):
        # Said by whoever asks, so it stands where what they say stands: never above an agent's own instructions.
        history = [{"role": "user", "content": fenced(told, "instructions")}, *history[2 - _MAX_HISTORY :]]
    own = {name: asked[name] for name in ("system", "tools") if name in asked}
    given = {
        **asked.get("inputs", {}), **own, "message": question.content, "history": history, "files": question.files,
    }  # fmt: skip
    declared = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        return {name: value for name, value in given.items() if name in declared}
    if "system" not in declared:
        given.pop("system", None)
    return {name: value for name, value in given.items() if name in declared or value}


def variables_of(document: Document, path: Sequence[Message]) -> dict[str, Any]:
    """The conversation variables as the last answer of a path left them."""
    names = session_variables(document)
    last = next((message for message in reversed(path) if "variables" in message.data), None)
    kept = {} if last is None else last.data["variables"]
    return {name: kept[name] for name in names if name in kept}


def session_variables(document: Document) -> list[str]:
    """The variables whose values last as long as a conversation."""
    return [name for name, variable in document.variables.items() if variable.scope == "session"]


def answer_text(outputs: Mapping[str, Any]) -> str:
    """What a session shows of a workflow's outputs: `answer`, else the only one that there is, else all as JSON."""
    if "answer" in outputs:
        value = outputs["answer"]
    elif len(outputs) == 1:
        value = next(iter(outputs.values()))
    else:
        value = dict(outputs)
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def streamed_text(events: Iterable[Event]) -> str:
    """What was streamed of an answer that did not come to its end."""
    texts: dict[str, list[str]] = {}
    for event in events:
        if event.type != "node.delta":
            continue
        pieces = texts.setdefault(event.path, [])
        if event.data.get("restart"):
            pieces.clear()
        pieces.append(str(event.data.get("text", "")))
    return "".join("".join(pieces) for pieces in texts.values())


def taken_up(events: Iterable[Event]) -> set[str]:
    """The ids of what was said to the run and taken up by it."""
    return {str(taken) for event in events for taken in event.data.get("injected", ())}


def first_title(text: str) -> str:
    """A title out of the first question."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"


def check_question(text: str, files: Sequence[str]) -> None:
    """Whether there is something to ask, and not too much.

    Raises:
        BadMessage: there is not.
    """
    if not text.strip() and not files:
        raise BadMessage("the message is empty")
    if len(text) > MAX_TEXT:
        raise BadMessage(
            f"the message has {len(text):,} characters; {MAX_TEXT:,} are allowed: attach it as a file"
        )


def check_place(message: Message | None, message_id: str) -> None:
    """Whether something may be asked after a message.

    Raises:
        NotFoundError, ConflictError: it may not.
    """
    if message is None:
        raise NotFoundError(f"no message {message_id!r}")
    if message.role != "assistant":
        raise ConflictError("something is asked after an answer; edit the question to ask it in other words")
    if message.status == "running":
        raise ConflictError(
            "the answer before is being made; wait for it, cancel it, or say more to it with inject"
        )
