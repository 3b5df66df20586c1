"""Long texts in pieces that a model can ask for one after the other."""

from __future__ import annotations

from typing import Any, Final

from interlace.engine.schema import Schema

PIECE: Final[Schema] = {
    "content": {"type": "string"}, "offset": {"type": "integer"}, "total": {"type": "integer"},
    "next_offset": {"type": ["integer", "null"]},
}  # fmt: skip
"""The fields of a piece: characters, and where the next one begins (null at the end)."""


def piece(text: str, offset: int, most: int) -> dict[str, Any]:
    """The piece of a text from `offset` on, cut at the end of a line where there is one near."""
    end = min(len(text), offset + most)
    if end < len(text):
        line = text.rfind("\n", offset + most * 3 // 4, end)
        end = line + 1 if line > offset else end
    following = end if end < len(text) else None
    return {"content": text[offset:end], "offset": offset, "total": len(text), "next_offset": following}


def with_note(found: dict[str, Any], head: str) -> str:
    """The piece as a model reads it, with where it goes on."""
    note = ""
    if found["next_offset"] is not None:
        note = f"\n\n[Characters {found['offset']:,} to {found['next_offset']:,} of {found['total']:,}; go on with offset {found['next_offset']}.]"
    return f"{head}{found['content']}{note}"
