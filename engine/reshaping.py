"""The steps of work on one value: each is compiled once into a function of the value and the names around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from interlace.engine import conversion
from interlace.engine.conversion import CastType, text_of
from interlace.engine.errors import NodeError
from interlace.engine.expressions import Names, compile_value
from interlace.engine.expressions.budget import refill
from interlace.engine.expressions.filters.data import regex, regex_replace, search
from interlace.engine.expressions.values import described
from interlace.engine.json_schema import problems_of
from interlace.engine.lists import ItemNames

Apply: TypeAlias = Callable[[Any, Names], Any]
_Change: TypeAlias = Callable[[Mapping[str, Any], ItemNames], Any]
_DEPTH = 100
_PROBLEMS = 20


def on_objects(change: _Change, name: str) -> Apply:
    """Apply a change to an object, or to each object of a list; errors name the entry."""

    def apply(value: Any, names: Names) -> Any:
        scope = ItemNames(names)
        if isinstance(value, Mapping):
            scope.item = value
            return change(value, scope)
        if not isinstance(value, list):
            raise NodeError(
                f"{name} takes an object or a list of objects, got {described(value)}", kind="type"
            )
        result = []
        for index, entry in enumerate(value):
            if not isinstance(entry, Mapping):
                raise NodeError(
                    f"{name} takes a list of objects; entry {index} is {described(entry)}", kind="type"
                )
            scope.item, scope.index = entry, index
            try:
                result.append(change(entry, scope))
            except NodeError as error:
                raise NodeError(f"entry {index}: {error.message}", kind=error.kind) from None
        return result

    return apply


def jmespath(query: str) -> Apply:
    """What a JMESPath query finds."""

    def apply(value: Any, names: Names) -> Any:
        del names
        refill()
        return search(value, query)

    return apply


def pick(fields: Sequence[str]) -> Apply:
    """Only these fields, those that are there, in this order."""
    return on_objects(lambda entry, _: {name: entry[name] for name in fields if name in entry}, "pick")


def omit(fields: Sequence[str]) -> Apply:
    """All fields but these."""
    gone = frozenset(fields)
    return on_objects(
        lambda entry, _: {name: value for name, value in entry.items() if name not in gone}, "omit"
    )


def rename(fields: Mapping[str, str]) -> Apply:
    """The fields under new names; two of one name are an error."""

    def change(entry: Mapping[str, Any], _: ItemNames) -> dict[str, Any]:
        renamed: dict[str, Any] = {}
        for name, value in entry.items():
            new = fields.get(name, name)
            if new in renamed:
                raise NodeError(f"two fields would be called {new!r}; omit one of them first", kind="rename")
            renamed[new] = value
        return renamed

    return on_objects(change, "rename")


def set_fields(fields: Mapping[str, Any]) -> Apply:
    """The object with further fields, which are ƒ values over `item`."""
    compiled = {name: compile_value(value).evaluate for name, value in fields.items()}

    def change(entry: Mapping[str, Any], scope: ItemNames) -> dict[str, Any]:
        return {**entry, **{name: evaluate(scope) for name, evaluate in compiled.items()}}

    return on_objects(change, "set")


def cast(kinds: CastType | Mapping[str, CastType]) -> Apply:
    """The value as another type, or fields of objects by name; fields that are not there stay so."""
    if isinstance(kinds, str):
        return lambda value, _: conversion.cast(value, kinds)

    def change(entry: Mapping[str, Any], _: ItemNames) -> dict[str, Any]:
        result = dict(entry)
        for name, kind in kinds.items():
            if name in result:
                try:
                    result[name] = conversion.cast(result[name], kind)
                except NodeError as error:
                    raise NodeError(f"field {name!r}: {error.message}", kind=error.kind) from None
        return result

    return on_objects(change, "cast of fields")


def replace(pattern: str, replacement: str, *, ignore_case: bool = False) -> Apply:
    """A text with every match replaced."""

    def apply(value: Any, names: Names) -> str:
        del names
        refill()
        return regex_replace(text_of(value, "regex"), pattern, replacement, 0, ignore_case)

    return apply


def extract(pattern: str, *, every: bool = False, ignore_case: bool = False) -> Apply:
    """The first match of a text, null without one, or all of them: named groups as an object, one group, a list of groups."""
    compiled = regex(pattern, ignore_case=ignore_case)

    def apply(value: Any, names: Names) -> Any:
        del names
        text = text_of(value, "regex")
        if every:
            return [_groups(match) for match in compiled.finditer(text)]
        match = compiled.search(text)
        return None if match is None else _groups(match)

    return apply


def _groups(match: Any) -> Any:
    named = match.groupdict()
    if named:
        return named
    groups = match.groups()
    return match.group(0) if not groups else groups[0] if len(groups) == 1 else list(groups)


def merge(value: Any, *, deep: bool = False) -> Apply:
    """The input with another object merged in, whose fields win."""
    other = compile_value(value)

    def apply(value: Any, names: Names) -> dict[str, Any]:
        left, right = _mapping(value, "the input"), _mapping(other.evaluate(names), "'with'")
        return _deep(left, right, 0) if deep else {**left, **right}

    return apply


def merge_all(*, deep: bool = False) -> Apply:
    """The objects of a list in one, the later ones winning."""

    def apply(value: Any, names: Names) -> dict[str, Any]:
        del names
        if not isinstance(value, list):
            raise NodeError(
                f"merge without 'with' takes a list of objects, got {described(value)}", kind="type"
            )
        result: dict[str, Any] = {}
        for index, entry in enumerate(value):
            part = _mapping(entry, f"entry {index}")
            if deep:
                result = _deep(result, part, 0)
            else:
                result.update(part)
        return result

    return apply


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NodeError(f"merge takes objects; {what} is {described(value)}", kind="type")
    return value


def _deep(left: Mapping[str, Any], right: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEPTH:
        raise NodeError(f"the objects are nested more than {_DEPTH} levels deep", kind="type")
    merged = {**left, **right}
    for name in left.keys() & right.keys():
        if isinstance(left[name], Mapping) and isinstance(right[name], Mapping):
            merged[name] = _deep(left[name], right[name], depth + 1)
    return merged


def check_schema(schema: Mapping[str, Any]) -> Apply:
    """The value itself, if it fits a JSON Schema."""

    def apply(value: Any, names: Names) -> Any:
        del names
        problems = problems_of(schema, value, "value", code="schema")
        if problems:
            more = f" (and {len(problems) - _PROBLEMS} more)" if len(problems) > _PROBLEMS else ""
            raise NodeError(" ".join(map(str, problems[:_PROBLEMS])) + more, kind="schema")
        return value

    return apply
