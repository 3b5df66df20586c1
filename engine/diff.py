"""What changed between two versions of a workflow, in its own terms: nodes, edges, inputs; never lines of text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from interlace.engine.document import Body, Document, Edge, NodeSpec
from interlace.engine.source.shorthand import short

_UNORDERED = frozenset({"required"})
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs; None stands for a field that was not there."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class NodeNote:
    """A node that came or went."""

    id: str
    type: str
    label: str | None
    inside: str | None
    """The container whose body holds it."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node of both versions that differs."""

    id: str
    type: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class EdgeNote:
    """An edge that came or went."""

    from_: str
    handle: str
    to: str
    inside: str | None = None

    def __str__(self) -> str:
        text = short(self.from_, self.handle, self.to) or f"{self.from_}.{self.handle!r} -> {self.to}"
        return f"{text} (in {self.inside})" if self.inside else text


@dataclass(frozen=True, slots=True)
class Diff:
    """All differences between two documents; positions of the editor and the order of nodes and edges do not count."""

    added: tuple[NodeNote, ...] = ()
    removed: tuple[NodeNote, ...] = ()
    changed: tuple[NodeChange, ...] = ()
    edges_added: tuple[EdgeNote, ...] = ()
    edges_removed: tuple[EdgeNote, ...] = ()
    document: tuple[Change, ...] = ()
    """Name, description, triggers."""
    inputs: tuple[Change, ...] = ()
    variables: tuple[Change, ...] = ()
    settings: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return any(getattr(self, entry.name) for entry in dataclasses.fields(self))

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        made = dataclasses.asdict(self)
        for name in ("edges_added", "edges_removed"):
            for edge in made[name]:
                edge["from"] = edge.pop("from_")
        return {name: list(entries) for name, entries in made.items()}

    def __str__(self) -> str:
        """One line a difference; `+`, `-` and `~` say what happened."""
        return "\n".join(_lines(self))


def diff(before: Document, after: Document) -> Diff:
    """What changed from one version of a document to the next."""
    old, new = _nodes(before), _nodes(after)
    old_edges, new_edges = _edges(before), _edges(after)
    return Diff(
        added=tuple(_note(*entry) for name, entry in new.items() if name not in old),
        removed=tuple(_note(*entry) for name, entry in old.items() if name not in new),
        changed=tuple(_changed(old, new)),
        edges_added=tuple(edge for edge in new_edges if edge not in old_edges),
        edges_removed=tuple(edge for edge in old_edges if edge not in new_edges),
        document=tuple(
            change
            for name in ("name", "description", "triggers")
            for change in _changes(getattr(before, name), getattr(after, name), name)
        ),
        inputs=tuple(_changes(before.inputs, after.inputs, "inputs")),
        variables=tuple(_changes(_plain(before.variables), _plain(after.variables), "variables")),
        settings=tuple(_changes(_plain(before.settings), _plain(after.settings), "settings")),
    )


def _nodes(document: Document) -> dict[str, tuple[NodeSpec, str | None]]:
    found: dict[str, tuple[NodeSpec, str | None]] = {}

    def collect(container: Document | Body, inside: str | None) -> None:
        for node in container.nodes:
            found.setdefault(node.id, (node, inside))
            if node.body is not None:
                collect(node.body, node.id)

    collect(document, None)
    return found


def _edges(document: Document) -> dict[EdgeNote, None]:
    made: dict[EdgeNote, None] = {}
    for inside, edges in _edge_lists(document):
        for edge in edges:
            made[EdgeNote(edge.from_, edge.handle, edge.to, inside)] = None
    return made


def _edge_lists(document: Document) -> Iterator[tuple[str | None, list[Edge]]]:
    yield None, document.edges
    for node, _ in document.walk():
        if node.body is not None:
            yield node.id, node.body.edges


def _note(node: NodeSpec, inside: str | None) -> NodeNote:
    return NodeNote(node.id, node.type, node.label, inside)


def _changed(
    old: Mapping[str, tuple[NodeSpec, str | None]], new: Mapping[str, tuple[NodeSpec, str | None]]
) -> Iterator[NodeChange]:
    for name, (node, inside) in new.items():
        if name not in old:
            continue
        earlier, earlier_inside = old[name]
        changes = [*_changes(_fields(earlier), _fields(node), "")]
        if inside != earlier_inside:
            changes.append(Change("inside", earlier_inside, inside))
        if changes:
            yield NodeChange(name, node.type, tuple(changes))


def _fields(node: NodeSpec) -> dict[str, Any]:
    """The fields of a node that differ from their defaults; its body's nodes are compared as nodes."""
    made = {}
    for name, info in type(node).model_fields.items():
        value = getattr(node, name)
        if name not in {"id", "body"} and value != info.get_default(call_default_factory=True):
            made[info.alias or name] = _plain(value)
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


def _changes(before: Any, after: Any, path: str) -> Iterator[Change]:
    """The innermost differences; lists whose entries have ids are compared by id."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _changes(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_changes(before, after, path)
    elif not _same(before, after):
        yield Change(path, before, after)


def _list_changes(before: list[Any], after: list[Any], path: str) -> Iterator[Change]:
    old, new = _by_id(before), _by_id(after)
    if old is not None and new is not None:
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _changes(old.get(key), new.get(key), f"{path}[{key}]")
        order = [key for key in old if key in new], [key for key in new if key in old]
        if order[0] != order[1]:
            yield Change(f"{path} (order)", order[0], order[1])
        return
    if path.rpartition(".")[2] in _UNORDERED and all(isinstance(name, str) for name in (*before, *after)):
        if set(before) != set(after):
            yield Change(path, before, after)
        return
    if len(before) != len(after):
        yield Change(path, before, after)
        return
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        yield from _changes(one, other, f"{path}[{index}]")


def _by_id(entries: list[Any]) -> dict[str, Any] | None:
    made = {
        entry["id"]: entry
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }
    return made if made and len(made) == len(entries) else None


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON values: unlike Python's, true is not 1."""
    return (type(one) is type(other) and bool(one == other)) or json.dumps(one) == json.dumps(other)


def _lines(diff: Diff) -> Iterator[str]:
    for change in (*diff.document, *diff.settings, *diff.inputs, *diff.variables):
        yield _line(change.path, change)
    for sign, nodes in (("+", diff.added), ("-", diff.removed)):
        for node in nodes:
            label = f" {node.label!r}" if node.label else ""
            yield f"{sign} node {node.id} ({node.type}){label}" + (
                f" in {node.inside}" if node.inside else ""
            )
    for node_change in diff.changed:
        for change in node_change.changes:
            yield _line(f"{node_change.id}.{change.path}", change)
    for sign, edges in (("+", diff.edges_added), ("-", diff.edges_removed)):
        for edge in edges:
            yield f"{sign} edge {edge}"


def _line(path: str, change: Change) -> str:
    if change.before is None:
        return f"+ {path}: {_value(change.after)}"
    if change.after is None:
        return f"- {path}: {_value(change.before)}"
    return f"~ {path}: {_value(change.before)} -> {_value(change.after)}"


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
