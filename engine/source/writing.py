"""A document as text for people and git: stable order, defaults left out, short edges."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import yaml
from pydantic import BaseModel

from interlace.engine.document import Body, Document, Edge, NodeSpec
from interlace.engine.durations import parse_duration
from interlace.engine.source.shorthand import short

_DURATIONS = frozenset({"timeout", "delay", "max_delay", "for"})
_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_STR = "tag:yaml.org,2002:str"
_BREAKS = frozenset("\r\x85\u2028\u2029\ufeff")
"""What YAML 1.1 takes for a line break or skips: written as escapes, or reading would fold them."""
_WIDTH = 1_000_000
_CORE = re.compile(
    r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


class _Dumper(yaml.SafeDumper):
    """Block style, texts of several lines as literal blocks, quotes for what YAML 1.1 or 1.2 would not read as text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists inside mappings, as people write them."""
        del indentless
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if not _BREAKS.isdisjoint(value):
        style = '"'
    elif "\n" in value and value.strip() and not value[0].isspace():
        style = "|"
    elif _CORE.fullmatch(value):
        style = "'"
    return dumper.represent_scalar(_STR, value, style=style)


_Dumper.add_representer(str, _text)


def dump(document: Document, format: Literal["yaml", "json"] = "yaml") -> str:  # noqa: A002 - the word users know
    """The text of a document; loading it gives an equal document."""
    data = _document(document)
    if format == "json":
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    return dump_data(data)


def dump_data(data: Any) -> str:
    """Any JSON data as YAML in the same style; `read` of it gives equal data."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _document(document: Document) -> dict[str, Any]:
    made = _changed(document)
    made = {"schema": document.schema_, "name": document.name, **made}
    if document.variables:
        made["variables"] = {name: _changed(variable) for name, variable in document.variables.items()}
    if "settings" in made:
        made["settings"] = _changed(document.settings)
    if "ui" in made:
        made["ui"] = _ui(document)
    made.update(_graph(document))
    order = (
        "schema",
        "name",
        "description",
        "inputs",
        "variables",
        "settings",
        "triggers",
        "nodes",
        "edges",
        "ui",
    )
    return {name: made[name] for name in order if name in made}


def _graph(container: Document | Body) -> dict[str, Any]:
    made: dict[str, Any] = {"nodes": [_node(node) for node in container.nodes]}
    if container.edges:
        made["edges"] = [_edge(edge) for edge in container.edges]
    return made


def _node(node: NodeSpec) -> dict[str, Any]:
    made = {"id": node.id, "type": node.type, **_changed(node)}
    if node.retry is not None:
        made["retry"] = _changed(node.retry)
    if node.wait is not None:
        made["wait"] = _changed(node.wait)
    if node.body is not None:
        made["body"] = _graph(node.body)
    return made


def _edge(edge: Edge) -> str | dict[str, str]:
    text = short(edge.from_, edge.handle, edge.to)
    if text is not None:
        return text
    handle = {} if edge.handle == "out" else {"handle": edge.handle}
    return {"from": edge.from_, **handle, "to": edge.to}


def _ui(document: Document) -> dict[str, Any]:
    positions = {name: [_tidy(x), _tidy(y)] for name, (x, y) in document.ui.positions.items()}
    return {**({"positions": positions} if positions else {}), **(document.ui.model_extra or {})}


def _tidy(number: float) -> float:
    return int(number) if number.is_integer() else number


def _changed(model: BaseModel) -> dict[str, Any]:
    """The fields of a model that differ from their defaults, by their names in a document."""
    made = {}
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if value != info.get_default(call_default_factory=True):
            alias = info.alias or name
            made[alias] = _duration(value) if alias in _DURATIONS and isinstance(value, float) else value
    return made


def _duration(seconds: float) -> str | float:
    for unit, size in _UNITS:
        count = seconds / size
        if count >= 1 and count.is_integer() and parse_duration(f"{int(count)}{unit}") == seconds:
            return f"{int(count)}{unit}"
    return _tidy(seconds)
