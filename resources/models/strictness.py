"""Whether a JSON Schema is one that strict structured output takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_KNOWN: Final = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "description", "title",
    "$ref", "$defs",
})  # fmt: skip


def is_strict(schema: Any) -> bool:
    """Whether every object in a schema names all its fields as required and allows no others.

    Anything else is sent as a hint: a provider would refuse it as strict.
    """
    if not isinstance(schema, Mapping) or not set(schema) <= _KNOWN:
        return False
    if "properties" in schema or schema.get("type") == "object":
        properties = schema.get("properties")
        complete = isinstance(properties, Mapping) and set(schema.get("required", ())) == set(properties)
        if not complete or schema.get("additionalProperties") is not False:
            return False
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
    ]
    if "items" in schema:
        inner.append(schema["items"])
    return bool(set(schema) & {"type", "enum", "const", "anyOf", "$ref"}) and all(map(is_strict, inner))
