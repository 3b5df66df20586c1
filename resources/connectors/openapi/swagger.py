"""OpenAPI 2.0 in the shape of 3.0: places change, meanings do not."""

from __future__ import annotations

from typing import Any

from interlace.resources.connectors.openapi.references import References, Unresolved

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

_JSON = "application/json"
_MULTIPART, _FORM = "multipart/form-data", "application/x-www-form-urlencoded"
_OUTSIDE_SCHEMA = frozenset({"name", "in", "description", "required", "collectionFormat", "allowEmptyValue"})
_STYLES = {
    "csv": ("form", False), "ssv": ("spaceDelimited", False), "tsv": ("form", False), "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}  # fmt: skip
_FLOWS = {
    "accessCode": "authorizationCode", "application": "clientCredentials", "implicit": "implicit", "password": "password",
}  # fmt: skip


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """The description as 3.0 would write it. References stay valid: what they name stays where it is."""
    references = References(data)
    made = {key: value for key, value in data.items() if key not in ("swagger", "paths", "security")}
    made["openapi"] = "2.0"
    made["servers"] = _servers(data)
    made["security"] = data.get("security", [])
    schemes = data.get("securityDefinitions")
    made["components"] = {
        "securitySchemes": {
            name: _scheme(scheme)
            for name, scheme in (schemes.items() if isinstance(schemes, dict) else ())
            if isinstance(scheme, dict)
        }
    }
    paths = data.get("paths")
    made["paths"] = (
        {path: _item(item, data, references) for path, item in paths.items()}
        if isinstance(paths, dict)
        else paths
    )
    return made


def _servers(data: dict[str, Any]) -> list[dict[str, Any]]:
    host, base = data.get("host"), data.get("basePath")
    base = base if isinstance(base, str) else ""
    if not isinstance(host, str) or not host:
        return [{"url": base}] if base else []
    schemes = data.get("schemes")
    known = [s for s in schemes if s in ("https", "http")] if isinstance(schemes, list) else []
    known.sort(reverse=True)  # https before http
    return [{"url": f"{scheme}://{host}{base}"} for scheme in known or ["https"]]


def _scheme(scheme: dict[str, Any]) -> dict[str, Any]:
    if scheme.get("type") == "basic":
        return {**scheme, "type": "http", "scheme": "basic"}
    if scheme.get("type") == "oauth2":
        flow = _FLOWS.get(str(scheme.get("flow")), "implicit")
        return {"type": "oauth2", "flows": {flow: scheme}}
    return scheme


def _item(item: Any, data: dict[str, Any], references: References) -> Any:
    if not isinstance(item, dict):
        return item
    if isinstance(item.get("$ref"), str):
        try:
            item = references.follow(item)
        except Unresolved:
            return item
    shared = item.get("parameters")
    shared = shared if isinstance(shared, list) else []
    made: dict[str, Any] = {
        key: value for key, value in item.items() if key not in METHODS and key != "parameters"
    }
    for method in METHODS:
        if method in item:
            made[method] = _operation(item[method], shared, data, references)
    return made


def _operation(operation: Any, shared: list[Any], data: dict[str, Any], references: References) -> Any:
    if not isinstance(operation, dict) or "$ref" in operation:
        return operation
    own = operation.get("parameters")
    made = {key: value for key, value in operation.items() if key not in ("parameters", "responses")}
    plain: list[Any] = []
    body: dict[str, Any] | None = None
    fields: list[dict[str, Any]] = []
    given: dict[tuple[Any, Any], Any] = {}
    for entry in [*shared, *(own if isinstance(own, list) else [])]:
        try:
            found = references.follow(entry)
        except Unresolved:
            plain.append(entry)  # reported where parameters are read
            continue
        given[found.get("name"), found.get("in")] = found
    for parameter in given.values():
        if parameter.get("in") == "body":
            body = parameter
        elif parameter.get("in") == "formData":
            fields.append(parameter)
        else:
            plain.append(_parameter(parameter))
    made["parameters"] = plain
    consumes = _media_types(operation, data, "consumes")
    if fields:
        made["requestBody"] = _form(fields, consumes)
    elif body is not None:
        schema = body.get("schema", {})
        made["requestBody"] = {
            "description": body.get("description", ""),
            "required": body.get("required", False),
            "content": {kind: {"schema": schema} for kind in consumes or [_JSON]},
        }
    made["responses"] = _responses(operation.get("responses"), _media_types(operation, data, "produces"))
    return made


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    made = {
        key: value for key, value in parameter.items() if key in _OUTSIDE_SCHEMA and key != "collectionFormat"
    }
    made["schema"] = _plain_schema(parameter)
    if parameter.get("type") == "array" and parameter.get("in") in ("query", "formData"):
        made["style"], made["explode"] = _STYLES.get(
            parameter.get("collectionFormat", "csv"), ("form", False)
        )
    return made


def _plain_schema(parameter: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameter.items() if key not in _OUTSIDE_SCHEMA}


def _form(fields: list[dict[str, Any]], consumes: list[str]) -> dict[str, Any]:
    kinds = [kind for kind in consumes if kind in (_MULTIPART, _FORM)]
    if any(field.get("type") == "file" for field in fields):
        kinds = [_MULTIPART]
    properties = {
        str(field.get("name")): {**_plain_schema(field), "description": field.get("description", "")}
        for field in fields
    }
    encoding = {
        str(field["name"]): dict(zip(("style", "explode"), _STYLES.get(field.get("collectionFormat", "csv"), ("form", False)), strict=True))
        for field in fields
        if field.get("type") == "array"
    }  # fmt: skip
    required = [str(field.get("name")) for field in fields if field.get("required") is True]
    schema = {"type": "object", "properties": properties, "required": required}
    return {
        "required": bool(required),
        "content": {kind: {"schema": schema, "encoding": encoding} for kind in kinds or [_FORM]},
    }


def _responses(responses: Any, produces: list[str]) -> Any:
    if not isinstance(responses, dict):
        return responses
    made: dict[str, Any] = {}
    for status, response in responses.items():
        if isinstance(response, dict) and "schema" in response:
            content = {kind: {"schema": response["schema"]} for kind in produces or [_JSON]}
            made[status] = {**response, "content": content}
        else:
            made[status] = response
    return made


def _media_types(operation: dict[str, Any], data: dict[str, Any], name: str) -> list[str]:
    found = operation.get(name, data.get(name))
    return [str(kind) for kind in found] if isinstance(found, list) else []
