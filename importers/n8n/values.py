"""What an expression of n8n stands for: code of ours, with what is known of its type and fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from interlace.importers.expressions import Part, Ref, constant, grouped, path

Kind = Literal[
    "any",
    "text",
    "number",
    "bool",
    "list",
    "object",
    "date",
    "item",
    "items",
    "node",
    "global",
    "pattern",
    "arrow",
]
LISTS: Final = frozenset({"list", "items"})


class NotTranslated(Exception):  # noqa: N818 - what it says
    """The expression has no counterpart in our language."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of ours.

    `fields` are parts whose expressions are known, as of `{output: agent.text}`; `base` is what further fields are read
    from. A list of kind `items` holds the objects themselves, without n8n's `json` around each.
    """

    code: str
    kind: Kind = "any"
    fields: Mapping[str, Value] | None = None
    base: Value | None = None
    parts: tuple[Part, ...] | None = field(default=None, compare=False)
    """The pieces of a text, where that is too long for one expression."""

    def get(self, *keys: str | int) -> Value:
        """A field, by fields that are known or by the path to it."""
        found = self
        for key in keys:
            found = found._one(key)
        return found

    def _one(self, key: str | int) -> Value:
        if self.fields is not None:
            if str(key) in self.fields:
                return self.fields[str(key)]
            if self.base is not None:
                return self.base.get(key)
            return NOTHING
        plain = self.kind in ("text", "number", "bool") and isinstance(key, str)
        return NOTHING if plain or self.code == NOTHING.code else Value(path(self.code, key))

    def part(self) -> Part:
        """As a piece of a text."""
        return Ref(self.code, is_text=self.kind in ("text", "date"))


NOTHING: Final = Value("none")


def record(fields: Mapping[str, Value], base: Value | None = None) -> Value:
    """An object of known fields, on top of another one where there is one."""
    written = "{" + ", ".join(f"{constant(name)}: {value.code}" for name, value in fields.items()) + "}"
    code = written if base is None else f"{grouped(base.code)} | combine({written})" if fields else base.code
    return Value(code, "object", dict(fields), base)


def shaped(code: str, shape: Mapping[str, Kind] | None) -> Value:
    """An object whose fields are all known by name and type."""
    if shape is None:
        return Value(code)
    return Value(code, "object", {name: Value(path(code, name), kind) for name, kind in shape.items()})


def shape_of(value: Value) -> Mapping[str, Kind] | None:
    """The fields of an object, where all are known."""
    if value.fields is None:
        return None
    below: Mapping[str, Kind] | None = {} if value.base is None else shape_of(value.base)
    return None if below is None else {**below, **{name: part.kind for name, part in value.fields.items()}}


def text_value(words: str) -> Value:
    """A text as an expression."""
    return Value(constant(words), "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What runs along an output of a node: its items, and the steps and handles that it comes from.

    `one` is there where it is certainly exactly one item. `aligned` names the nodes whose items stand at the same places
    of their lists, so that the item that belongs to one of these is found by its number.
    """

    many: Value
    one: Value | None = None
    via: tuple[tuple[str, str], ...] = ()
    may_be_empty: bool = False
    aligned: frozenset[str] = field(default_factory=frozenset)
    shape: Mapping[str, Kind] | None = None
    """The fields that every item of the list has, where these are all that there are."""

    def item(self, code: str = "item") -> Value:
        """One of the items, by the expression for it."""
        return shaped(code, self.shape)

    def through(self, *via: tuple[str, str]) -> Flow:
        """The same items, coming from elsewhere."""
        return replace(self, via=via)


def single(value: Value, *via: tuple[str, str]) -> Flow:
    """Exactly one item."""
    return Flow(many=Value(f"[{value.code}]", "items"), one=value, via=via)


def several(
    code: str, *via: tuple[str, str], may_be_empty: bool = True, aligned: frozenset[str] = frozenset()
) -> Flow:
    """A list of items."""
    return Flow(many=Value(code, "items"), via=via, may_be_empty=may_be_empty, aligned=aligned)
