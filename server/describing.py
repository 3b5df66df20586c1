"""The OpenAPI document: what the framework knows of the routes, and what it cannot know of all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from interlace.server.scopes import declared, routes_of

_METHODS: Final = ("get", "put", "post", "delete", "patch")
_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Problem",
    "description": "An error as RFC 9457 has it; `code` is stable.",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened, where, and what to do."}, "code": {"type": "string"},
        "problems": {"type": "array", "items": {"type": "object"}, "description": "Of a document, inputs or a form: all of them."},
        "errors": {"type": "array", "items": {"type": "object"}, "description": "Of a request: its fields."},
        "run_id": {"type": "string"},
    },
}  # fmt: skip
_WIRE_ERROR: Final[dict[str, Any]] = {
    "type": "object",
    "title": "WireError",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object", "required": ["message", "type"],
            "properties": {
                "message": {"type": "string"}, "type": {"type": "string"},
                "param": {"type": ["string", "null"]}, "code": {"type": ["string", "null"]},
            },
        }
    },
}  # fmt: skip
_PAGE: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Page",
    "description": "A part of a list; `next_cursor` asks for what follows, null at the end.",
    "required": ["items", "next_cursor"],
    "properties": {
        "items": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
        "next_cursor": {"type": ["string", "integer", "null"]},
    },
}  # fmt: skip


def describe(app: FastAPI) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    schema = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=_TAGS
    )
    schema = _renamed(schema)
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas |= {"Problem": _PROBLEM, "WireError": _WIRE_ERROR, "Page": _PAGE}
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key, `il_…`."}
    }
    scopes = {
        (str(route.path), method.lower()): declared(route)
        for route in routes_of(app)
        for method in route.methods or ()
    }
    public = {
        (str(route.path), method.lower())
        for route in routes_of(app)
        for method in route.methods or ()
        if _is_public(route)
    }
    for path, method, operation in _operations(schema):
        plain = path.replace(":path}", "}")
        key = next(
            ((p, m) for p, m in scopes if m == method and p.replace(":path}", "}") == plain), (path, method)
        )
        _describe(path, operation, wanted=scopes.get(key), public=key in public)
    _name(schema)
    app.openapi_schema = schema
    return schema


def _renamed(schema: dict[str, Any]) -> dict[str, Any]:
    """Models of one name told apart by their module, instead of by the whole path to it."""
    known = schema.get("components", {}).get("schemas", {})
    text = json.dumps(schema)
    for name in [name for name in known if "__" in name]:
        *_, module, model = name.split("__")
        short = f"{module.title().replace('_', '')}{model}"
        text = text.replace(f'"{name}"', f'"{short}"').replace(f'/{name}"', f'/{short}"')
    found: dict[str, Any] = json.loads(text)
    for name, model in found.get("components", {}).get("schemas", {}).items():
        model["title"] = name
    return found


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in schema["paths"].items():
        for method in _METHODS:
            if method in item:
                yield path, method, item[method]


def _is_public(route: Any) -> bool:
    names = {getattr(entry.dependency, "__name__", "") for entry in getattr(route, "dependencies", ()) or ()}
    return "_nobody" in names


def _describe(path: str, operation: dict[str, Any], *, wanted: tuple[str, ...] | None, public: bool) -> None:
    wire = path.startswith("/v1/")
    kind, ref = ("application/json", "WireError") if wire else ("application/problem+json", "Problem")
    responses = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422", "")):
        del responses["422"]
    error = {"content": {kind: {"schema": {"$ref": f"#/components/schemas/{ref}"}}}}
    responses.setdefault("4XX", {"description": "It was refused.", **error})
    responses.setdefault("5XX", {"description": "It failed.", **error})
    if any(parameter["name"] == "cursor" for parameter in operation.get("parameters", ())):
        shown = responses.get("200", {}).get("content", {}).get("application/json", {})
        if shown and "$ref" not in shown["schema"]:
            shown["schema"] = {"$ref": "#/components/schemas/Page"}
    if not public:
        operation["security"] = [{"key": []}]
        if wanted:
            operation["description"] = (
                f"{operation.get('description', '')}\n\nScopes: {', '.join(wanted)}.".strip()
            )


def _name(schema: dict[str, Any]) -> None:
    """Ids that are names of methods: those of the functions, with the tag where two have one."""
    found = list(_operations(schema))
    short = {id(operation): _short(path, operation) for path, _, operation in found}
    count = Counter(short.values())
    for path, _, operation in found:
        name = short[id(operation)]
        tag = str((operation.get("tags") or [path.split("/")[1]])[0]).replace("-", "_").replace(" ", "_")
        operation["operationId"] = name if count[name] == 1 and "_" in name else f"{tag}_{name}"


def _short(path: str, operation: dict[str, Any]) -> str:
    """The function's name: what the framework puts before the path."""
    made: str = operation["operationId"]
    tail = "_" + "".join(char if char.isalnum() else "_" for char in path.lstrip("/"))
    at = made.find(tail.replace("__", "__"))
    return made[:at] if at > 0 else made


_TAGS: Final = [
    {"name": "workflows", "description": "Stored workflows, their versions, and calls of what is published."},
    {"name": "runs", "description": "Runs: started, watched, explained, replayed."},
    {"name": "approvals", "description": "Requests to people."},
    {"name": "sessions", "description": "Chats."},
    {"name": "openai", "description": "The OpenAI wire format: agents and chat workflows as models."},
    {"name": "mcp", "description": "The Model Context Protocol: published workflows as tools."},
]  # fmt: skip
