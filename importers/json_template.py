"""JSON text with expressions in it as a JSON value whose texts hold the expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.expressions import Part, Ref, grouped, literal, mixed

_MARK: Final = re.compile("\ue000(\\d+)\ue001")


def json_template(parts: Sequence[Part]) -> Any:
    """The value, or None where the text around the expressions is no JSON.

    An expression inside a JSON text becomes part of that text; one that stands where a value stands is the value. A text
    that stands there is JSON itself, as the other products put it there before they read the whole.
    """
    refs: list[Ref] = []
    written = ""
    for part in parts:
        if isinstance(part, str):
            written += part
            continue
        inside = _inside_text(written)
        refs.append(part if inside else _value(part))
        mark = f"\ue000{len(refs) - 1}\ue001"
        written += mark if inside else f'"{mark}"'
    if not written.strip() or _MARK.fullmatch(written.strip().strip('"')):
        return None
    try:
        value = json.loads(written, strict=False)
    except (ValueError, RecursionError):
        return None
    return _restored(value, refs) if isinstance(value, dict | list) else None


def _value(part: Ref) -> Ref:
    bare = part.code.removesuffix(" | tojson")
    if bare == part.code and (part.is_text or part.written):
        return Ref(f"{grouped(bare)} | fromjson")
    return Ref(bare)


def _inside_text(written: str) -> bool:
    inside = escaped = False
    for letter in written:
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = inside
        elif letter == '"':
            inside = not inside
    return inside


def _restored(value: Any, refs: Sequence[Ref]) -> Any:
    if isinstance(value, dict):
        return {_words(key, refs): _restored(inner, refs) for key, inner in value.items()}
    if isinstance(value, list):
        return [_restored(inner, refs) for inner in value]
    return _words(value, refs) if isinstance(value, str) else value


def _words(words: str, refs: Sequence[Ref]) -> str:
    if "\ue000" not in words:
        return literal(words)
    pieces: list[Part] = []
    for index, piece in enumerate(_MARK.split(words)):
        pieces.append(refs[int(piece)] if index % 2 else piece)
    return mixed(pieces)
