"""The JSON Schemas of an action, complete in themselves: what they refer to comes along, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from interlace.engine.document import JsonSchema as Schema
from interlace.resources.connectors.definition import Action, Connector

PREFIX = "#/$defs/"


def parameters_schema(connector: Connector, action: Action) -> Schema:
    """JSON Schema of the arguments of an action, an object."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for parameter in action.parameters:
        properties[parameter.name] = _described(parameter.schema_, parameter.description)
        if parameter.required:
            required.append(parameter.name)
    if action.bodies:
        properties[action.body_name] = _body(action)
        if action.body_required:
            required.append(action.body_name)
    if len(action.bodies) > 1:
        properties[action.content_type_name] = {
            "enum": [body.media_type for body in action.bodies],
            "description": f"Media type in which {action.body_name!r} is sent; the first one if not given.",
        }
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    return closed(schema, connector.schemas)


def response_schema(connector: Connector, action: Action) -> Schema:
    """JSON Schema of the body of a good answer; {} where it is unknown."""
    return closed(action.response_schema, connector.schemas)


def body_schema(connector: Connector, action: Action, media_type: str) -> Schema:
    """JSON Schema of the body in one media type."""
    body = next(body for body in action.bodies if body.media_type == media_type)
    return closed(body.schema_, connector.schemas)


def closed(schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    """The schema with the definitions it reaches under `$defs`; one that reaches none is given as it is."""
    found: dict[str, Schema] = {}
    todo = list(references(schema))
    while todo:
        name = todo.pop()
        if name in found or name not in schemas:
            continue
        found[name] = schemas[name]
        todo.extend(references(schemas[name]))
    if not found:
        return schema
    return {**schema, "$defs": {name: found[name] for name in sorted(found)}}


def references(value: Any) -> Iterator[str]:
    """Names of the definitions that a schema refers to."""
    todo = [value]
    while todo:
        entry = todo.pop()
        if isinstance(entry, dict):
            ref = entry.get("$ref")
            if isinstance(ref, str) and ref.startswith(PREFIX):
                yield unescaped(ref[len(PREFIX) :])
            todo.extend(entry.values())
        elif isinstance(entry, list):
            todo.extend(entry)


def reference(name: str) -> Schema:
    """A schema that is the definition of that name."""
    return {"$ref": PREFIX + name.replace("~", "~0").replace("/", "~1")}


def unescaped(step: str) -> str:
    """A step of a JSON pointer."""
    return step.replace("~1", "/").replace("~0", "~")


def _body(action: Action) -> Schema:
    schemas: list[Schema] = []
    for body in action.bodies:
        if body.schema_ not in schemas:
            schemas.append(body.schema_)
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _described(schema: Schema, description: str) -> Schema:
    if not description or schema.get("description") == description:
        return schema
    return {**schema, "description": description}
