"""A connector as an OpenAPI 3.1 description, which imports as the same connector. It holds no secret."""

from __future__ import annotations

from typing import Any

from interlace.engine.document import JsonSchema as Schema
from interlace.resources.connectors.auth import (
    AnyAuth,
    BasicCredentials,
    BearerCredentials,
    ClientGrant,
    CodeGrant,
    KeyCredentials,
)
from interlace.resources.connectors.definition import Action, Body, Connector, Parameter
from interlace.resources.connectors.names import action_name, ascii_name
from interlace.resources.connectors.openapi.schema import FILE_OR_TEXT
from interlace.resources.connectors.schemas import PREFIX, unescaped

EXTENSION = "x-interlace"
_SCHEME = "credentials"
_USUAL = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


def export_openapi(connector: Connector) -> dict[str, Any]:
    """The description as plain data.

    What OpenAPI has no words for (extraction, pages, names of arguments) stands under `x-interlace`.
    """
    paths: dict[str, Any] = {}
    for action in connector.actions:
        path = action.path or "/"
        method = action.method.lower()
        number = 2
        while method in paths.get(path, {}):
            path, number = f"{action.path or '/'}#{number}", number + 1
        item = paths.setdefault(path, {})
        if method in _USUAL:
            item[method] = _operation(connector, action)
        else:
            item.setdefault("additionalOperations", {})[action.method] = _operation(connector, action)
    made: dict[str, Any] = {
        "openapi": "3.1.0" if all("additionalOperations" not in item for item in paths.values()) else "3.2.0",
        "info": {
            "title": connector.title or connector.name,
            "version": "1.0.0",
            "description": connector.description,
        },
        "servers": _servers(connector, connector.base_url),
        "paths": paths,
        "components": {
            "schemas": {ascii_name(name): _schema(schema) for name, schema in connector.schemas.items()}
        },
    }
    scheme = _scheme(connector.auth)
    if scheme is not None:
        made["components"]["securitySchemes"] = {_SCHEME: scheme}
        made["security"] = [{_SCHEME: list(getattr(connector.auth, "scopes", []))}]
    settings = connector.model_dump(
        mode="json", by_alias=True, exclude_defaults=True,
        include={"name", "headers", "timeout", "rate_limit", "pagination", "credentials"},
    )  # fmt: skip
    made[EXTENSION] = settings
    return made


def _servers(connector: Connector, url: str) -> list[dict[str, Any]]:
    if not url:
        return []
    used = {name: {"default": value} for name, value in connector.variables.items() if f"{{{name}}}" in url}
    return [{"url": url, "variables": used} if used else {"url": url}]


def _operation(connector: Connector, action: Action) -> dict[str, Any]:
    summary, _, rest = action.description.partition("\n\n")
    said = {
        "summary": summary, "description": rest, "tags": action.tags, "deprecated": action.deprecated,
        "servers": _servers(connector, action.base_url),
    }  # fmt: skip
    made: dict[str, Any] = {
        "operationId": action.name,
        **{key: value for key, value in said.items() if value},
    }
    plain = [parameter for parameter in action.parameters if parameter.place != "body"]
    if plain:
        made["parameters"] = [_parameter(parameter) for parameter in plain]
    if action.bodies:
        content = {body.media_type: _media_type(body) for body in action.bodies}
        made["requestBody"] = {"required": action.body_required, "content": content}
    made["responses"] = {"200": _answer(action)}
    if not action.authenticate:
        made["security"] = []
    extra = _extra(action)
    if extra:
        made[EXTENSION] = extra
    return made


def _answer(action: Action) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "Done."}
    kinds = [kind.strip() for kind in action.accept.split(",") if kind.strip()] or ["application/json"]
    if action.response_schema or action.accept:
        answer["content"] = {kind: {"schema": _schema(action.response_schema)} for kind in kinds}
    return answer


def _extra(action: Action) -> dict[str, Any]:
    """What OpenAPI has no words for."""
    extra: dict[str, Any] = action.model_dump(
        mode="json", by_alias=True, exclude_defaults=True,
        include={"extract", "pagination", "body_name", "body_template", "body_media_type"},
    )  # fmt: skip
    fields = [parameter for parameter in action.parameters if parameter.place == "body"]
    if fields:
        extra["parameters"] = [
            field.model_dump(mode="json", by_alias=True, exclude_defaults=True) for field in fields
        ]
    if action.requires_confirmation and action.reads:
        extra["requires_confirmation"] = True
    if action_name(action.method, action.path, action.name) != action.name:
        extra["name"] = action.name
    return extra


def _parameter(parameter: Parameter) -> dict[str, Any]:
    made: dict[str, Any] = {"name": parameter.wire, "in": parameter.place, "required": parameter.required}
    if parameter.description:
        made["description"] = parameter.description
    if parameter.style is not None:
        made["style"] = parameter.style
    if parameter.explode is not None:
        made["explode"] = parameter.explode
    if parameter.allow_reserved:
        made["allowReserved"] = True
    schema = _schema(parameter.schema_)
    if parameter.media_type is None:
        made["schema"] = schema
    else:
        made["content"] = {parameter.media_type: {"schema": schema}}
    return made


def _media_type(body: Body) -> dict[str, Any]:
    made: dict[str, Any] = {"schema": _schema(body.schema_)}
    encoding: dict[str, Any] = {}
    for name, entry in body.encoding.items():
        written = {"contentType": entry.media_type, "style": entry.style, "explode": entry.explode}
        encoding[name] = {key: value for key, value in written.items() if value is not None}
        if entry.allow_reserved:
            encoding[name]["allowReserved"] = True
    if encoding:
        made["encoding"] = encoding
    return made


def _schema(value: Any) -> Any:
    """The schema with references into the components, and files as OpenAPI writes them."""
    if isinstance(value, list):
        return [_schema(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if value.get("anyOf") == FILE_OR_TEXT["anyOf"]:
        words: Schema = {key: entry for key, entry in value.items() if key != "anyOf"}
        return {"type": "string", "format": "binary", **words}
    made = {key: _schema(entry) for key, entry in value.items()}
    ref = made.get("$ref")
    if isinstance(ref, str) and ref.startswith(PREFIX):
        made["$ref"] = "#/components/schemas/" + ascii_name(unescaped(ref[len(PREFIX) :]))
    return made


def _scheme(auth: AnyAuth) -> dict[str, Any] | None:
    if isinstance(auth, BearerCredentials):
        return {"type": "http", "scheme": "bearer"}
    if isinstance(auth, BasicCredentials):
        return {"type": "http", "scheme": "basic"}
    if isinstance(auth, KeyCredentials):
        return {"type": "apiKey", "in": auth.place, "name": auth.name}
    if isinstance(auth, (ClientGrant, CodeGrant)):
        scopes = dict.fromkeys(auth.scopes, "")
        flow: dict[str, Any] = {"tokenUrl": auth.token_url, "scopes": scopes}
        if isinstance(auth, ClientGrant):
            return {"type": "oauth2", "flows": {"clientCredentials": flow}}
        flow["authorizationUrl"] = auth.authorize_url
        if auth.refresh_url:
            flow["refreshUrl"] = auth.refresh_url
        return {"type": "oauth2", "flows": {"authorizationCode": flow}}
    return None
