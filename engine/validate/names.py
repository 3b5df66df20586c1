"""What the names of the expression language stand for at each place of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from interlace.engine.document import Document, Variable
from interlace.engine.schema import Schema

ITEM_NAMES: Final = ("item", "index")
PLACED: Final = {
    "item": "Only the body of an ITERATION, and the operations of a list, have an item.",
    "index": "Only the body of an ITERATION, and the operations of a list, have an index.",
    "loop": "Only the body of a LOOP has loop.",
}
_RUN: Final[Schema] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "started_at": {},
        "trigger": {},
        "attempt": {"type": "integer"},
        "scheduled_for": {},
    },
    "additionalProperties": True,
}


def variable_schema(variable: Variable) -> Schema:
    """The type of a run variable."""
    return {} if variable.type == "any" else {"type": variable.type}


def global_names(document: Document) -> dict[str, Schema]:
    """The names that every expression of a document may read."""
    variables = {name: variable_schema(variable) for name, variable in document.variables.items()}
    return {
        "inputs": input_schema(document.inputs),
        "vars": {"type": "object", "properties": variables, "required": list(variables)},
        "env": {},
        "secrets": {"type": "object", "additionalProperties": {"type": "string"}},
        "run": _RUN,
        "trigger": {},
    }


def input_schema(schema: Mapping[str, Any]) -> Schema:
    """The inputs as expressions see them: those with a default are always there."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return dict(schema)
    required = schema.get("required")
    filled = [name for name, inner in properties.items() if isinstance(inner, dict) and "default" in inner]
    return {
        **schema,
        "required": list(dict.fromkeys([*(required if isinstance(required, list) else ()), *filled])),
    }


def closed_properties(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The properties of a schema that declares some and does not say that there may be others; None otherwise."""
    properties = schema.get("properties")
    open_ended = schema.get("additionalProperties") or schema.get("patternProperties") or "$ref" in schema
    if not isinstance(properties, dict) or not properties or open_ended:
        return None
    return properties
