"""Images and files as parts of a message."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from interlace.engine.errors import NodeError

Load = Callable[[str], Awaitable[bytes]]

_MOST: Final = 20 * 1024 * 1024
_TEXTS: Final = frozenset({
    "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/x-ndjson",
})  # fmt: skip


def listed(value: Any) -> Any:
    """One attachment may stand without a list."""
    written = isinstance(value, str) and "{{" in value
    return value if value is None or written or isinstance(value, list) else [value]


async def image_part(value: Any, load: Load) -> dict[str, Any]:
    """An image: a file value, or an https or data URL, which the provider reads.

    Raises:
        NodeError: `bad_attachment`.
    """
    if isinstance(value, str) and value.startswith(("https://", "data:image/")):
        return {"type": "image_url", "image_url": {"url": value}}
    file = _file(value)
    if not file["media_type"].startswith("image/"):
        raise _bad(f"{file['name']!r} is {file['media_type']}, no image; give it in 'files'")
    return {"type": "image_url", "image_url": {"url": await _data_url(file, load)}}


async def file_part(value: Any, load: Load) -> dict[str, Any]:
    """A file: images and PDF as they are, texts as text.

    Raises:
        NodeError: `bad_attachment`.
    """
    file = _file(value)
    kind = file["media_type"].partition(";")[0]
    if kind.startswith("image/"):
        return await image_part(value, load)
    if kind == "application/pdf":
        content = {"filename": file["name"], "file_data": await _data_url(file, load)}
        return {"type": "file", "file": content}
    if kind.startswith("text/") or kind in _TEXTS:
        text = (await _content(file, load)).decode("utf-8-sig", "replace")
        return {"type": "text", "text": fenced(text, "file", name=str(file["name"]))}
    raise _bad(f"{file['name']!r} is {kind}; make it text with DOCUMENT_EXTRACTOR first")


def fenced(text: str, tag: str, **attributes: str) -> str:
    """A text of somebody else between tags, which it cannot close itself."""
    named = "".join(f' {name}="{value.replace(chr(34), "")}"' for name, value in attributes.items())
    inside = text.replace(f"</{tag}", f"<\\/{tag}")
    return f"<{tag}{named}>\n{inside}\n</{tag}>"


async def parts(images: Sequence[Any], files: Sequence[Any], load: Load) -> list[dict[str, Any]]:
    """The parts of all images and files, in their order.

    Raises:
        NodeError: `bad_attachment`.
    """
    found = [await image_part(value, load) for value in images]
    return found + [await file_part(value, load) for value in files]


def _file(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping) and {"ref", "media_type", "name"} <= set(value):
        return value
    raise _bad("an attachment is a file value, or for images an https or data URL")


async def _content(file: Mapping[str, Any], load: Load) -> bytes:
    if int(file.get("size") or 0) > _MOST:
        raise _bad(f"{file['name']!r} has {file['size']:,} bytes; models take up to {_MOST:,}")
    return await load(str(file["ref"]))


async def _data_url(file: Mapping[str, Any], load: Load) -> str:
    content = base64.b64encode(await _content(file, load)).decode()
    return f"data:{file['media_type']};base64,{content}"


def _bad(message: str) -> NodeError:
    return NodeError(message, kind="bad_attachment", retryable=False)
