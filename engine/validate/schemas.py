"""Checks the JSON Schemas that stand in a document: their own form, and that defaults match them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from interlace.engine.problems import nearest
from interlace.engine.source.wording import described

TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
_MAX_DEPTH = 60
_SCHEMA = frozenset(
    {
        "additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems",
        "unevaluatedProperties", "contentSchema",
    }
)  # fmt: skip
_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})


class Flaw(NamedTuple):
    """One thing wrong with a schema: code, path inside the schema, message and fix."""

    code: str
    path: str
    message: str
    fix: str | None = None


def flaws(schema: Any) -> Iterator[Flaw]:
    """Everything wrong with a JSON Schema (2020-12), with defaults that it would not accept itself."""
    yield from _flaws(schema, "", schema, 0)


def _flaws(schema: Any, path: str, root: Any, depth: int) -> Iterator[Flaw]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield Flaw("bad_schema", path, f"A JSON Schema is a mapping, not {described(schema)}.")
        return
    if depth > _MAX_DEPTH:
        yield Flaw("bad_schema", path, f"The schema is nested more than {_MAX_DEPTH} levels deep.")
        return
    sound = True
    for keyword, value in schema.items():
        where = f"{path}.{keyword}" if path else str(keyword)
        for flaw in _keyword(keyword, value, where, root, depth):
            sound = False
            yield flaw
    if sound and "default" in schema:
        yield from _default(schema, path, root)


def _keyword(keyword: str, value: Any, where: str, root: Any, depth: int) -> Iterator[Flaw]:
    if keyword in _SCHEMA:
        yield from _flaws(value, where, root, depth + 1)
    elif keyword in _SCHEMAS:
        if not isinstance(value, list) or not value:
            yield Flaw("bad_schema", where, f"{keyword!r} must be a list of schemas, not {described(value)}.")
            return
        for index, inner in enumerate(value):
            yield from _flaws(inner, f"{where}[{index}]", root, depth + 1)
    elif keyword in _NAMED:
        if not isinstance(value, dict):
            yield Flaw(
                "bad_schema",
                where,
                f"{keyword!r} must be a mapping of names to schemas, not {described(value)}.",
            )
            return
        for name, inner in value.items():
            yield from _flaws(inner, f"{where}.{name}", root, depth + 1)
    elif keyword in _CHECKS:
        yield from _CHECKS[keyword](keyword, value, where)
    elif keyword == "$ref":
        yield from _reference(value, where, root)


def _type(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    names = value if isinstance(value, list) else [value]
    if not names:
        yield Flaw("bad_schema", where, f"{keyword!r} must name a type.")
    for name in names:
        if name not in TYPES:
            guess = nearest(name, TYPES) or _ALIASES.get(name) if isinstance(name, str) else None
            fix = f"Did you mean {guess!r}?" if guess else None
            yield Flaw("bad_schema", where, f"There is no type {name!r}; types are {', '.join(TYPES)}.", fix)


_ALIASES: Final = {
    "str": "string", "text": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array",
    "dict": "object", "map": "object", "mapping": "object", "none": "null",
}  # fmt: skip


def _number(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (keyword == "multipleOf" and value <= 0)
    ):
        yield Flaw("bad_schema", where, f"{keyword!r} must be a number, not {described(value)}.")


def _count(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or value < 0:
        yield Flaw(
            "bad_schema", where, f"{keyword!r} must be a whole number of at least 0, not {described(value)}."
        )


def _text(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    if not isinstance(value, str):
        yield Flaw("bad_schema", where, f"{keyword!r} must be text, not {described(value)}.")


def _pattern(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    yield from _text(keyword, value, where)
    if isinstance(value, str) and "\\p" not in value:
        try:
            re.compile(value)
        except (re.error, RecursionError) as error:
            yield Flaw("bad_schema", where, f"The pattern {value!r} is no regular expression: {error}.")


def _truth(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    if not isinstance(value, bool):
        yield Flaw("bad_schema", where, f"{keyword!r} must be true or false, not {described(value)}.")


def _list(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    if not isinstance(value, list):
        yield Flaw("bad_schema", where, f"{keyword!r} must be a list, not {described(value)}.")


def _names(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        fix = "List the required names at the object: required: [name]." if isinstance(value, bool) else None
        yield Flaw("bad_schema", where, f"{keyword!r} must be a list of names, not {described(value)}.", fix)
    elif len(set(value)) < len(value):
        yield Flaw("bad_schema", where, f"{keyword!r} names a property twice.")


def _named_lists(keyword: str, value: Any, where: str) -> Iterator[Flaw]:
    if not isinstance(value, dict):
        yield Flaw(
            "bad_schema", where, f"{keyword!r} must be a mapping of names to lists, not {described(value)}."
        )
        return
    for name, inner in value.items():
        yield from _names(name, inner, f"{where}.{name}")


_CHECKS: Final[Mapping[str, Callable[[str, Any, str], Iterator[Flaw]]]] = {
    "type": _type,
    "pattern": _pattern,
    "required": _names,
    "dependentRequired": _named_lists,
    **dict.fromkeys(("enum", "examples"), _list),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _truth),
    **dict.fromkeys(("multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), _number),
    **dict.fromkeys(
        (
            "maxLength", "minLength", "maxItems", "minItems", "maxContains", "minContains", "maxProperties",
            "minProperties",
        ),
        _count,
    ),
    **dict.fromkeys(
        ("format", "title", "description", "$id", "$schema", "$anchor", "$comment", "contentEncoding", "contentMediaType"),
        _text,
    ),
}  # fmt: skip


def _reference(value: Any, where: str, root: Any) -> Iterator[Flaw]:
    if not isinstance(value, str) or not value.startswith("#"):
        message = f"$ref must point into the same schema (#/$defs/…), not to {described(value)}."
        yield Flaw("bad_schema", where, message, "Copy the schema into $defs.")
        return
    if not value.startswith("#/"):
        return
    here = root
    for step in value[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%22", '"')
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            yield Flaw("bad_schema", where, f"$ref {value!r} points to nothing.")
            return


def _default(schema: Mapping[str, Any], path: str, root: Any) -> Iterator[Flaw]:
    why = mismatch(schema["default"], schema, root)
    if why:
        yield Flaw(
            "bad_default",
            f"{path}.default" if path else "default",
            f"The default does not match its schema: {why}.",
        )


def mismatch(value: Any, schema: Mapping[str, Any], root: Any = None) -> str | None:
    """Why a value does not match a schema, None where it does or where the schema itself cannot be used."""
    # Its import takes longer than validating a whole document, and few documents have defaults.
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import best_match  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    validator = Draft202012Validator(root if isinstance(root, dict) else schema)
    try:
        error = best_match(validator.evolve(schema=schema).iter_errors(value))
    except (Unresolvable, RecursionError, re.error):
        return None
    return error.message if error is not None else None
