"""Values against JSON Schema draft 2020-12: every problem at once, at its path, in plain words.

A `$ref` may point inside the schema; nothing is ever fetched. Patterns run on a linear-time engine. `format: file` is
the one format that is enforced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import jsonschema
import orjson
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.filters.data import regex
from interlace.engine.expressions.values import described
from interlace.engine.json_text import read_json
from interlace.engine.problems import Problem, nearest
from interlace.engine.unevaluated import evaluated

TYPE_NAMES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def problems_of(schema: Mapping[str, Any], value: Any, root: str, *, code: str = "inputs") -> list[Problem]:
    """Everything that is wrong with a value by a JSON Schema, each at its path below `root`; empty when it fits."""
    try:
        validator = _compiled(_text(schema))
        return [p for error in validator.iter_errors(value) for p in _explain(error, root, code)]
    except jsonschema.SchemaError as error:
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
        return [
            Problem(
                code=f"{code}_schema", field=root + where, message=f"the schema is wrong: {error.message}."
            )
        ]
    except EndlessReferenceError as error:
        message = f"the schema refers to itself without end: {error.ref!r} leads to itself on the same value."
        return [Problem(code=f"{code}_schema", field=root, message=message)]
    except Unresolvable as error:
        message = (
            f"the schema refers to {error.ref!r}, which it does not hold; remote schemas are never fetched."
        )
        return [Problem(code=f"{code}_schema", field=root, message=message)]
    except ExpressionError as error:
        message = f"{error.message}; look-around and back-references are not available."
        return [Problem(code=f"{code}_schema", field=root, message=message)]
    except BaseException as error:
        if not isinstance(error, RecursionError) and type(error).__name__ != _PANIC:
            raise
        message = "the value, or the schema, is nested too deep to be compared."
        return [Problem(code=f"{code}_schema", field=root, message=message)]


class EndlessReferenceError(Exception):
    """A reference of a schema leads to itself on the same value (JSON Schema core, 9.4.1: no verdict is defined)."""

    def __init__(self, ref: str) -> None:
        super().__init__(ref)
        self.ref = ref


def _text(schema: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(schema, default=str, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # a whole number beyond 64 bits
        return json.dumps(schema, default=str).encode()


# Where the stack ends within the native map of references, what comes out is no RecursionError but this, a BaseException
_PANIC = "PanicException"
_followed: ContextVar[frozenset[tuple[int, int]]] = ContextVar("followed", default=frozenset())


# -- the validator -----------------------------------------------------------------------------------------------------


def _reference(keyword: str) -> Callable[..., Iterator[ValidationError]]:
    follow = jsonschema.Draft202012Validator.VALIDATORS[keyword]

    def checked(validator: Validator, ref: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        # parts of one schema and one value, alive for the whole comparison: their ids say which they are
        step, before = (id(schema), id(instance)), _followed.get()
        if step in before:
            raise EndlessReferenceError(ref)
        _followed.set(before | {step})
        try:
            errors = list(follow(validator, ref, instance, schema))
        finally:
            _followed.set(before)
        yield from errors

    return checked


def _pattern(validator: Validator, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    del schema
    if validator.is_type(instance, "string") and not regex(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    del schema
    if not validator.is_type(instance, "object"):
        return
    for pattern, entry in patterns.items():
        for name, value in instance.items():
            if regex(pattern).search(name):
                yield from validator.descend(value, entry, path=name, schema_path=pattern)


def _additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    names = _unexpected_names(instance, schema)
    if allowed is False and names:
        yield ValidationError("has unexpected fields")
    elif isinstance(allowed, dict):
        for name in names:
            yield from validator.descend(instance[name], allowed, path=name)


def _unevaluated(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Blame each field that no part of the schema looked at; jsonschema has one error for all of them."""
    if not validator.is_type(instance, "object"):
        return
    known = evaluated(validator, instance, schema)
    for name, value in instance.items():
        if name in known:
            continue
        if wanted is False:
            yield ValidationError("is not expected here", path=(name,))
        else:
            yield from validator.descend(value, wanted, path=name)


def _unexpected_names(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [
        name for name in instance if name not in known and not any(regex(p).search(name) for p in patterns)
    ]


def _file_format(validator: Validator, wanted: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    del validator, schema
    if wanted == "file" and not (isinstance(instance, Mapping) and isinstance(instance.get("ref"), str)):
        yield ValidationError("is no file")


_Checker: Any = extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {
        "$ref": _reference("$ref"),
        "$dynamicRef": _reference("$dynamicRef"),
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "unevaluatedProperties": _unevaluated,
        "format": _file_format,
    },
)


@lru_cache(maxsize=1024)
def _compiled(source: bytes) -> Validator:
    schema = read_json(source.decode())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator: Validator = _Checker(schema, registry=REGISTRY)
    return validator


# -- messages ----------------------------------------------------------------------------------------------------------


def _explain(error: ValidationError, root: str, code: str) -> Iterator[Problem]:
    where = root + "".join(_step(part) for part in error.absolute_path)
    keyword = str(error.validator)
    wanted: Any = error.validator_value
    value: Any = error.instance
    if keyword == "required":
        # jsonschema yields one error a missing name; the name stands first in its message
        name = next(n for n in wanted if error.message.startswith(repr(n)) and n not in value)
        yield Problem(code=code, field=where + _step(name), message="is required.")
    elif keyword == "additionalProperties" and wanted is False:
        yield from _unexpected(error, where, code)
    else:
        yield Problem(code=code, field=where, message=f"{_plainly(error)}.")


def _unexpected(error: ValidationError, where: str, code: str) -> Iterator[Problem]:
    schema: Any = error.schema
    known = schema.get("properties", {})
    for name in _unexpected_names(error.instance, schema):  # type: ignore[arg-type]
        guess = nearest(name, known)
        fix = f"Did you mean {guess!r}?" if guess else None
        yield Problem(code=code, field=where + _step(name), message="is not expected here.", fix=fix)


def _alternatives(error: ValidationError) -> str:
    """What would do, by the alternatives whose errors lie deepest in the value: those that came closest to fitting."""
    found = error.context or []
    deepest = max(len(inner.path) for inner in found)
    closest = [inner for inner in found if len(inner.path) == deepest]
    if all(inner.validator == "type" for inner in closest):
        kinds = [kind for inner in closest for kind in _listed(inner.validator_value)]
        return _must_be(list(dict.fromkeys(kinds)), closest[0].instance)
    return "; or ".join(dict.fromkeys(_plainly(inner) for inner in closest))


def _plainly(error: ValidationError) -> str:
    if error.validator in {"anyOf", "oneOf"} and error.context:
        return _alternatives(error)
    phrase = _PHRASES.get(str(error.validator))
    if phrase is None:
        return error.message
    return phrase(error.validator_value, error.instance)


def _must_be(wanted: Any, value: Any) -> str:
    names = [TYPE_NAMES.get(kind, str(kind)) for kind in _listed(wanted)]
    return f"must be {' or '.join(names)}, got {described(value)}"


def _listed(wanted: Any) -> list[Any]:
    return [wanted] if isinstance(wanted, str) else list(wanted)


def _counted(unit: str, word: str) -> Callable[[Any, Any], str]:
    return lambda wanted, value: f"must have at {word} {wanted} {unit}, got {len(value)}"


_PHRASES: dict[str, Callable[[Any, Any], str]] = {
    "type": _must_be,
    "enum": lambda wanted, value: (
        f"must be one of {', '.join(repr(w) for w in wanted)}, got {described(value)}"
    ),
    "const": lambda wanted, value: f"must be {wanted!r}, got {described(value)}",
    "minimum": lambda wanted, value: f"must be at least {wanted}, got {value!r}",
    "maximum": lambda wanted, value: f"must be at most {wanted}, got {value!r}",
    "exclusiveMinimum": lambda wanted, value: f"must be more than {wanted}, got {value!r}",
    "exclusiveMaximum": lambda wanted, value: f"must be less than {wanted}, got {value!r}",
    "multipleOf": lambda wanted, value: f"must be a multiple of {wanted}, got {value!r}",
    "minLength": _counted("characters", "least"),
    "maxLength": _counted("characters", "most"),
    "minItems": _counted("entries", "least"),
    "maxItems": _counted("entries", "most"),
    "minProperties": _counted("fields", "least"),
    "maxProperties": _counted("fields", "most"),
    "uniqueItems": lambda _, __: "must not hold the same entry twice",
    "pattern": lambda wanted, value: f"must match {wanted}, got {described(value)}",
    "format": lambda _, value: (
        f"must be a file (an object with 'ref', as the file upload answers it), got {described(value)}"
    ),
}


def _step(part: Any) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part) else f"[{part!r}]"
