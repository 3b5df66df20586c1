"""Small pieces of Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; empty where there are no rows."""
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not lines:
        return ""
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*head, *lines]) + "\n"


def _cell(value: object) -> str:
    return str(value).replace("\n", " ").replace("|", "\\|")


def code(value: object) -> str:
    """A short text as code."""
    return f"`{value}`"


def as_json(value: Any) -> str:
    """A value as code on one line; empty for None."""
    return "" if value is None else code(json.dumps(value, ensure_ascii=False))


def type_name(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The type of a JSON Schema in words, with a link where it is a model of its own."""
    if "anyOf" in schema or "oneOf" in schema:
        options = [type_name(option, definitions) for option in schema.get("anyOf") or schema["oneOf"]]
        return " or ".join(dict.fromkeys(option for option in options if option))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if "properties" in definitions.get(name, {}) else name
    if "enum" in schema:
        return ", ".join(code(value) for value in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    return _plain(schema, definitions)


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    kind = schema.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and schema.get("items"):
        return f"list of {type_name(schema['items'], definitions)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        inner = type_name(schema["additionalProperties"], definitions)
        return f"object of {inner}" if inner != "any value" else "object"
    return {"array": "list", "string": "text"}.get(str(kind), str(kind))
