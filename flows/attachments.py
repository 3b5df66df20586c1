"""Attachments of a question as text: what a model reads of documents, whatever their format."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from interlace.engine.errors import NodeError
from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.rendering import to_markdown
from interlace.resources.models.attachments import fenced

_MOST = 60_000
"""Characters of one file."""
_TOTAL = 200_000


def is_image(file: Mapping[str, Any]) -> bool:
    """Whether a file is given to the model as it is."""
    return str(file.get("media_type", "")).startswith("image/")


async def with_texts(
    message: str,
    files: Sequence[Mapping[str, Any]],
    load: Callable[[str], Awaitable[bytes]],
    extractor: Extractor,
) -> str:
    """The message followed by the texts of its files; one that cannot be read says why."""
    parts, left = [message], _TOTAL
    for file in files:
        if is_image(file):
            continue
        name = str(file["name"])
        try:
            found = await extractor.extract(
                await load(str(file["ref"])), name=name, media_type=str(file["media_type"])
            )
            text = to_markdown(found.blocks)
        except NodeError as error:
            text = f"(this file cannot be read: {error.message})"
        most = min(_MOST, left)
        if len(text) > most:
            text = f"{text[:most]}\n(cut: the file has {len(text):,} characters)"
        left = max(left - len(text), 0)
        parts.append(fenced(text, "file", name=name))
    return "\n\n".join(part for part in parts if part)
