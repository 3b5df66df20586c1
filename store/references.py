"""Which parts of an event's data are kept apart: values above 8 KB stand in it as `{"$payload": ref, …}`.

A reference can stand at two places only: as a value of `data`, and as a value of one of its maps (`outputs`, …). A
user's own value that looks like a reference there is always kept apart, so that nobody can make up a reference.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import orjson

from interlace.store.encoding import EXACT, Fault, encode, not_json
from interlace.store.errors import NotJsonError
from interlace.store.payloads import Payloads, Stored

LIMIT = 8 * 1024
MAPS = frozenset({"outputs", "inputs", "variables", "results", "error"})
MARK = "$payload"
_MEMO_BYTES = 32 * 1024 * 1024
_PLAIN = frozenset({float, bool, type(None)})


class Memo:
    """Which long texts have which reference, by identity.

    Only texts: they cannot change, and a container that changed in place would be recorded as it was before. The
    texts are held, so that no other object gets their identity; the oldest are let go when they are too many.
    """

    def __init__(self, limit: int = _MEMO_BYTES) -> None:
        self._limit = limit
        self._entries: OrderedDict[int, tuple[str, orjson.Fragment]] = OrderedDict()
        self._size = 0

    def get(self, text: str) -> orjson.Fragment | None:
        """The reference of this very object."""
        entry = self._entries.get(id(text))
        return None if entry is None else entry[1]

    def put(self, text: str, reference: orjson.Fragment) -> None:
        """Remember a text; the newest is always held."""
        if id(text) in self._entries:
            return
        self._entries[id(text)] = (text, reference)
        self._size += len(text)
        while self._size > self._limit and len(self._entries) > 1:
            self._size -= len(self._entries.popitem(last=False)[1][0])


class Externalizer:
    """Encodes the data of one run's events and keeps its large values apart."""

    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads
        self._memo = Memo()
        self._exact = False
        self.fresh: list[Stored] = []
        """Payloads put since the caller last took them; to be linked to the run in the same commit."""

    def data(self, data: Mapping[str, Any]) -> bytes:
        """The text of an event's data.

        Raises:
            NotJsonError: it is not JSON; the message names the place.
        """
        self._exact = False
        parts: dict[str, Any] = {}
        for key, value in data.items():
            if key in MAPS and (type(value) is dict or isinstance(value, Mapping)) and MARK not in value:
                parts[key] = orjson.Fragment(self._map(value, f".{key}"))
            else:
                parts[key] = self._value(value, key, "")
        return self._join(parts, "")

    def map(self, values: Mapping[str, Any]) -> bytes:
        """The text of one map (the inputs of a run, …); raises as `data`."""
        self._exact = False
        text = self._map(values, "")
        return EXACT + text if self._exact else text

    def _map(self, values: Mapping[str, Any], where: str) -> bytes:
        parts = {key: self._value(value, key, where) for key, value in values.items()}
        exact, self._exact = self._exact, False
        text = self._join(parts, where)
        self._exact |= exact
        return text.lstrip(EXACT)

    def _join(self, parts: dict[str, Any], where: str) -> bytes:
        try:
            text = encode(parts)
        except NotJsonError as error:
            raise not_json(Fault(error.path, error.reason), where) from None
        return EXACT + text if self._exact else text

    def _value(self, value: Any, key: Any, where: str) -> Any:
        """What stands for a value: itself when it is short, its text, or a reference."""
        kind = type(value)
        if kind is str:
            return value if len(value) <= LIMIT else self._text(value, f"{where}.{key}")
        if kind in _PLAIN or (kind is int and -(2**63) <= value < 2**64):
            return value
        try:
            text = encode(value)
        except NotJsonError as error:
            raise not_json(Fault(error.path, error.reason), f"{where}.{key}") from None
        if len(text) > LIMIT or (kind is dict and MARK in value):
            return self._keep(
                self._payloads.put_bytes(text), "array" if text.lstrip(EXACT)[:1] == b"[" else "object"
            )
        if text[:1] == EXACT:
            self._exact = True
        return orjson.Fragment(text)

    def _text(self, value: str, where: str) -> orjson.Fragment:
        found = self._memo.get(value)
        if found is None:
            try:
                stored = self._payloads.put_json(value)
            except NotJsonError as error:
                raise not_json(Fault(error.path, error.reason), where) from None
            found = self._keep(stored, "string")
            self._memo.put(value, found)
        return found

    def _keep(self, stored: Stored, kind: str) -> orjson.Fragment:
        self.fresh.append(stored)
        return reference(stored.ref, stored.size, kind)

    def remember(self, text: str, ref: str, size: int) -> None:
        """Note that a text which was loaded is kept already."""
        self._memo.put(text, reference(ref, size, "string"))


def reference(ref: str, size: int, kind: str) -> orjson.Fragment:
    """The encoded form of a reference."""
    return orjson.Fragment(orjson.dumps({MARK: ref, "size": size, "type": kind}))


def is_reference(value: Any) -> bool:
    """Whether a value at one of the two places is a reference."""
    return type(value) is dict and MARK in value


def references_of(data: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Reference and size of each payload that an event's data refers to."""
    for key, value in data.items():
        if is_reference(value):
            yield value[MARK], value["size"]
        elif key in MAPS and type(value) is dict:
            yield from ((inner[MARK], inner["size"]) for inner in value.values() if is_reference(inner))


async def resolve_map(
    values: Mapping[str, Any], load: Callable[[Mapping[str, Any]], Awaitable[Any]]
) -> dict[str, Any]:
    """A map with its references replaced by what they refer to."""
    return {key: await load(value) if is_reference(value) else value for key, value in values.items()}


async def resolve_data(
    data: Mapping[str, Any], load: Callable[[Mapping[str, Any]], Awaitable[Any]]
) -> dict[str, Any]:
    """An event's data with all its references resolved."""
    resolved: dict[str, Any] = {}
    for key, value in data.items():
        if is_reference(value):
            resolved[key] = await load(value)
        elif key in MAPS and type(value) is dict:
            resolved[key] = await resolve_map(value, load)
        else:
            resolved[key] = value
    return resolved
