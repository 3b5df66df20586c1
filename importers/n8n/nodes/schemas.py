"""JSON Schemas of n8n's AI nodes: read, made of examples, and as values with known fields."""

from __future__ import annotations

import json
from typing import Any

from interlace.engine.validate.schemas import flaws
from interlace.importers.expressions import path
from interlace.importers.foreign import Json, mapping, text
from interlace.importers.n8n.context import Site
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.values import Value


def sound(schema: Any, node: N8nNode, site: Site) -> Json | None:
    """The schema where it is one; the report says where it is none."""
    if isinstance(schema, dict) and schema and not any(flaw.code == "bad_schema" for flaw in flaws(schema)):
        return schema
    site.ctx.say(
        "decision", "schema", "What stands in the file is no JSON Schema; write `output_schema` anew.", node
    )
    return None


def parsed(value: Any) -> Any:
    """The JSON of a text, None where it is none."""
    try:
        return json.loads(text(value).removeprefix("="))
    except (ValueError, RecursionError):
        return None


def schema_of(example: Any, depth: int = 0) -> Json:
    """The JSON Schema of an example."""
    if isinstance(example, dict) and depth < 20:  # noqa: PLR2004 - deeper ones are open
        properties = {str(key): schema_of(value, depth + 1) for key, value in example.items()}
        return {"type": "object", "required": list(properties), "properties": properties}
    if isinstance(example, list):
        return {
            "type": "array",
            **({"items": schema_of(example[0], depth + 1)} if example and depth < 20 else {}),  # noqa: PLR2004 - versions and limits of the format
        }
    kinds = {str: "string", bool: "boolean", int: "number", float: "number"}
    kind = kinds.get(type(example))
    return {"type": kind} if kind else {}


def typed(code: str, schema: Json, depth: int = 0) -> Value:
    """A value of a schema, with its fields where these are all that there are."""
    properties = mapping(schema.get("properties"))
    if not properties or schema.get("additionalProperties") or depth > 20:  # noqa: PLR2004 - as for schemas
        return Value(code)
    return Value(
        code,
        "object",
        {name: typed(path(code, name), mapping(part), depth + 1) for name, part in properties.items()},
    )
