"""Dify's HTTP request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, outputs
from interlace.importers.expressions import Part, Ref, mixed, path, worded
from interlace.importers.foreign import Json, at, mapping, number, objects, text
from interlace.importers.json_template import json_template
from interlace.importers.urls import usable

_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_ANY_STATUS: Final = ["200-599"]


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """HTTP; the body stays a text, and an answer above 399 is none of Dify's failures unless the node retries or branches."""
    data = node.data
    method = text(data.get("method")).upper() or "GET"
    if method not in _METHODS:
        ctx.say("changed", "method", f"The method {method!r} is not known; GET stands there.", node)
        method = "GET"
    headers = _pairs(data.get("headers"), node, ctx, secret=True)
    auth = _auth(data.get("authorization"), node, ctx, headers)
    body = _body(data.get("body"), node, ctx, headers)
    strict = bool(text(data.get("error_strategy"))) or at(data, "retry_config", "retry_enabled") is True
    url = usable(
        ctx.worded(text(data.get("url")).strip(), node), step=node.name, source=node.title, report=ctx.report
    )
    config = {
        "method": method, "url": url, "query": _pairs(data.get("params"), node, ctx),
        "headers": headers, "auth": auth, "body": body, "ok_statuses": None if strict else list(_ANY_STATUS),
        "response_as": "auto" if _gives_files(node, ctx) else "text",
    }  # fmt: skip
    step = ctx.step(node, "HTTP", spread(config))
    if data.get("ssl_verify") is False:
        step.config["verify"] = False
    limits = [number(value) or 0 for value in mapping(data.get("timeout")).values()]
    if any(limits):
        step.timeout = max(limits)
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def _pairs(value: Any, node: DifyNode, ctx: Context, *, secret: bool = False) -> Json:
    """Lines of `name:value` as an object."""
    made: Json = {}
    for line in text(value).splitlines():
        name, colon, words = line.partition(":")
        if name.strip() and colon:
            made[name.strip()] = ctx.mixed(words.strip(), node, secret=secret)
    return made


def _auth(value: Any, node: DifyNode, ctx: Context, headers: Json) -> Json | None:
    config = mapping(at(value, "config"))
    if text(at(value, "type")) != "api-key" or not config:
        return None
    kind = text(config.get("type")) or "basic"
    written = ctx.parts(text(config.get("api_key")), node, secret=True)
    key = _secret(written, node, ctx)
    if kind == "bearer":
        return {"type": "bearer", "token": key}
    if kind == "custom":
        return {"type": "header", "name": text(config.get("header")) or "Authorization", "value": key}
    headers["Authorization"] = f"Basic {key}"
    return None


def _secret(parts: list[Part], node: DifyNode, ctx: Context) -> str:
    """A key that stands in the file is not copied into the document: it becomes a secret to set."""
    if any(isinstance(part, Ref) for part in parts):
        return mixed(parts)
    name = f"{node.name}_key"
    ctx.say(
        "decision",
        "set_secret",
        f"Set the secret {name}; the key in the file was not copied: interlace secrets set {name}",
        node,
    )
    return "{{ secrets." + name + " }}"


def _body(value: Any, node: DifyNode, ctx: Context, headers: Json) -> Json | None:
    kind, data = text(at(value, "type")), at(value, "data")
    entries = objects(data)
    words = (
        text(data) if isinstance(data, str) else "".join(text(entry.get("value")) for entry in entries[:1])
    )
    if kind in ("", "none"):
        return None
    if kind in ("form-data", "x-www-form-urlencoded"):
        fields = {
            text(entry.get("key")): ctx.mixed(_field_value(entry), node)
            for entry in entries
            if text(entry.get("key"))
        } or _pairs(data, node, ctx)
        return {"type": "multipart" if kind == "form-data" else "form", "fields": fields}
    if kind == "binary":
        chosen = entries[0].get("file") if entries else None
        return {"type": "file", "file": mixed([ctx.ref(chosen, node)])}
    if kind == "json":
        _drop(headers, "content-type")
        parts = ctx.parts(words, node)
        found = json_template(parts)
        if found is not None:
            return {"type": "json", "content": found}
        return {"type": "raw", "content": worded(parts), "media_type": "application/json"}
    return {"type": "raw", "content": ctx.worded(words, node), **_media_type(headers)}


def _field_value(entry: Json) -> str:
    """The value of a form's field; a file is named by its selector."""
    chosen = entry.get("file")
    if text(entry.get("type")) == "file" and isinstance(chosen, list):
        return "{{#" + ".".join(text(one) for one in chosen) + "#}}"
    return text(entry.get("value"))


def _media_type(headers: Json) -> Json:
    given = _drop(headers, "content-type")
    return {"media_type": given} if given and "{{" not in given else {}


def _drop(headers: Json, wanted: str) -> str:
    for name in list(headers):
        if name.lower() == wanted:
            return str(headers.pop(name))
    return ""


def _gives_files(node: DifyNode, ctx: Context) -> bool:
    """Whether the files of an answer are read somewhere."""
    marks = (f'"{node.id}", "files"', f"#{node.id}.files")
    written = (json.dumps(one.data, ensure_ascii=False, default=str) for one in ctx.file.nodes.values())
    return any(mark in words for words in written for mark in marks)


def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The body is a text; an answer that is a file stands among the files."""
    if keys[:1] not in (["body"], ["files"]) or not _gives_files(node, ctx):
        return _OUTPUT(node, keys, ctx)
    body = path(node.name, "body")
    is_file = f"{body}.sha256 is defined"
    if keys[0] == "files":
        return (
            Ref(f"[{body}] if {is_file} else []")
            if len(keys) == 1
            else Ref(path(f"([{body}] if {is_file} else [])", *keys[1:]))
        )
    return Ref(f"({body} if {body} is string else '' if {is_file} else {body} | tojson)", is_text=True)


_OUTPUT: Final = outputs({"files": ("body",)}, texts=frozenset({"body"}))
KINDS: Final = {
    "http-request": Kind(convert, output, fallback="http"),
}
