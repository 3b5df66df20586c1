"""What people may write shorter: `size.large -> ask` for an edge, `config.body` for a node's body."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from interlace.engine.source.places import Step
from interlace.engine.source.wording import Fault

CONTAINERS = frozenset({"ITERATION", "LOOP"})
Path: TypeAlias = tuple[Step, ...]
_END = re.compile(r"(\$?[^\s.$]+)(?:\.(\S(?:.*\S)?))?", re.DOTALL)


@dataclass(slots=True)
class Expansion:
    """Long forms made from short ones, and where each came from."""

    faults: list[Fault] = field(default_factory=list)
    rows: dict[Path, list[int]] = field(default_factory=dict)
    """Index in the text of each edge, for the bodies (by path) where chains made more edges than lines."""
    moved: set[Path] = field(default_factory=set)
    """Nodes whose body stood in `config`."""


def expand(data: dict[str, Any]) -> Expansion:
    """Replace the short forms in a document's data by the long ones, in place."""
    expansion = Expansion()
    _container(data, (), expansion)
    return expansion


def _container(data: dict[str, Any], path: Path, expansion: Expansion) -> None:
    edges = data.get("edges")
    if isinstance(edges, list) and any(type(edge) is str for edge in edges):
        data["edges"] = _edges(edges, path, expansion)
    nodes = data.get("nodes")
    for index, node in enumerate(nodes if isinstance(nodes, list) else ()):
        if type(node) is not dict:
            continue
        kind = node.get("type")
        if isinstance(kind, str) and kind in CONTAINERS:
            _move_body(node, (*path, "nodes", index), expansion)
        body = node.get("body")
        if type(body) is dict:
            _container(body, (*path, "nodes", index, "body"), expansion)


def _move_body(node: dict[str, Any], path: Path, expansion: Expansion) -> None:
    config = node.get("config")
    if type(config) is not dict or "body" not in config:
        return
    if node.get("body") is not None:
        expansion.faults.append(
            Fault(
                "body_twice",
                (*path, "config", "body"),
                "The body stands both in the node and in its config.",
                "Keep one.",
            )
        )
        node["config"] = {key: value for key, value in config.items() if key != "body"}
        return
    node["body"] = config["body"]
    node["config"] = {key: value for key, value in config.items() if key != "body"}
    expansion.moved.add(path)


def _edges(edges: list[Any], path: Path, expansion: Expansion) -> list[Any]:
    made: list[Any] = []
    rows: list[int] = []
    for index, edge in enumerate(edges):
        parts: list[Any] = [edge]
        if type(edge) is str:
            try:
                parts = chain(edge)
            except ValueError as error:
                fix = "Write 'source -> target', 'source.handle -> target', or {from: source, handle: …, to: target}."
                expansion.faults.append(Fault("bad_edge", (*path, "edges", index), str(error), fix))
                parts = []
        made.extend(parts)
        rows.extend([index] * len(parts))
    if rows != list(range(len(rows))):
        expansion.rows[path] = rows
    return made


def chain(text: str) -> list[dict[str, str]]:
    """The edges of `a -> b.handle -> c`.

    Raises:
        ValueError: the text is no edge.
    """
    ends = [_END.fullmatch(part.strip()) for part in text.split("->")]
    if len(ends) < 2:  # noqa: PLR2004 - an edge has two ends
        raise ValueError(f"The edge {text!r} has no '->'.")
    made = []
    for source, target in pairwise(ends):
        if source is None or target is None:
            raise ValueError(f"The edge {text!r} lacks the id at one end of '->'.")
        edge = {"from": source[1], "to": target[1]}
        if source[2] is not None:
            edge["handle"] = source[2]
        made.append(edge)
    last = ends[-1]
    if last is not None and last[2] is not None:
        raise ValueError(f"The edge {text!r} ends at a handle; edges end at nodes.")
    return made


def short(source: str, handle: str, target: str) -> str | None:
    """The short form of an edge, None where it would not be read back as the same edge."""
    text = f"{source} -> {target}" if handle == "out" else f"{source}.{handle} -> {target}"
    try:
        again = chain(text)
    except ValueError:
        return None
    wanted = {"from": source, "to": target, "handle": handle}
    return text if [{"handle": "out", **edge} for edge in again] == [wanted] else None
