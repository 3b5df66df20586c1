"""Schemas of any version of OpenAPI as JSON Schema 2020-12: valid by construction, without noise.

References stay references, to definitions that the connector holds; so cycles are no matter. Keywords that are not
known or not well-formed are left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from interlace.engine.document import JsonSchema as Schema
from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.filters.data import regex
from interlace.resources.connectors.names import clean_name, free_name
from interlace.resources.connectors.openapi.references import References, Unresolved
from interlace.resources.connectors.report import Report
from interlace.resources.connectors.schemas import reference

FILE: Schema = {"type": "object", "format": "file"}
FILE_OR_TEXT: Schema = {"anyOf": [FILE, {"type": "string"}]}

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_OTHER_TYPES = {"int": "integer", "float": "number", "double": "number", "bool": "boolean", "list": "array",
                "map": "object", "dict": "object", "text": "string", "date": "string", "datetime": "string"}  # fmt: skip
_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
        "unevaluatedItems", "unevaluatedProperties")  # fmt: skip
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "dependentSchemas")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
           "maxContains")  # fmt: skip
_FLAGS = ("uniqueItems", "readOnly", "writeOnly", "deprecated")
_WORDS = ("title", "description", "format", "contentEncoding", "contentMediaType")
_LONGEST_EXAMPLE = 200


class Schemas:
    """Converts schemas, and collects the definitions that they refer to."""

    def __init__(self, references: References, report: Report) -> None:
        self._references = references
        self._report = report
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []
        self.definitions: dict[str, Schema] = {}

    def convert(self, value: Any, place: str) -> Schema:
        """The schema as JSON Schema, with all that it refers to in `definitions`."""
        made = self._schema(value, place)
        while self._waiting:
            pointer = self._waiting.pop()
            self.definitions[self._names[pointer]] = self._schema(self._references.at(pointer), f"#{pointer}")
        return made

    def _schema(self, value: Any, place: str) -> Schema:
        if value is True or value is None or value == {}:
            return {}
        if value is False:
            return {"not": {}}
        if not isinstance(value, dict):
            self._report.add(
                "warning", "bad_schema", place, "a schema is no object; any value is taken there."
            )
            return {}
        ref = value.get("$ref")
        if isinstance(ref, str):
            return self._reference(value, ref, place)
        if _is_binary(value):
            return _with_words(value, FILE_OR_TEXT)
        made: Schema = {}
        for keyword, entry in value.items():
            handler = _HANDLERS.get(keyword)
            if handler is not None:
                handler(self, made, keyword, entry, place)
        _finish(value, made)
        return made

    def _reference(self, value: dict[str, Any], ref: str, place: str) -> Schema:
        try:
            pointer = self._references.pointer(ref)
            self._references.at(pointer)
        except Unresolved as problem:
            self._report.add("warning", problem.code, place, f"any value is taken there: {problem.message}")
            return {}
        made: Schema = reference(self._name(pointer))
        beside = {key: entry for key, entry in value.items() if key != "$ref"}
        extra = self._schema(beside, place) if beside else {}
        if value.get("nullable") is True:
            return {"anyOf": [made, {"type": "null"}], **_with_words(beside, {})}
        return {**made, **extra} if "$ref" not in extra else made

    def _name(self, pointer: str) -> str:
        known = self._names.get(pointer)
        if known is None:
            last = pointer.rpartition("/")[2]
            plain = re.fullmatch(r"/(?:components/schemas|definitions)/[^/]+", pointer)
            name = clean_name(last if plain else pointer) or "schema"
            known = self._names[pointer] = free_name(name, set(self._names.values()))
            self._waiting.append(pointer)
        return known

    # -- keywords ------------------------------------------------------------------------------------------------------

    def keyword_type(self, made: Schema, keyword: str, entry: Any, place: str) -> None:
        """A keyword of this shape."""
        listed = entry if isinstance(entry, list) else [entry]
        known: list[str] = []
        for name in listed:
            wanted = _OTHER_TYPES.get(str(name).lower(), name)
            if wanted in _TYPES and wanted not in known:
                known.append(str(wanted))
            elif wanted not in _TYPES:
                self._report.add(
                    "warning",
                    "bad_type",
                    place,
                    f"{name!r} is no type of JSON Schema; any value is taken there.",
                )
                return
        if known:
            made[keyword] = known[0] if len(known) == 1 else known

    def keyword_one(self, made: Schema, keyword: str, entry: Any, place: str) -> None:
        """A keyword of this shape."""
        if keyword == "items" and isinstance(entry, list):
            made["prefixItems"] = [self._schema(item, f"{place}/items/{i}") for i, item in enumerate(entry)]
        elif isinstance(entry, bool):
            made[keyword] = entry
        elif isinstance(entry, dict):
            made[keyword] = self._schema(entry, f"{place}/{keyword}")

    def keyword_many(self, made: Schema, keyword: str, entry: Any, place: str) -> None:
        """A keyword of this shape."""
        if isinstance(entry, list) and entry:
            made[keyword] = [self._schema(one, f"{place}/{keyword}/{i}") for i, one in enumerate(entry)]

    def keyword_map(self, made: Schema, keyword: str, entry: Any, place: str) -> None:
        """A keyword of this shape."""
        if not isinstance(entry, dict):
            return
        found = {
            str(name): self._schema(one, f"{place}/{keyword}/{name}")
            for name, one in entry.items()
            if keyword != "patternProperties" or self._pattern_works(name, place)
        }
        if found:
            made[keyword] = found

    def keyword_pattern(self, made: Schema, keyword: str, entry: Any, place: str) -> None:
        """A keyword of this shape."""
        if isinstance(entry, str) and self._pattern_works(entry, place):
            made[keyword] = entry

    def _pattern_works(self, pattern: str, place: str) -> bool:
        try:
            regex(pattern)
        except ExpressionError:
            self._report.add(
                "info", "pattern", place, f"the pattern {pattern!r} cannot be checked here; it is left out."
            )
            return False
        return True


def _number(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, (int, float)) and not isinstance(entry, bool) and math.isfinite(entry):
        made[keyword] = entry


def _factor(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, (int, float)) and not isinstance(entry, bool) and 0 < entry < math.inf:
        made[keyword] = entry


def _count(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, (int, float)) and not isinstance(entry, bool) and entry >= 0 and entry == int(entry):
        made[keyword] = int(entry)


def _flag(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if entry is True:
        made[keyword] = True


def _word(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, str) and entry and entry != "file":  # `format: file` has a meaning of ours
        made[keyword] = entry


def _values(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, list) and entry:
        made[keyword] = entry


def _any(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    made[keyword] = entry


def _required(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, list):
        names = list(dict.fromkeys(name for name in entry if isinstance(name, str)))
        if names:
            made[keyword] = names


def _dependent(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    if isinstance(entry, dict):
        made[keyword] = {
            str(key): [name for name in names if isinstance(name, str)]
            for key, names in entry.items()
            if isinstance(names, list)
        }


def _example(_: Schemas, made: Schema, keyword: str, entry: Any, place: str) -> None:
    del place
    listed = entry if keyword == "examples" and isinstance(entry, list) else [entry]
    kept = [one for one in listed if len(json.dumps(one, default=str)) <= _LONGEST_EXAMPLE][:1]
    if kept:
        made["examples"] = kept


_Handler = Callable[[Schemas, Schema, str, Any, str], None]
_HANDLERS: dict[str, _Handler] = {
    "type": Schemas.keyword_type, "pattern": Schemas.keyword_pattern, "multipleOf": _factor, "enum": _values, "const": _any,
    "default": _any, "required": _required, "dependentRequired": _dependent, "example": _example, "examples": _example,
    **dict.fromkeys(_ONE, Schemas.keyword_one), **dict.fromkeys(_MANY, Schemas.keyword_many), **dict.fromkeys(_MAPS, Schemas.keyword_map),
    **dict.fromkeys(_NUMBERS, _number), **dict.fromkeys(_COUNTS, _count), **dict.fromkeys(_FLAGS, _flag),
    **dict.fromkeys(_WORDS, _word),
}  # fmt: skip


def _finish(value: dict[str, Any], made: Schema) -> None:
    """What older versions say in another way."""
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if value.get(flag) is True and bound in made:
            made[flag] = made.pop(bound)
    properties = made.get("properties", {})
    if "required" in made:  # what only the server sets is not asked of a request
        made["required"] = [name for name in made["required"] if not properties.get(name, {}).get("readOnly")]
        if not made["required"]:
            del made["required"]
    if value.get("nullable") is True or value.get("x-nullable") is True:
        _allow_null(made)


def _allow_null(made: Schema) -> None:
    if "type" in made:
        types = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = types if "null" in types else [*types, "null"]
        if "enum" in made and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
    elif any(keyword in made for keyword in ("allOf", "anyOf", "oneOf")):
        inner = {key: made.pop(key) for key in list(made) if key not in ("title", "description", "default")}
        made["anyOf"] = [inner, {"type": "null"}]


def _is_binary(value: dict[str, Any]) -> bool:
    """Whether the value is a file's bytes."""
    if value.get("type") == "file":
        return True
    if value.get("type") == "string" and value.get("format") == "binary":
        return True
    kind = value.get("contentMediaType")
    return (
        isinstance(kind, str)
        and "contentEncoding" not in value
        and value.get("type") in (None, "string")
        and not kind.startswith("text/")
        and "json" not in kind
    )


def _with_words(value: dict[str, Any], made: Schema) -> Schema:
    words = {key: value[key] for key in ("title", "description") if isinstance(value.get(key), str)}
    return {**made, **words}
