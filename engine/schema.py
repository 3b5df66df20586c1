"""Types as JSON Schema fragments (2020-12, the part that describes shapes); `{}` is a type nothing is known of.

A fragment is never trusted to be complete: whatever it does not say counts as possible, so a check that fails here is
certain to be a mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias

from interlace.engine.problems import nearest

Schema: TypeAlias = Mapping[str, Any]
UNKNOWN: Final[Schema] = {}
STRING: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "number"}
INTEGER: Final[Schema] = {"type": "integer"}
BOOLEAN: Final[Schema] = {"type": "boolean"}
NULL: Final[Schema] = {"type": "null"}
ARRAY: Final[Schema] = {"type": "array"}
OBJECT: Final[Schema] = {"type": "object"}

_MAX_DEPTH: Final = 16
_MAX_OPTIONS: Final = 12
_MAX_CONSTANT: Final = 200
_COMPARED: Final = 500
_DEFINITIONS: Final = ("$defs", "definitions")
_KIND_OF: Final[dict[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_ALL_KINDS: Final = frozenset(_KIND_OF.values())


@dataclass(frozen=True, slots=True)
class Absent:
    """There certainly is no such field.

    `near` is the name that was perhaps meant; `kind` says what the value is when it has no fields at all.
    """

    near: str | None = None
    kind: str | None = None


def resolved(schema: object, *, depth: int = 0) -> Schema:
    """Follow a local `$ref`, merge `allOf`; anything that cannot be understood becomes unknown."""
    if not isinstance(schema, Mapping):
        return UNKNOWN
    if "$ref" not in schema and "allOf" not in schema:
        return schema
    if depth > _MAX_DEPTH:
        return UNKNOWN
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = _target(schema, reference)
        return resolved(_within(schema, target), depth=depth + 1) if isinstance(target, Mapping) else UNKNOWN
    return _merged(schema, depth)


def _target(schema: Schema, reference: str) -> object:
    parts = reference.split("/")
    if len(parts) != 3 or parts[0] != "#" or parts[1] not in _DEFINITIONS:  # noqa: PLR2004 - `#/$defs/Name`
        return None
    definitions = schema.get(parts[1])
    name = parts[2].replace("~1", "/").replace("~0", "~")
    return definitions.get(name) if isinstance(definitions, Mapping) else None


def _within(outer: Schema, inner: object) -> Schema:
    """Give a part of a schema with the definitions that its references need."""
    if not isinstance(inner, Mapping):
        return UNKNOWN
    for key in _DEFINITIONS:
        if key in outer and key not in inner:
            inner = {**inner, key: outer[key]}
    return inner


def _merged(schema: Schema, depth: int) -> Schema:
    """Merge the parts of `allOf`: all their fields; closed only if no part leaves it open."""
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"] if isinstance(schema["allOf"], list) else ():
        one = resolved(_within(schema, part), depth=depth + 1)
        if not one:
            return UNKNOWN
        fields = {**whole.get("properties", {}), **one.get("properties", {})}
        whole = {**one, **whole}
        if fields:
            whole["properties"] = fields
            whole.pop("additionalProperties", None)
    return whole


def options(schema: Schema) -> list[Schema]:
    """Give the alternatives of `anyOf` or `oneOf`, resolved; a schema without any is its own only one."""
    schema = resolved(schema)
    alternatives = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(alternatives, list):
        return [schema]
    found: list[Schema] = []
    for part in alternatives[:_MAX_OPTIONS]:
        found.extend(options(_within(schema, part)) if part is not schema else [UNKNOWN])
    return found or [UNKNOWN]


def kinds(schema: Schema) -> frozenset[str]:
    """Give the JSON types that a value may have; all of them where nothing is said."""
    simple = schema.get("type")
    if simple.__class__ is str:
        return _SINGLE.get(simple, _ALL_KINDS)
    if isinstance(simple, list):
        return frozenset(kind for kind in simple if kind in _ALL_KINDS) or _ALL_KINDS
    if not schema:
        return _ALL_KINDS
    return _implied_kinds(schema)


_SINGLE: Final = {kind: frozenset((kind,)) for kind in _ALL_KINDS}


def _implied_kinds(schema: Schema) -> frozenset[str]:
    if "const" in schema:
        return frozenset((_KIND_OF.get(type(schema["const"]), "object"),))
    if isinstance(schema.get("enum"), list):
        return frozenset(_KIND_OF.get(type(value), "object") for value in schema["enum"])
    if "$ref" in schema or "allOf" in schema:
        followed = resolved(schema)
        return kinds(followed) if "$ref" not in followed else _ALL_KINDS
    if "anyOf" in schema or "oneOf" in schema:
        return frozenset().union(*(kinds(option) for option in options(schema)))
    return frozenset(("object",)) if "properties" in schema else _ALL_KINDS


def field(schema: Schema, key: str | int | None) -> Schema | Absent:
    """Give the type of `value[key]`.

    Args:
        schema: the type of the value.
        key: a field's name, an item's index, or None for a computed key.

    Returns:
        The type, `{}` where nothing is known, `Absent` where the value certainly has no such part.
    """
    if not schema:
        return UNKNOWN
    if "anyOf" not in schema and "oneOf" not in schema:
        plain = resolved(schema)
        if "anyOf" not in plain and "oneOf" not in plain:
            return _field(plain, key)
    found: list[Schema] = []
    absent = Absent()
    for option in options(schema):
        part = _field(option, key)
        if isinstance(part, Absent):
            absent = part if absent.near is None and part.kind != "null" else absent
        else:
            found.append(part)
    return union(found) if found else absent


def _field(schema: Schema, key: str | int | None) -> Schema | Absent:
    possible = kinds(schema)
    if possible is _ALL_KINDS and "items" not in schema:
        return UNKNOWN
    if "object" in possible and (isinstance(key, str) or "array" not in possible):
        return _property(schema, key)
    if "array" in possible and not isinstance(key, str):
        return _item(schema, key)
    if "string" in possible and not isinstance(key, str):
        return STRING
    return Absent(kind=_one_kind(possible))


def _one_kind(possible: frozenset[str]) -> str:
    solid = sorted(possible - {"null"})
    return solid[0] if solid else "null"


def _property(schema: Schema, key: str | int | None) -> Schema | Absent:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        more = schema.get("additionalProperties")
        return _within(schema, more) if isinstance(more, Mapping) else UNKNOWN
    if key is None:
        return UNKNOWN
    name = str(key)
    if name in properties:
        return _within(schema, properties[name])
    more = schema.get("additionalProperties", False)
    if more is True or "patternProperties" in schema:
        return UNKNOWN
    if isinstance(more, Mapping):
        return _within(schema, more)
    return Absent(near=nearest(name, islice(map(str, properties), _COMPARED)))


def _item(schema: Schema, key: int | None) -> Schema | Absent:
    leading = schema.get("prefixItems")
    if isinstance(leading, list) and key is not None and 0 <= key < len(leading):
        return _within(schema, leading[key])
    if isinstance(leading, list) and (key is None or key < 0):
        return UNKNOWN
    return _within(schema, schema.get("items"))


def of_value(value: object) -> Schema:
    """Give the type of a constant."""
    kind = _KIND_OF.get(type(value))
    if kind is None:
        return UNKNOWN
    if isinstance(value, list):
        return {"type": "array", "items": union(map(of_value, value[:50]))} if value else ARRAY
    if isinstance(value, dict):
        fields = {str(key): of_value(part) for key, part in value.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}
    if value is None or (isinstance(value, str) and len(value) > _MAX_CONSTANT):
        return {"type": kind}
    return {"type": kind, "const": value}


def union(schemas: Iterable[Schema]) -> Schema:
    """Give the type of a value that is of one of these types."""
    found: list[Schema] = []
    for schema in schemas:
        if not schema:
            return UNKNOWN
        parts = schema["anyOf"] if len(schema) == 1 and "anyOf" in schema else [schema]
        found.extend(part for part in parts if part not in found)
    if not found or len(found) > _MAX_OPTIONS:
        return UNKNOWN
    return found[0] if len(found) == 1 else {"anyOf": found}


def without_null(schema: Schema) -> Schema:
    """Give the type of a value once null is ruled out; unknown where nothing else is left."""
    possible = kinds(schema)
    if "null" not in possible or possible is _ALL_KINDS:
        return schema
    if isinstance(schema.get("type"), list):
        return {**schema, "type": [kind for kind in schema["type"] if kind != "null"]}
    rest = [option for option in options(schema) if kinds(option) != {"null"}]
    return union(rest) if len(rest) < len(options(schema)) else schema


def compatible(actual: Schema, expected: Schema) -> bool:
    """Whether a value of one type can stand where another is expected; false only where it certainly cannot."""
    return _compatible(actual, expected, 0)


def _compatible(actual: Schema, expected: Schema, depth: int) -> bool:
    if not actual or not expected or depth > _MAX_DEPTH:
        return True
    return any(_fits(one, other, depth) for one in options(actual) for other in options(expected))


def _fits(actual: Schema, expected: Schema, depth: int) -> bool:
    given, wanted = kinds(actual), kinds(expected)
    if given & {"integer", "number"} and wanted & {"integer", "number"}:
        shared = (given & wanted) | {"number"}
    else:
        shared = given & wanted
    if not shared:
        return False
    if not _values_fit(actual, expected):
        return False
    if shared == {"array"}:
        return _compatible(resolved(actual.get("items")), resolved(expected.get("items")), depth + 1)
    return shared != {"object"} or _fields_fit(actual, expected, depth)


def _values(schema: Schema) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None


def _values_fit(actual: Schema, expected: Schema) -> bool:
    given, wanted = _values(actual), _values(expected)
    if given is None or wanted is None:
        return True
    return any(
        one == other and isinstance(one, bool) is isinstance(other, bool) for one in given for other in wanted
    )


def _fields_fit(actual: Schema, expected: Schema, depth: int) -> bool:
    given, wanted = actual.get("properties"), expected.get("properties")
    if not isinstance(given, Mapping):
        return True
    if isinstance(wanted, Mapping):
        for name, part in wanted.items():
            if name in given and not _compatible(
                _within(actual, given[name]), _within(expected, part), depth + 1
            ):
                return False
    if actual.get("additionalProperties", False) is not False or "patternProperties" in actual:
        return True
    required = expected.get("required")
    return not isinstance(required, list) or all(name in given for name in required)


_WORDS: Final = {"string": "text", "array": "list", "object": "mapping", "integer": "whole number"}


def described(schema: Schema) -> str:
    """Name a type in plain words: `text`, `number or null`, `list`."""
    possible = kinds(schema)
    if possible is _ALL_KINDS or possible == _ALL_KINDS:
        return "anything"
    return " or ".join(_WORDS.get(kind, kind) for kind in sorted(possible))
