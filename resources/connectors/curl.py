"""A curl command as a connector with one action. The command is read, never run; secrets in it are put apart."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import ValidationError

from interlace.engine.document import JsonSchema as Schema
from interlace.engine.errors import NodeError
from interlace.engine.json_text import STRICT
from interlace.resources.connectors.auth import (
    AnyAuth,
    BasicCredentials,
    BearerCredentials,
    KeyCredentials,
    NoCredentials,
)
from interlace.resources.connectors.curl_command import Command, parsed
from interlace.resources.connectors.definition import READING, Action, Body, Connector, Parameter
from interlace.resources.connectors.names import action_name, clean_name, free_name
from interlace.resources.connectors.openapi.schema import FILE
from interlace.resources.connectors.report import Imported, NotImported, Report
from interlace.resources.http.url import parse_url

MAX_CHARACTERS = 1_000_000

_SECRET_NAME = re.compile(
    r"(?i)^(x-)?(.*[-_])?(authorization|api[-_]?key|apikey|key|token|access[-_]?token|secret|password|auth|session)$"
)


def import_curl(command: str, *, name: str | None = None) -> Imported:
    """The connector that one curl command stands for: base URL, credentials, and one action with its values as defaults.

    Raises:
        NotImported: it is no curl command, or has no usable URL.
    """
    if len(command) > MAX_CHARACTERS:
        raise NotImported(f"the command has more than {MAX_CHARACTERS:,} characters.")
    report = Report()
    found = parsed(command, report)
    if "://" not in found.url:
        found.urls = [f"http://{found.url}"]
    try:
        target = parse_url(re.sub(r"//[^/@]*@", "//", found.url, count=1))
    except NodeError as error:
        raise NotImported(error.message) from None
    parts = urlsplit(found.url)
    if parts.username and found.user is None:
        found.user = f"{parts.username}:{parts.password or ''}"
    secrets: dict[str, str] = {}
    pairs = parse_qsl("&".join([parts.query, *found.query]), keep_blank_values=True)
    bodies, body_pairs = _bodies(found, report)
    pairs += body_pairs
    auth, secret_headers = _auth(found, pairs, secrets, report)
    about = {
        "name": clean_name(name or target.host.replace(".", "-")) or "api", "title": target.host,
        "base_url": f"{target.scheme}://{target.host_header}", "auth": auth, "secret_headers": secret_headers, "source": "curl",
        **({"timeout": found.timeout} if found.timeout else {}),
    }  # fmt: skip
    try:
        action = _action(found, parts.path, pairs, bodies, report)
        connector = Connector.model_validate({**about, "actions": [action]})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NotImported(f"the command cannot become an action: {where}: {first['msg']}.") from None
    return Imported(connector=connector, entries=report.entries, operations=1, secrets=secrets)


def _method(found: Command, bodies: list[Body]) -> str:
    if found.method:
        return found.method.upper()
    if found.head:
        return "HEAD"
    if found.upload:
        return "PUT"
    return "GET" if found.get or not bodies else "POST"


def _bodies(found: Command, report: Report) -> tuple[list[Body], list[tuple[str, str]]]:
    """The body, and what of it goes into the query (`-G`)."""
    text = "&".join(found.data)
    if found.get:
        return [], parse_qsl(text, keep_blank_values=True)
    if found.form:
        return [_multipart(found.form, report)], []
    if found.upload:
        return [Body.model_validate({"media_type": "application/octet-stream", "schema": FILE})], []
    kind = next((value for name, value in found.headers if name.lower() == "content-type"), "")
    if found.json:
        kind, text = kind or "application/json", "".join(found.json)
    elif not found.data:
        return [], []
    return [_text_body(kind, text, report)], []


def _text_body(kind: str, text: str, report: Report) -> Body:
    """The body that a text makes, by what it calls itself and by what it is."""
    try:
        value = json.loads(text, **STRICT)
        looks_json = "json" in kind or (not kind and isinstance(value, (dict, list)))
    except ValueError:
        value, looks_json = text, False
        if "json" in kind and text:
            report.add(
                "warning", "body", "curl", "the body calls itself JSON and is none; it is sent as text."
            )
            kind = "text/plain"
    if looks_json:
        if isinstance(value, dict):
            schema, value = _guess(value), {k: v for k, v in value.items() if not _bare(k, v, report)}
            return _body(kind or "application/json", schema, value)
        return _body(kind or "application/json", _guess(value), value)
    if "urlencoded" in kind or (not kind and "=" in text):
        fields = dict(parse_qsl(text, keep_blank_values=True))
        kept = {key: entry for key, entry in fields.items() if not _bare(key, entry, report)}
        return _body("application/x-www-form-urlencoded", _guess(fields), kept)
    return _body(kind or "application/x-www-form-urlencoded", {"type": "string"}, text)


def _body(kind: str, schema: Schema, default: Any) -> Body:
    return Body.model_validate(
        {"media_type": kind, "schema": {**schema, "default": default} if default != "" else schema}
    )


def _multipart(form: list[tuple[str, str, bool]], report: Report) -> Body:
    properties: dict[str, Schema] = {}
    for name, value, special in form:
        if special and value[:1] in ("@", "<"):
            properties[name] = {"anyOf": [FILE, {"type": "string"}]}
        elif _bare(name, value, report):
            properties[name] = {"type": "string"}
        else:
            properties[name] = {"type": "string", "default": value.partition(";type=")[0]}
    return Body.model_validate(
        {"media_type": "multipart/form-data", "schema": {"type": "object", "properties": properties}}
    )


def _guess(value: Any) -> Schema:
    """A schema by an example: types, no more."""
    if isinstance(value, dict):
        return {"type": "object", "properties": {str(key): _guess(entry) for key, entry in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": _guess(value[0]) if value else {}}
    if value is None:
        return {}
    kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number"}
    return {"type": kinds.get(type(value), "string")}


def _auth(
    found: Command, pairs: list[tuple[str, str]], secrets: dict[str, str], report: Report
) -> tuple[AnyAuth, dict[str, str]]:
    """Credentials, taken out of headers and query; the first is the connector's, others are secret headers."""
    auth: AnyAuth = NoCredentials()
    if found.user is not None:
        name, _, password = found.user.partition(":")
        auth, secrets["username"], secrets["password"] = BasicCredentials(), name, password
    more: dict[str, str] = {}
    for header in list(found.headers):
        name, value = header
        if not _SECRET_NAME.match(name) and name.lower() != "cookie":
            continue
        found.headers.remove(header)
        report.add("info", "secret", "curl", f"the value of header {name!r} is kept as a secret.")
        made = _by_header(name, value, secrets) if isinstance(auth, NoCredentials) else None
        if made is None:
            more[name] = value
        else:
            auth = made
    for pair in list(pairs):
        if isinstance(auth, NoCredentials) and _SECRET_NAME.match(pair[0]) and pair[1]:
            pairs.remove(pair)
            report.add("info", "secret", "curl", f"the value of {pair[0]!r} is kept as a secret.")
            auth = KeyCredentials.model_validate({"in": "query", "name": pair[0]})
            secrets["key"] = pair[1]
    return auth.model_copy(update=dict(secrets)), more


def _by_header(name: str, value: str, secrets: dict[str, str]) -> AnyAuth | None:
    if name.lower() == "cookie":
        return None
    word, _, rest = value.partition(" ")
    if name.lower() == "authorization" and rest:
        if word.lower() == "basic":
            try:
                user, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
            except (binascii.Error, UnicodeDecodeError):
                return None
            secrets["username"], secrets["password"] = user, password
            return BasicCredentials()
        secrets["token"] = rest
        return BearerCredentials(prefix=word)
    secrets["key"] = value
    return KeyCredentials.model_validate({"in": "header", "name": name})


def _bare(name: str, value: Any, report: Report) -> bool:
    """Whether a value is left out of the definition, as it looks like a secret for which there is no other place."""
    if not _SECRET_NAME.match(name) or value in ("", None):
        return False
    report.add(
        "warning",
        "secret",
        "curl",
        f"the value of {name!r} looks like a secret and is left out; it is an argument.",
    )
    return True


def _action(
    found: Command, path: str, pairs: list[tuple[str, str]], bodies: list[Body], report: Report
) -> Action:
    method = _method(found, bodies)
    parameters: list[Parameter] = []
    taken: set[str] = {"body"} if bodies else set()
    values: dict[str, list[str]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    for key, listed in values.items():
        schema: Schema = {"type": "string", "default": listed[0]}
        if _bare(key, listed[0], report):
            schema = {"type": "string"}
        elif len(listed) > 1:
            schema = {"type": "array", "items": {"type": "string"}, "default": listed}
        parameters.append(_parameter("query", key, schema, taken))
    for key, value in found.headers:
        if key.lower() not in ("content-type", "content-length", "host", "accept-encoding", "connection"):
            parameters.append(_parameter("header", key, {"type": "string", "default": value}, taken))
    return Action.model_validate(
        {
            "name": action_name(method, path or "/"), "method": method, "path": path, "parameters": parameters,
            "bodies": bodies, "send_default_body": bool(bodies), "requires_confirmation": method not in READING,
        }
    )  # fmt: skip


def _parameter(place: str, key: str, schema: Schema, taken: set[str]) -> Parameter:
    name = free_name(clean_name(key) or place, taken)
    taken.add(name)
    return Parameter.model_validate(
        {
            "name": name,
            "key": "" if name == key else key,
            "in": place,
            "schema": schema,
            "send_default": "default" in schema,
            "required": "default" not in schema,
        }
    )
