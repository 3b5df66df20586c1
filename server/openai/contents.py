"""Messages of clients as entries of a conversation."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from interlace.flows.stateless import Entry, GivenFile
from interlace.server.openai.errors import WireError

MAX_FILES: Final = 20
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,", re.ASCII)
_TEXTS = frozenset({"text", "input_text", "output_text"})


def wrong(param: str, message: str) -> WireError:
    """A message that cannot be read."""
    return WireError(400, message, code="invalid_value", param=param)


def chat_entries(messages: Sequence[Any]) -> tuple[str, list[Entry]]:
    """What the application says to the model, and the conversation.

    Raises:
        WireError: a message has a form that is not read.
    """
    told: list[str] = []
    found: list[Entry] = []
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        if not isinstance(message, Mapping):
            raise wrong(where, "a message is an object with a role")
        role = message.get("role")
        text, files = read_content(message.get("content"), f"{where}.content")
        if role in ("system", "developer"):
            told.append(text)
        elif role == "user":
            name = message.get("name")
            found.append(Entry(role="user", text=f"{name}: {text}" if name else text, files=files))
        elif role == "assistant":
            calls = tuple(
                _call(call, f"{where}.tool_calls.{n}")
                for n, call in enumerate(message.get("tool_calls") or ())
            )
            found.append(Entry(role="assistant", text=text, calls=calls))
        elif role == "tool":
            call_id = message.get("tool_call_id")
            if not isinstance(call_id, str) or not call_id:
                raise wrong(
                    f"{where}.tool_call_id", "a message of a tool names the call that it is the result of"
                )
            found.append(Entry(role="tool", text=text, call_id=call_id))
        else:
            raise wrong(
                f"{where}.role", f"no role {role!r}; there are system, developer, user, assistant and tool"
            )
    _check_results(found)
    return "\n\n".join(text for text in told if text), found


def _check_results(entries: Sequence[Entry]) -> None:
    open_calls: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.role == "assistant":
            open_calls = {str(call["id"]) for call in entry.calls}
        elif entry.role == "tool" and entry.call_id not in open_calls:
            raise wrong(
                f"messages.{index}",
                "messages with role 'tool' must follow a message with the 'tool_calls' they answer",
            )


def _call(call: Any, where: str) -> Mapping[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(call.get("id"), str):
        raise wrong(where, "a tool call has an id, the type function, and a function with name and arguments")
    return {"id": call["id"], "name": function.get("name"), "arguments": function.get("arguments")}


def read_content(content: Any, where: str) -> tuple[str, tuple[GivenFile, ...]]:
    """The text and the files of a content.

    Raises:
        WireError: it has a part that is not read.
    """
    if content is None or isinstance(content, str):
        return content or "", ()
    if not isinstance(content, list):
        raise wrong(where, "content is a text or a list of parts")
    texts: list[str] = []
    files: list[GivenFile] = []
    for index, part in enumerate(content):
        at = f"{where}.{index}"
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in _TEXTS:
            texts.append(str(part.get("text") or ""))
        elif kind == "refusal":
            texts.append(str(part.get("refusal") or ""))
        elif kind in ("image_url", "input_image"):
            files.append(_image(part, at))
        elif kind in ("file", "input_file"):
            files.append(_file(part.get("file", part), at))
        else:
            raise wrong(f"{at}.type", f"parts of type {kind!r} are not read; text, images and files are")
    if len(files) > MAX_FILES:
        raise wrong(where, f"{len(files)} files are too many; {MAX_FILES} are allowed in a message")
    return "\n".join(texts), tuple(files)


def _image(part: Mapping[str, Any], where: str) -> GivenFile:
    given = part.get("image_url")
    url = given.get("url") if isinstance(given, Mapping) else given
    file = _from_data_url(url, "image", where)
    if not file.media_type.startswith("image/"):
        raise wrong(where, f"{file.media_type} is no image")
    return file


def _file(given: Any, where: str) -> GivenFile:
    if not isinstance(given, Mapping) or not given.get("file_data"):
        raise wrong(
            where,
            "files are read from `file_data`, a data URL; ids and addresses of files are not known here",
        )
    return _from_data_url(given["file_data"], str(given.get("filename") or "file"), where)


def _from_data_url(url: Any, name: str, where: str) -> GivenFile:
    match = _DATA_URL.match(url) if isinstance(url, str) else None
    if match is None:
        raise wrong(
            where,
            "send the content itself as a data URL (data:image/png;base64,…): this server fetches nothing for a message",
        )
    try:
        content = base64.b64decode(url[match.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise wrong(where, "the data URL holds no base64") from None
    kind = match[1] or "application/octet-stream"
    return GivenFile(
        name=name if "." in name else f"{name}.{kind.rpartition('/')[2]}", media_type=kind, content=content
    )
