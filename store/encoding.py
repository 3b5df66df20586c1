"""JSON as the store keeps it: exact, strict and quick.

What orjson writes is kept as it is. What it cannot write but JSON can (integers beyond 64 bits, deep nesting) is
written by the standard library behind one leading space, which tells the reader to use the standard library too:
orjson would read such integers as floats.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from interlace.engine.protocols import FileValue
from interlace.store.errors import NotJsonError

EXACT = b" "
_OPTIONS = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_CHUNK = 64 * 1024
_SAFE = (int, bool, type(None))
_LEAVE = object()
_LONE_SURROGATE = "the text has a lone surrogate (half a character)"


class Fault(NamedTuple):
    """Where and why a value is not JSON; `path` like `.items[3].when`."""

    path: str
    reason: str


def encode(value: Any) -> bytes:
    """The JSON text of a value in UTF-8.

    Raises:
        NotJsonError: it is not JSON: NaN, a key that is not text, an object without JSON form; the message names the
            place.
    """
    try:
        text = orjson.dumps(value, _plain, _OPTIONS)
    except orjson.JSONEncodeError:
        return _encode_exactly(value)
    # orjson writes NaN and infinities as null without a word; only a text with a null in it can hide one.
    if b"null" in text and (fault := find_fault(value)) is not None:
        raise not_json(fault)
    return text


def decode(text: str | bytes) -> Any:
    """The value of a text that `encode` wrote."""
    if text[:1] in (" ", EXACT):
        return json.loads(text)
    return orjson.loads(text)


def escape(text: str) -> Iterator[bytes]:
    """The JSON form of a long text, piece by piece, so that no second copy of it is made."""
    yield b'"'
    for start in range(0, len(text), _CHUNK):
        try:
            yield orjson.dumps(text[start : start + _CHUNK])[1:-1]
        except orjson.JSONEncodeError:
            raise not_json(Fault("", _LONE_SURROGATE)) from None
    yield b'"'


def not_json(fault: Fault, where: str = "") -> NotJsonError:
    """The error of a fault that stands in the part of the data which `where` names."""
    path = where + fault.path
    message = f"{path.removeprefix('.') or 'the value'}: {fault.reason}; only JSON values can be recorded"
    return NotJsonError(message, path=path, reason=fault.reason)


def find_fault(value: Any) -> Fault | None:
    """The first place at which a value is not JSON; None when it is."""
    stack: list[tuple[str, Any]] = [("", value)]
    inside: set[int] = set()
    while stack:
        path, item = stack.pop()
        if item is _LEAVE:
            inside.discard(int(path))
        elif isinstance(item, (dict, list, tuple)):
            if id(item) in inside:
                return Fault(path, "the value contains itself")
            inside.add(id(item))
            stack.append((str(id(item)), _LEAVE))
            if (fault := _push_items(stack, path, item)) is not None:
                return fault
        elif (reason := _scalar_fault(item)) is not None:
            return Fault(path, reason)
    return None


def _push_items(stack: list[tuple[str, Any]], path: str, item: Any) -> Fault | None:
    if not isinstance(item, dict):
        stack.extend(
            (f"{path}[{index}]", inner) for index, inner in enumerate(item) if type(inner) not in _SAFE
        )
        return None
    for key, inner in item.items():
        if type(key) is not str or not _is_text(key):
            return Fault(path, f"the key {key!r} ({type(key).__name__}) is not text")
        if type(inner) not in _SAFE:
            stack.append((f"{path}.{key}", inner))
    return None


def _scalar_fault(item: Any) -> str | None:
    if isinstance(item, str):
        return None if item.isascii() or _is_text(item) else _LONE_SURROGATE
    if isinstance(item, float):
        return None if math.isfinite(item) else f"{item!r} is not a JSON number"
    if isinstance(item, (*_SAFE, UUID, Enum, FileValue, orjson.Fragment, Mapping)):
        return None
    return f"a {type(item).__name__} has no JSON form"


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, FileValue):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(type(value).__name__)


def _encode_exactly(value: Any) -> bytes:
    try:
        if (fault := find_fault(value)) is not None:
            raise not_json(fault)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    except (RecursionError, MemoryError):
        raise not_json(Fault("", "it is nested too deeply, or contains itself")) from None
    except (TypeError, ValueError) as error:
        raise not_json(Fault("", str(error))) from None
    return EXACT + text.encode()
