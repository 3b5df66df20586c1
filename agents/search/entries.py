"""What can be found: a tool, an action, a table or a skill as the texts that it is found by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from interlace.agents.search.words import spaced

_DEPTH: Final = 3
_MOST_PARAMETERS: Final = 200
_TEXT: Final = 2000
"""Characters of a description that count; what follows is detail."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing that can be found.

    Args:
        key: what the caller knows it by.
        name: its name.
        owner: the connector, database or server that it belongs to; empty for things of their own.
        description: what it does.
        about: what its owner is for.
        parameters: names of its parameters, or of a table's columns.
        details: descriptions of the parameters, and the values that they take.
    """

    key: str
    name: str
    owner: str = ""
    description: str = ""
    about: str = ""
    parameters: tuple[str, ...] = ()
    details: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """The texts that words are looked up in."""
        return {
            "owner": spaced(self.owner), "name": spaced(self.name), "description": spaced(self.description[:_TEXT]),
            "parameters": spaced(" ".join(self.parameters)), "details": spaced(" ".join(self.details)[:_TEXT]),
        }  # fmt: skip

    @cached_property
    def meaning(self) -> str:
        """The text whose vector stands for it."""
        head = f"{spaced(self.owner)} {spaced(self.name)}".strip()
        return f"{head}: {' '.join(self.description.split())[:_TEXT]}"

    @cached_property
    def digest(self) -> bytes:
        """What tells it from every other one by its texts."""
        told = "\0".join([self.key, self.meaning, *self.parameters, "", *self.details])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()


def entry_of(
    key: str, name: str, schema: Mapping[str, Any], *, description: str = "", owner: str = "", about: str = ""
) -> Entry:
    """The entry of something with a JSON Schema of its parameters."""
    names: list[str] = []
    details: list[str] = []
    for name_, text in _parameters(schema, schema, 0):
        names.append(name_)
        if text:
            details.append(text)
        if len(names) >= _MOST_PARAMETERS:
            break
    return Entry(
        key=key, name=name, owner=owner, description=description, about=about, parameters=tuple(names),
        details=tuple(details),
    )  # fmt: skip


def _parameters(schema: Any, root: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    """Names and texts of parameters, the nearest first within each branch."""
    schema = _resolved(schema, root)
    if depth > _DEPTH or not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, part in properties.items():
            yield str(name), _told(_resolved(part, root))
        for part in properties.values():
            yield from _parameters(part, root, depth + 1)
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key) or () if isinstance(schema.get(key), list) else ():
            yield from _parameters(part, root, depth + 1)
    if isinstance(schema.get("items"), Mapping):
        yield from _parameters(schema["items"], root, depth + 1)


def _resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    ref = schema.get("$ref") if isinstance(schema, Mapping) else None
    if not isinstance(ref, str):
        return schema
    for prefix in ("#/$defs/", "#/definitions/"):
        known = root.get(prefix[2:-1])
        if ref.startswith(prefix) and isinstance(known, Mapping):
            return known.get(ref[len(prefix) :].replace("~1", "/").replace("~0", "~"), schema)
    return schema


def _told(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return ""
    values = schema.get("enum")
    words = [str(schema.get("description") or "")]
    words += [str(value) for value in values] if isinstance(values, list) else []
    return " ".join(word for word in words if word)
