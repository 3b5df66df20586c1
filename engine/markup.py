"""XML and YAML as plain data, without what makes them dangerous: no entities, no fetching, no objects, no alias bombs."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any
from xml.parsers import expat

import yaml

from interlace.engine.errors import NodeError

_DEPTH = 100
_MAX_NODES = 2_000_000
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_xml(text: str) -> dict[str, Any]:
    """The document as {root: …}: attributes as `@name`, children by name (repeated ones as a list), text as text.

    An element with attributes or children keeps its text as `#text`; an empty element is null.

    Raises:
        NodeError: the text is no XML, declares entities, or is nested too deep.
    """
    builder = _XmlBuilder()
    # a text is Unicode already: what its XML declaration says about bytes no longer holds
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.EntityDeclHandler = builder.entity
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise NodeError(
            f"the text is no XML: line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}",
            kind="parse",
        ) from None
    return builder.root


class _XmlBuilder:
    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self._open: list[tuple[str, dict[str, Any], list[str]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _DEPTH:
            raise NodeError(f"the XML is nested more than {_DEPTH} levels deep", kind="parse")
        self._open.append((name, {f"@{key}": value for key, value in attributes.items()}, []))

    def characters(self, text: str) -> None:
        self._open[-1][2].append(text)

    def end(self, name: str) -> None:
        _, fields, texts = self._open.pop()
        text = "".join(texts).strip()
        if fields and text:
            fields["#text"] = text
        value: Any = fields or text or None
        parent = self._open[-1][1] if self._open else self.root
        if name not in parent:
            parent[name] = value
        elif isinstance(parent[name], list):
            parent[name].append(value)
        else:
            parent[name] = [parent[name], value]

    def entity(self, name: str, *_: Any) -> None:
        raise NodeError(f"the XML declares the entity {name!r}; entities are not allowed", kind="parse")


class _YamlLoader(_Loader):  # type: ignore[misc]
    """Plain data by the core schema of YAML 1.2: `no`, `12:30` and `2026-11-30` stay the texts that they are."""


def _integer(_: Any, node: yaml.ScalarNode) -> int:
    text = node.value
    return int(text, 0) if text[:2] in ("0x", "0o") else int(text)


_YamlLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+)$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?$", "-+.0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    ("merge", r"^<<$", "<"),
):
    _YamlLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), ["" if c == "\0" else c for c in _first]
    )
_YamlLoader.add_constructor("tag:yaml.org,2002:int", _integer)
_YamlLoader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))


def parse_yaml(text: str) -> Any:
    """The value of a YAML document, as JSON data: keys are texts, dates stay as written.

    Raises:
        NodeError: the text is no YAML, holds several documents or tagged objects, or its aliases make it too large.
    """
    loader = _YamlLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _measure(node, {}, 0)
        return _plain(loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark is not None else ""
        raise NodeError(
            f"the text is no YAML: {where}{error.problem or error.context}", kind="parse"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NodeError(f"the text is no YAML: {str(error) or type(error).__name__}", kind="parse") from None
    finally:
        loader.dispose()


def _measure(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    """How many values the node stands for when every alias is written out."""
    if id(node) in known:
        if known[id(node)] == 0:
            raise NodeError("the YAML refers to itself", kind="parse")
        return known[id(node)]
    if depth > _DEPTH:
        raise NodeError(f"the YAML is nested more than {_DEPTH} levels deep", kind="parse")
    known[id(node)] = 0
    size = 1
    if isinstance(node, yaml.SequenceNode):
        size += sum(_measure(part, known, depth + 1) for part in node.value)
    elif isinstance(node, yaml.MappingNode):
        size += sum(_measure(part, known, depth + 1) for pair in node.value for part in pair)
    if size > _MAX_NODES:
        raise NodeError(f"the YAML stands for more than {_MAX_NODES:,} values", kind="parse")
    known[id(node)] = size
    return size


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else _key(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, set):
        return sorted(_key(entry) for entry in value)
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        raise NodeError("the YAML holds binary data, which is no JSON", kind="parse")
    return value


def _key(key: Any) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)
