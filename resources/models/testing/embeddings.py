"""`/v1/embeddings`: vectors made of the words of a text, so that texts with words in common are near each other."""

from __future__ import annotations

import base64
import hashlib
import math
import struct
import unicodedata
from collections.abc import Iterator
from typing import Any

from interlace.resources.models import tokens
from interlace.resources.models.testing.script import Asked, Script


def refused(asked: Asked) -> tuple[str, str] | None:
    """What OpenAI would find wrong with a request, and in which field."""
    given = asked.body.get("input")
    if not given or any(not entry for entry in _texts(given)):
        return "'$.input' is invalid: it must be a text, or a list of texts, none of them empty.", "input"
    return None


def whole(asked: Asked, script: Script) -> dict[str, Any]:
    """The vectors of all texts, as numbers or in base64."""
    texts = _texts(asked.body["input"])
    size = int(asked.body.get("dimensions") or script.dimensions)
    coded = asked.body.get("encoding_format") == "base64"
    used = sum(tokens.count(text) for text in texts)
    return {
        "object": "list",
        "model": asked.model,
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": _base64(vector(text, size)) if coded else vector(text, size),
            }
            for index, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def vector(text: str, size: int) -> list[float]:
    """The vector of a text: of length 1, the same for the same words in whatever order."""
    found = [0.0] * size
    for word in _words(text):
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        number = int.from_bytes(digest[:4], "big")
        found[number % size] += 1.0 if digest[4] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in found))
    return [value / length for value in found] if length else [1.0, *found[1:]]


def _words(text: str) -> Iterator[str]:
    """Words, and every letter of scripts that write without spaces."""
    word = ""
    for letter in unicodedata.normalize("NFKC", text).lower() + " ":
        if letter.isalnum() and letter.isascii():
            word += letter
            continue
        if word:
            yield word
        word = ""
        if letter.isalnum():
            yield letter


def _texts(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    if given and isinstance(given[0], int):  # one text as tokens
        return [tokens.encoding().decode(given)]
    return [entry if isinstance(entry, str) else tokens.encoding().decode(entry) for entry in given]


def _base64(values: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
