"""An action and its arguments as one HTTP request, without credentials."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.errors import NodeError
from interlace.engine.expressions import compile_value
from interlace.resources.connectors.arguments import chosen_body
from interlace.resources.connectors.definition import Action, Body, Connector, Parameter
from interlace.resources.connectors.openapi.bodies import is_json
from interlace.resources.connectors.serialise import (
    cookie_value,
    form_pairs,
    header_value,
    path_value,
    query_pairs,
    querystring,
)
from interlace.resources.http import HttpRequest
from interlace.resources.http.body import Encoded, Part, field_text, json_body, media_type, multipart_body
from interlace.resources.http.header import without

Load = Callable[[str], Awaitable[bytes]]
"""Gives the bytes of a file by its reference."""

_HOLE = re.compile(r"\{([^{}]+)\}")
_FORM, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_BINARY = "application/octet-stream"


async def build_request(
    connector: Connector, action: Action, arguments: Mapping[str, Any], load: Load
) -> HttpRequest:
    """The request of a call whose arguments fit the action.

    Raises:
        NodeError: `bad_parameter`, `bad_body` or `no_base_url`: it cannot be written.
    """
    parts = _Parts(action.path, list(connector.headers.items()))
    for parameter in action.parameters:
        value = arguments.get(parameter.name)
        if value is not None:
            parts.add(parameter, value)
        elif parameter.place == "path":
            raise _missing(action, parameter.name)
    body = await _body(action, arguments, load)
    headers = parts.all_headers(action.accept, body.media_type)
    url = base_url(connector, action) + parts.path
    query = "&".join(part for part in parts.queries if part)
    if query:
        url += ("&" if "?" in url else "?") + query
    return HttpRequest(
        method=action.method, url=url, headers=headers, body=body.content, timeout=connector.timeout,
        repeatable=action.repeatable,
    )  # fmt: skip


@dataclass(slots=True)
class _Parts:
    """What the arguments fill in."""

    path: str
    headers: list[tuple[str, str]]
    queries: list[str] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)

    def add(self, parameter: Parameter, value: Any) -> None:
        """Write one argument where it belongs."""
        if parameter.place == "path":
            self.path = self.path.replace(f"{{{parameter.wire}}}", path_value(parameter, value))
        elif parameter.place == "query":
            self.queries += query_pairs(parameter, value)
        elif parameter.place == "querystring":
            self.queries.append(querystring(parameter, value))
        elif parameter.place == "header":
            self.headers = without(self.headers, parameter.wire.lower())
            self.headers.append((parameter.wire, header_value(parameter, value)))
        elif parameter.place == "cookie":
            self.cookies.append(f"{parameter.wire}={cookie_value(parameter, value)}")

    def all_headers(self, accept: str, content_type: str | None) -> list[tuple[str, str]]:
        """The headers, with those that the action itself sets."""
        headers = list(self.headers)
        if self.cookies:
            headers.append(("Cookie", "; ".join(self.cookies)))
        if accept and all(name.lower() != "accept" for name, _ in headers):
            headers.append(("Accept", accept))
        if content_type is not None:
            headers = [*without(headers, "content-type"), ("Content-Type", content_type)]
        return headers


def base_url(connector: Connector, action: Action) -> str:
    """Where the action's path begins, names replaced.

    Raises:
        NodeError: `no_base_url`: the connector does not say where its API is.
    """
    base = action.base_url or connector.base_url
    if not base:
        raise NodeError(
            f"connector {connector.name!r} does not say where its API is; set its base_url.",
            kind="no_base_url",
            retryable=False,
        )

    def value(found: re.Match[str]) -> str:
        given = connector.variables.get(found.group(1), "")
        if not given:
            raise NodeError(
                f"the base URL of connector {connector.name!r} needs a value for {found.group(1)!r}; set it in variables.",
                kind="no_base_url", retryable=False,
            )  # fmt: skip
        return given

    return _HOLE.sub(value, base)


class _Arguments:
    """Names of a body template: the arguments, null where one was not given. Implements `Names`."""

    def __init__(self, action: Action, arguments: Mapping[str, Any]) -> None:
        self._values = {**dict.fromkeys(action.arguments()), **arguments}

    def lookup(self, root: str) -> object:
        """The argument of that name."""
        return self._values[root]


async def _body(action: Action, arguments: Mapping[str, Any], load: Load) -> Encoded:
    fields = [parameter for parameter in action.parameters if parameter.place == "body"]
    if action.body_template is not None:
        value = compile_value(action.body_template).evaluate(_Arguments(action, arguments))
        return await encode_body(Body(media_type=action.body_media_type), value, load)
    if fields:
        given = {p.wire: arguments[p.name] for p in fields if arguments.get(p.name) is not None}
        return await encode_body(Body(media_type=action.body_media_type), given, load)
    body = chosen_body(action, arguments)
    return (
        Encoded(content=None) if body is None else await encode_body(body, arguments[action.body_name], load)
    )


async def encode_body(body: Body, value: Any, load: Load) -> Encoded:
    """The bytes of a value in a media type.

    Raises:
        NodeError: `bad_body`: the media type cannot carry it.
    """
    plain = body.media_type.partition(";")[0].strip().lower()
    if plain == _FORM:
        pairs = [
            pair
            for name, entry in _fields(value, plain).items()
            if entry is not None
            for pair in form_pairs(name, entry, body.encoding.get(name))
        ]
        return Encoded(content="&".join(pairs).encode(), media_type=_FORM)
    if plain == _MULTIPART:
        parts = [
            await _part(name, item, body, load)
            for name, entry in _fields(value, plain).items()
            for item in (entry if isinstance(entry, list) else [entry])
            if item is not None
        ]
        return multipart_body(parts)
    if is_file(value) and not is_json(body.media_type):
        kind = (
            str(value.get("media_type") or _BINARY)
            if plain in ("*/*", "") or "*" in plain
            else body.media_type
        )
        return Encoded(content=await load(str(value["ref"])), media_type=media_type(kind))
    if is_json(body.media_type) or (plain == "*/*" and not isinstance(value, str)):
        kind = "application/json" if plain == "*/*" else media_type(body.media_type)
        return Encoded(content=json_body(value).content, media_type=kind)
    if not isinstance(value, str):
        raise NodeError(
            f"a body of {body.media_type} is a text or a file, got {type(value).__name__}.",
            kind="bad_body",
            retryable=False,
        )
    kind = "text/plain; charset=utf-8" if "*" in plain else body.media_type
    return Encoded(content=value.encode(), media_type=media_type(kind))


def is_file(value: Any) -> bool:
    """Whether a value is a file by reference."""
    return isinstance(value, Mapping) and isinstance(value.get("ref"), str) and "sha256" in value


def _fields(value: Any, kind: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise NodeError(
        f"a body of {kind} is an object of fields, got {type(value).__name__}.",
        kind="bad_body",
        retryable=False,
    )


async def _part(name: str, value: Any, body: Body, load: Load) -> Part:
    encoding = body.encoding.get(name)
    kind = None if encoding is None else encoding.media_type
    if is_file(value):
        own = str(value.get("media_type") or _BINARY)
        filename = str(value.get("name") or "file")
        return Part(name=name, content=await load(str(value["ref"])), filename=filename, media_type=own)
    if kind is None and isinstance(value, (dict, list)):
        kind = "application/json"
    if kind is not None and "*" in kind:
        kind = None
    return Part(name=name, content=field_text(value).encode(), media_type=kind)


def _missing(action: Action, name: str) -> NodeError:
    return NodeError(
        f"action {action.name!r} cannot be called: parameters.{name} is required.",
        kind="bad_parameter",
        retryable=False,
    )
