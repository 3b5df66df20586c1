"""n8n's HTTP request, of all versions, with its credentials as secret slots and its pages."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.build import spread
from interlace.importers.expressions import path, shown
from interlace.importers.foreign import Json, mapping, number, objects, text
from interlace.importers.n8n.context import Site, on_error, param
from interlace.importers.n8n.fields import Fields, pairs
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Each, Outcome
from interlace.importers.n8n.nodes.paging import paging
from interlace.importers.n8n.values import Value, record
from interlace.importers.naming import slug
from interlace.importers.urls import usable

_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_PLAIN: Final = frozenset({"text", "string", "file"})
"""Forms of an answer that are kept as they come."""
_NEWER: Final = 3
"""From this version on a list in the answer becomes items."""


def request(node: N8nNode, site: Site) -> Outcome:
    """HTTP, and a TRANSFORM that makes items of the answer where it may be a list."""
    fields = site.fields(node)
    config = {**_request(node, site, fields), **_options(node, fields)}
    step = site.add(node, "HTTP", spread(config))
    if param(node, "options", "allowUnauthorizedCerts") is True:
        step.config["verify"] = False
    limit = number(param(node, "options", "timeout"))
    if limit and limit > 0:
        step.timeout = limit / 1000
    batch = mapping(param(node, "options", "batching", "batch"))
    if batch:
        site.ctx.say(
            "changed",
            "batching",
            "Requests were sent in batches with pauses; here one after the other.",
            node,
        )
    return _outcome(node, site, step.id)


def _request(node: N8nNode, site: Site, fields: Fields) -> Json:
    given = node.parameters
    method = fields.words(given.get("method") or given.get("requestMethod") or "GET").upper()
    if method not in _METHODS:
        site.ctx.say(
            "decision", "method", f"The method {method!r} is computed or not known; GET stands there.", node
        )
        method = "GET"
    headers = _named(
        node,
        fields,
        "headerParameters",
        "headerParametersUi",
        "jsonHeaders",
        "headerParametersJson",
        "sendHeaders",
    )
    config: Json = {
        "method": method,
        "url": usable(
            fields.words(given.get("url")).strip(), step=node.id, source=node.name, report=site.ctx.report
        ),
        "query": _named(
            node,
            fields,
            "queryParameters",
            "queryParametersUi",
            "jsonQuery",
            "queryParametersJson",
            "sendQuery",
        ),
        "body": _body(node, fields, headers) if method != "GET" or given.get("sendBody") is True else None,
    }
    return {**config, "headers": headers, "auth": auth(node, site)}


def _named(  # noqa: PLR0917 - each is asked for by name in the file
    node: N8nNode, fields: Fields, new: str, old: str, new_json: str, old_json: str, switch: str
) -> Json:
    """Names and values, from a list of pairs or from JSON text."""
    given = node.parameters
    if node.version >= _NEWER and given.get(switch) is not True:
        return {}
    written = (
        given.get(new_json)
        if node.version >= _NEWER
        else given.get(old_json)
        if given.get("jsonParameters") is True
        else None
    )
    as_json = text(given.get(f"specify{switch.removeprefix('send')}")) == "json" or node.version < _NEWER
    if written and as_json:
        found = fields.json(written)
        if isinstance(found, dict):
            return found
    entries = pairs(mapping(given.get(new)).get("parameters")) + pairs(
        mapping(given.get(old)).get("parameter")
    )
    return {name: fields.any(value) for name, value in entries}


def _body(node: N8nNode, fields: Fields, headers: Json) -> Json | None:  # noqa: PLR0911 - one return a case
    given = node.parameters
    if node.version >= _NEWER and given.get("sendBody") is not True:
        return None
    kind = text(given.get("contentType") or param(node, "options", "bodyContentType")) or "json"
    if kind == "binaryData" or given.get("sendBinaryData") is True:
        name = text(given.get("inputDataFieldName") or given.get("binaryPropertyName")) or "data"
        return {"type": "file", "file": shown(fields.scope.current().get(name).code)}
    if kind == "raw":
        media = fields.words(
            given.get("rawContentType") or param(node, "options", "bodyContentCustomMimeType")
        )
        content = fields.words(given.get("body") or given.get("bodyParametersJson"))
        return {
            "type": "raw",
            "content": content,
            **({"media_type": media} if media and "{{" not in media else {}),
        }
    written = given.get("jsonBody") if node.version >= _NEWER else given.get("bodyParametersJson")
    pairs_wanted = node.version >= _NEWER and text(given.get("specifyBody") or "keypair") == "keypair"
    if written and not pairs_wanted and (node.version >= _NEWER or given.get("jsonParameters") is True):
        return _json_body(written, kind, fields)
    if text(given.get("specifyBody")) == "string":
        return {
            "type": "raw",
            "content": fields.words(given.get("body")),
            "media_type": "application/x-www-form-urlencoded",
        }
    entries = objects(mapping(given.get("bodyParameters")).get("parameters")) or objects(
        mapping(given.get("bodyParametersUi")).get("parameter")
    )
    made = {text(entry.get("name")): _entry(entry, fields) for entry in entries if text(entry.get("name"))}
    for name in [name for name in headers if name.lower() == "content-type"]:
        del headers[name]
    if kind == "form-urlencoded":
        return {"type": "form", "fields": made}
    if kind == "multipart-form-data":
        return {"type": "multipart", "fields": made}
    return {"type": "json", "content": made} if made else None


def _entry(entry: Json, fields: Fields) -> Any:
    if text(entry.get("parameterType")) == "formBinaryData":
        return shown(fields.scope.current().get(text(entry.get("inputDataFieldName")) or "data").code)
    return fields.any(entry.get("value", ""))


def _json_body(written: Any, kind: str, fields: Fields) -> Json:
    found = fields.json(written)
    if isinstance(found, dict) and kind in ("form-urlencoded", "multipart-form-data"):
        return {"type": "form" if kind == "form-urlencoded" else "multipart", "fields": found}
    if found is not None:
        return {"type": "json", "content": found}
    value = fields.value(written)
    if value.kind in ("object", "list", "any") and " ~ " not in value.code:
        return {"type": "json", "content": shown(value.code)}
    return {"type": "raw", "content": fields.words(written), "media_type": "application/json"}


def auth(node: N8nNode, site: Site) -> Json | None:
    """The credential of a node as a secret slot of the right kind."""
    given = node.parameters
    kind = text(given.get("authentication"))
    if kind in ("", "none"):
        return None
    if kind == "genericCredentialType":
        kind = text(given.get("genericAuthType"))
    elif kind == "predefinedCredentialType":
        kind = text(given.get("nodeCredentialType"))
    credential = mapping(node.credentials.get(kind)) or mapping(next(iter(node.credentials.values()), None))
    slot = slug(text(credential.get("name")) or kind) or "credential"
    named = kind.lower()
    if "basic" in named or "digest" in named:
        return {
            "type": "basic",
            "username": site.ctx.secret(f"{slot}_user", node),
            "password": site.ctx.secret(f"{slot}_password", node),
        }
    if "header" in named:
        site.ctx.say(
            "decision",
            "header_name",
            "The header's name stands in the credential; Authorization is taken here.",
            node,
        )
        return {"type": "header", "name": "Authorization", "value": site.ctx.secret(slot, node)}
    if "query" in named:
        site.ctx.say(
            "decision",
            "query_name",
            "The parameter's name stands in the credential; api_key is taken here.",
            node,
        )
        return {"type": "query", "name": "api_key", "value": site.ctx.secret(slot, node)}
    if "bearer" not in named:
        site.ctx.say(
            "decision",
            "credential",
            f"The credential {kind} is sent as a bearer token here; check how the API wants it.",
            node,
        )
    return {"type": "bearer", "token": site.ctx.secret(slot, node)}


def _options(node: N8nNode, fields: Fields) -> Json:
    options = mapping(node.parameters.get("options"))
    response = mapping(mapping(options.get("response")).get("response"))
    made: Json = {}
    if (
        response.get("neverError") is True
        or options.get("neverError") is True
        or options.get("ignoreResponseCode") is True
    ):
        made["ok_statuses"] = ["200-599"]
    form = text(
        response.get("responseFormat")
        or options.get("responseFormat")
        or node.parameters.get("responseFormat")
    )
    made["response_as"] = {"json": "json", "text": "text", "string": "text", "file": "file"}.get(form)
    redirect = mapping(mapping(options.get("redirect")).get("redirect"))
    if redirect.get("followRedirects") is False or options.get("followRedirect") is False:
        made["follow_redirects"] = False
    if text(options.get("proxy")):
        made["proxy"] = {"url": fields.words(options["proxy"])}
    made["paginate"] = paging(mapping(mapping(options.get("pagination")).get("pagination")), fields)
    return {name: value for name, value in made.items() if value is not None}


def _form(node: N8nNode, response: Json) -> str:
    return text(response.get("responseFormat") or node.parameters.get("responseFormat"))


def gives_items(node: N8nNode) -> bool:
    """Whether a list in the answer becomes items."""
    options = mapping(node.parameters.get("options"))
    response = mapping(mapping(options.get("response")).get("response"))
    is_whole = response.get("fullResponse") is True or options.get("fullResponse") is True
    if is_whole or _form(node, response) in _PLAIN:
        return False
    paged = bool(mapping(mapping(options.get("pagination")).get("pagination")))
    return node.version >= _NEWER or options.get("splitIntoItems") is True or paged


def kind_of_request(node: N8nNode) -> Each:
    """By what becomes of the answer."""
    return _LISTS if gives_items(node) else _SINGLE


def _outcome(node: N8nNode, site: Site, step: str) -> Outcome:
    options = mapping(node.parameters.get("options"))
    response = mapping(mapping(options.get("response")).get("response"))
    body = path(step, "body")
    failed = on_error(node) == "continueRegularOutput"
    if response.get("fullResponse") is True or options.get("fullResponse") is True:
        fields = {
            "body": Value(body),
            "headers": Value(path(step, "headers")),
            "statusCode": Value(path(step, "status_code"), "number"),
        }
        return Outcome(record({**fields, "error": Value(path(step, "error"))} if failed else fields))
    form = _form(node, response)
    if form in _PLAIN:
        name = text(response.get("outputPropertyName") or node.parameters.get("dataPropertyName")) or "data"
        return Outcome(record({name: Value(body, "text" if form != "file" else "any")}))
    if not gives_items(node):
        return Outcome(Value(body))
    return _items(node, site, step, body, failed=failed)


def _items(node: N8nNode, site: Site, step: str, body: str, *, failed: bool) -> Outcome:
    """A list in the answer becomes items, an object one item, a text an item with `data`."""
    one = f"{body} if {body} is mapping else {{'data': {body}}}"
    code = f"{body} if {body} is sequence else [{one}]"
    if failed:
        code = f"[{{'error': {step}.error}}] if {step}.error else {code}"
    made = site.add(node, "TRANSFORM", {"input": shown(code)}, suffix="items")
    return Outcome(Value(path(made.id, "result"), "items"), listed=True)


_SINGLE: Final = Each(convert=request)
_LISTS: Final = Each(convert=request, lists=True)
KINDS: Final = {"httpRequest": kind_of_request, "httpRequestTool": kind_of_request}
