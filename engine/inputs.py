"""Run inputs against the document's JSON Schema: defaults filled in, every problem found at once, in plain words."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from interlace.engine.errors import InvalidDocument
from interlace.engine.json_schema import TYPE_NAMES, problems_of
from interlace.engine.problems import Problem
from interlace.engine.protocols import FileValue

__all__ = ["parse_text", "prepare_inputs", "problems_of"]

ROOT = "inputs"
_DEPTH = 32


def prepare_inputs(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with defaults filled in at every depth, checked against the schema.

    `given` is not changed. An object that is absent is created when the defaults inside it make it complete.

    Raises:
        InvalidDocument: with one problem (code `inputs`) for each thing that is wrong.
    """
    filled = _fill(schema, _plain(given), schema, 0, frozenset({"#"}))
    problems = problems_of(schema, filled, ROOT)
    if problems:
        raise InvalidDocument(problems)
    result: dict[str, Any] = filled
    return result


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
    wanted = " or ".join(TYPE_NAMES[kind] for kind in _READERS if kind in types)
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


def _fill(schema: Any, value: Any, root: Mapping[str, Any], depth: int, made: frozenset[str]) -> Any:
    """The value with defaults; `made` holds the references through which absent objects came about."""
    schema = _resolve(schema, root)
    if depth > _DEPTH or not schema:
        return value
    for part in schema.get("allOf", ()):
        value = _fill(part, value, root, depth + 1, made)
    if isinstance(value, dict):
        for name, entry in schema.get("properties", {}).items():
            if name in value:
                value[name] = _fill(entry, value[name], root, depth + 1, made)
            else:
                found, default = _default(entry, root, depth + 1, made)
                if found:
                    value[name] = default
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_fill(schema["items"], entry, root, depth + 1, made) for entry in value]
    return value


def _default(schema: Any, root: Mapping[str, Any], depth: int, made: frozenset[str]) -> tuple[bool, Any]:
    ref = schema.get("$ref") if isinstance(schema, Mapping) else None
    schema = _resolve(schema, root)
    if "default" in schema:
        return True, _fill(schema, _plain(schema["default"]), root, depth, made)
    # an object that holds itself would be made again and again
    if depth > _DEPTH or not schema.get("properties") or ref in made:
        return False, None
    value = _fill(schema, {}, root, depth, made | {ref} if ref else made)
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


def _loads(text: str) -> Any:
    """JSON with its integers whole, however long; NaN and Infinity are none."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def _read_json(wanted: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = _loads(text)
        if not isinstance(value, wanted):
            raise ValueError(text)  # noqa: TRY004 - one kind of failure for every reader
        return value

    return read


def _json_or_text(text: str) -> Any:
    try:
        return _loads(text)
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
