"""Fields of Dify's forms as inputs with JSON Schemas."""

from __future__ import annotations

import json
from typing import Any

from interlace.importers.dify.context import Context
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.system import FILE
from interlace.importers.foreign import Json, mapping, number, text, texts, whole


def declare(variable: Json, ctx: Context, node: DifyNode | None = None) -> None:
    """Declare the input of a field. An optional field has a default, as Dify gives an empty value for it."""
    name = text(variable.get("variable"))
    if not name:
        return
    kind = text(variable.get("type"))
    required = variable.get("required") is True
    schema = _schema(kind, variable)
    label = text(variable.get("label")).strip()
    if label and label != name:
        schema = {"title": label, **schema}
    hint = text(variable.get("hint")).strip()
    if hint:
        schema["description"] = hint
    if not required:
        schema = _optional(schema, kind, variable)
    if kind == "external_data_tool":
        ctx.say(
            "decision",
            "external_data",
            f"{name!r} came from an external data tool; here it is an input.",
            node,
        )
    ctx.draft.inputs[name] = schema
    if required and name not in ctx.draft.required:
        ctx.draft.required.append(name)


def _schema(kind: str, variable: Json) -> Json:  # noqa: PLR0911 - one return a case
    longest = whole(variable.get("max_length"))
    if kind == "number":
        return {"type": "number"}
    if kind == "checkbox":
        return {"type": "boolean"}
    if kind == "file":
        return dict(FILE)
    if kind == "file-list":
        return {
            "type": "array",
            "items": dict(FILE),
            **({"maxItems": longest} if longest and longest > 0 else {}),
        }
    if kind in ("json_object", "json"):
        return _of_json(variable)
    options = list(dict.fromkeys(texts(variable.get("options")))) if kind == "select" else []
    if options:
        return {"type": "string", "enum": options}
    return {
        "type": "string",
        **({"maxLength": longest} if longest and longest > 0 and kind != "select" else {}),
    }


def _of_json(variable: Json) -> Json:
    given = variable.get("json_schema")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    return {"type": "object", **{k: v for k, v in mapping(given).items() if k in ("properties", "required")}}


def _optional(schema: Json, kind: str, variable: Json) -> Json:
    default = variable.get("default")
    if kind == "checkbox":
        return {**schema, "default": default is True or text(default).lower() == "true"}
    if kind == "number":
        return _number(schema, default)
    if kind == "file-list":
        return {**schema, "default": []}
    if kind in ("file", "json_object", "json"):
        return {**schema, "type": ["object", "null"], "default": None}
    words = text(default)
    if "enum" in schema and words not in schema["enum"]:
        return {**schema, "enum": [*schema["enum"], words]} | {"default": words}
    if len(words) > schema.get("maxLength", len(words)):
        words = ""
    return {**schema, "default": words}


def _number(schema: Json, default: Any) -> Json:
    found = number(default)
    if found is None:
        return {**schema, "type": ["number", "null"], "default": None}
    return {**schema, "default": int(found) if found.is_integer() else found}
