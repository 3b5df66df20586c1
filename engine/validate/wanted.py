"""The types that config fields take, and types in the words of messages."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from interlace.engine.fields import Expression, In
from interlace.engine.schema import Schema

_TEMPLATE_PATTERN = r"\{\{"


@cache
def wanted(model: type[BaseModel], field: str) -> Schema:
    """JSON Schema of the value that a ƒ field takes once it is evaluated; {} for any."""
    info = model.model_fields[field]
    annotation: Any = info.annotation
    if annotation is Any and not info.metadata:
        return {}
    for entry in info.metadata:
        if not isinstance(entry, Expression | In):
            annotation = Annotated[annotation, entry]
    try:
        schema = TypeAdapter(annotation).json_schema()
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError):
        return {}
    return {} if "$defs" in schema else _without_templates(schema)


def _without_templates(schema: Schema) -> Schema:
    """The schema without the texts that hold `{{ }}`, which are allowed before evaluation only."""
    members = schema.get("anyOf")
    if not isinstance(members, list):
        return {key: value for key, value in schema.items() if key != "ui"}
    kept = [_without_templates(member) for member in members if member.get("pattern") != _TEMPLATE_PATTERN]
    return kept[0] if len(kept) == 1 else {"anyOf": kept} if kept else {}


def part_of(schema: Schema, step: str | int) -> Schema:
    """The schema of a property or an entry; {} where nothing is known."""
    for member in schema.get("anyOf", [schema]):
        if isinstance(step, int):
            found = member.get("items")
        else:
            properties = member.get("properties")
            found = properties.get(step) if isinstance(properties, dict) else None
            found = member.get("additionalProperties") if found is None else found
        if isinstance(found, dict):
            return found
    return {}
