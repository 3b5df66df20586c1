"""Run inputs against the document's JSON Schema: defaults filled in, every problem found at once, in plain words.

The schema is JSON Schema draft 2020-12. A `$ref` may point inside the schema (`#/$defs/…`); nothing is ever fetched.
`format: file` is the one format that is enforced. Patterns run on a linear-time engine.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import jsonschema
import orjson
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable

from interlace.engine.errors import ExpressionError, InvalidDocument
from interlace.engine.expressions.filters.data import regex
from interlace.engine.expressions.values import described
from interlace.engine.problems import Problem, nearest
from interlace.engine.protocols import FileValue

ROOT = "inputs"
_DEPTH = 32
_NAMES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def prepare_inputs(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with defaults filled in at every depth, checked against the schema.

    `given` is not changed. An object that is absent is created when the defaults inside it make it complete.

    Raises:
        InvalidDocument: with one problem (code `inputs`) for each thing that is wrong.
    """
    filled = _fill(schema, _plain(given), schema, 0)
    problems = problems_of(schema, filled, ROOT)
    if problems:
        raise InvalidDocument(problems)
    result: dict[str, Any] = filled
    return result


def problems_of(schema: Mapping[str, Any], value: Any, root: str, *, code: str = "inputs") -> list[Problem]:
    """Everything that is wrong with a value by a JSON Schema, each at its path below `root`; empty when it fits."""
    try:
        validator = _compiled(orjson.dumps(schema, default=str, option=orjson.OPT_NON_STR_KEYS))
        return [p for error in validator.iter_errors(value) for p in _explain(error, root, code)]
    except jsonschema.SchemaError as error:
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
        return [
            Problem(
                code=f"{code}_schema", field=root + where, message=f"the schema is wrong: {error.message}."
            )
        ]
    except Unresolvable as error:
        message = (
            f"the schema refers to {error.ref!r}, which it does not hold; remote schemas are never fetched."
        )
        return [Problem(code=f"{code}_schema", field=root, message=message)]
    except ExpressionError as error:
        message = f"{error.message}; look-around and back-references are not available."
        return [Problem(code=f"{code}_schema", field=root, message=message)]


def parse_text(schema: Mapping[str, Any], name: str, text: str) -> Any:
    """The value of a command-line input `name=text`, read by the declared type of that input.

    A text stays as it is; lists and objects are JSON; without a declared type it is JSON where it parses as JSON,
    else text.

    Raises:
        InvalidDocument: the text is no value of that type.
    """
    declared = _resolve(schema.get("properties", {}).get(name, {}), schema)
    if "enum" in declared and "type" not in declared:
        for member in declared["enum"]:
            if member == text or orjson.dumps(member).decode() == text:
                return member
    types = _types(declared, schema)
    if not types:
        return _json_or_text(text)
    for kind, read in _READERS.items():
        if kind in types:
            try:
                return read(text.strip() if kind != "string" else text)
            except ValueError:
                continue
    wanted = " or ".join(_NAMES[kind] for kind in _READERS if kind in types)
    hint = " (write it as JSON)" if types & {"array", "object"} else ""
    raise InvalidDocument(
        [Problem(code="inputs", field=f"{ROOT}.{name}", message=f"must be {wanted}{hint}, got {text!r}.")]
    )


# -- defaults ----------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The value with file values as plain objects; containers are new, so that filling in never touches the caller's."""
    if isinstance(value, FileValue):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _fill(schema: Any, value: Any, root: Mapping[str, Any], depth: int) -> Any:
    schema = _resolve(schema, root)
    if depth > _DEPTH or not schema:
        return value
    for part in schema.get("allOf", ()):
        value = _fill(part, value, root, depth + 1)
    if isinstance(value, dict):
        for name, entry in schema.get("properties", {}).items():
            if name in value:
                value[name] = _fill(entry, value[name], root, depth + 1)
            else:
                found, default = _default(entry, root, depth + 1)
                if found:
                    value[name] = default
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_fill(schema["items"], entry, root, depth + 1) for entry in value]
    return value


def _default(schema: Any, root: Mapping[str, Any], depth: int) -> tuple[bool, Any]:
    schema = _resolve(schema, root)
    if "default" in schema:
        return True, _fill(schema, _plain(schema["default"]), root, depth)
    if depth > _DEPTH or not schema.get("properties"):
        return False, None
    value = _fill(schema, {}, root, depth)
    return bool(value) and all(name in value for name in schema.get("required", ())), value


def _resolve(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a local `$ref`; {} for true, false and what cannot be resolved (the validator reports it)."""
    for _ in range(_DEPTH):
        if not isinstance(schema, Mapping):
            return {}
        ref = schema.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#"):
            return schema
        target: Any = root
        for part in filter(None, ref[1:].split("/")):
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, Mapping) else None
        rest = {key: entry for key, entry in schema.items() if key != "$ref"}
        schema = {**target, **rest} if isinstance(target, Mapping) else None
    return {}


# -- the validator -----------------------------------------------------------------------------------------------------


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


def _file_format(validator: Validator, wanted: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    del validator, schema
    if wanted == "file" and not (isinstance(instance, Mapping) and isinstance(instance.get("ref"), str)):
        yield ValidationError("is no file")


_Checker: Any = extend(
    jsonschema.Draft202012Validator,
    {"pattern": _pattern, "patternProperties": _pattern_properties, "format": _file_format},
)


@lru_cache(maxsize=1024)
def _compiled(source: bytes) -> Validator:
    schema = orjson.loads(source)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator: Validator = _Checker(schema, registry=REGISTRY)
    return validator


# -- messages ----------------------------------------------------------------------------------------------------------


def _explain(error: ValidationError, root: str, code: str) -> Iterator[Problem]:
    where = root + "".join(_step(part) for part in error.absolute_path)
    keyword, wanted = str(error.validator), error.validator_value
    if keyword == "required":
        # jsonschema yields one error a missing name; the name stands first in its message
        name = next(n for n in wanted if error.message.startswith(repr(n)) and n not in error.instance)
        yield Problem(code=code, field=where + _step(name), message="is required.")
    elif keyword in {"additionalProperties", "unevaluatedProperties"} and wanted is False:
        yield from _unexpected(error, where, code)
    else:
        yield Problem(code=code, field=where, message=f"{_plainly(error)}.")


def _unexpected(error: ValidationError, where: str, code: str) -> Iterator[Problem]:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name in error.instance:
        if name in known or any(regex(pattern).search(name) for pattern in patterns):
            continue
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
    names = [_NAMES.get(kind, str(kind)) for kind in _listed(wanted)]
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


# -- text to values ----------------------------------------------------------------------------------------------------


def _types(schema: Mapping[str, Any], root: Mapping[str, Any]) -> frozenset[str]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset({declared})
    if isinstance(declared, list):
        return frozenset(declared)
    found: frozenset[str] = frozenset()
    for keyword in ("anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            found |= _types(_resolve(part, root), root)
    return found


def _read_null(text: str) -> None:
    if text.lower() not in {"null", "none", ""}:
        raise ValueError(text)


def _read_boolean(text: str) -> bool:
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _read_integer(text: str) -> int:
    if re.fullmatch(r"[+-]?\d+", text, re.ASCII):
        return int(text)
    number = _read_number(text)
    if number != int(number):
        raise ValueError(text)
    return int(number)


def _read_number(text: str) -> float | int:
    if re.fullmatch(r"[+-]?\d+", text, re.ASCII):
        return int(text)
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text, re.ASCII):
        raise ValueError(text)
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _read_json(wanted: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = orjson.loads(text)
        if not isinstance(value, wanted):
            raise ValueError(text)  # noqa: TRY004 - one kind of failure for every reader
        return value

    return read


def _json_or_text(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return text


_READERS: dict[str, Callable[[str], Any]] = {
    "null": _read_null,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "array": _read_json(list),
    "object": _read_json(dict),
    "string": str,
}
