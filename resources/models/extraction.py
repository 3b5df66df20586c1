"""JSON in what a model wrote: bare, in a fence, in a tag, or in the middle of a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from interlace.engine.json_text import STRICT

_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE: Final = re.compile(r"```[A-Za-z]*[ \t]*\n?(.*?)```", re.DOTALL)
_TAG: Final = re.compile(r"<(tool_call|json|answer|output)>(.*?)</\1>", re.DOTALL)
_START: Final = re.compile(r"[{\[]")
_TRIES: Final = 50
"""Places at which JSON is looked for within a text."""
_DECODER: Final = json.JSONDecoder(strict=False, **STRICT)


def candidates(text: str) -> Iterator[Any]:
    """The JSON values in a text, the likeliest first."""
    text = _THOUGHT.sub("", text).strip().removeprefix("\ufeff")
    parts = [text, *_FENCE.findall(text), *(found[1] for found in _TAG.findall(text))]
    for part in parts:
        found, value, end = _read(part.strip(), 0)
        if found and end == len(part.strip()):
            yield value
    place = 0
    for _ in range(_TRIES):
        start = _START.search(text, place)
        if start is None:
            return
        found, value, end = _read(text, start.start())
        if found:
            yield value
        place = end if found else start.start() + 1


def _read(text: str, start: int) -> tuple[bool, Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False, None, start
    return True, value, end
