"""From text to a document, or to all that is wrong with the text at once."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from interlace.engine.collection import collection_paused
from interlace.engine.document import Document
from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.source.places import Step, compose, line_of, steps
from interlace.engine.source.reading import Unreadable, read
from interlace.engine.source.shorthand import Expansion, expand
from interlace.engine.source.wording import Fault, described, dotted, faults

MAX_BYTES = 20_000_000
_ROUNDS = 5
_EXPANDED = frozenset({"bad_edge", "body_twice"})
"""Faults whose path is that of the text; the data no longer holds what was wrong."""


@dataclass(kw_only=True)
class Source:
    """A text and what became of it.

    `document` is there when the shape of the text is right; else `problems` says all that is wrong with it and
    `salvaged` is the part that can still be checked, where enough of it is left.
    """

    name: str
    text: str
    document: Document | None = None
    problems: tuple[Problem, ...] = ()
    salvaged: Document | None = None
    data: Any = None
    expansion: Expansion = field(default_factory=Expansion)

    def require(self) -> Document:
        """The document.

        Raises:
            InvalidDocument: the text is none; carries all problems of its shape.
        """
        if self.document is None:
            raise InvalidDocument(self.problems)
        return self.document

    def line(self, node: str | None, where: str | None, *, inner: int = 0, occurrence: int = 0) -> int | None:
        """Line of a field of a node (of the document when no node is named).

        Args:
            node: id of the node.
            where: dotted path inside the node; `edges[3]` counts in the list of edges that holds the node's edges.
            inner: line inside a text value, from 0.
            occurrence: which of several nodes with the same id.
        """
        path = steps(where or "")
        if node is None:
            return self._line(path, inner)
        places = self._nodes.get(node)
        if not places:
            return self._line(path, inner) if path[:1] == ["edges"] else None
        place = places[min(occurrence, len(places) - 1)]
        if path[:1] == ["edges"]:
            place = place[:-2]
        return self._line([*place, *path], inner)

    def edge_line(self, container: str | None, index: int) -> int | None:
        """Line of an edge of the document, or of the body of a container."""
        places = self._nodes.get(container) if container is not None else None
        return self._line([*(places[0] if places else ()), *(("body",) if places else ()), "edges", index])

    def _line(self, path: Sequence[Step], inner: int = 0) -> int | None:
        return line_of(self._root, self._in_text(path), inner)

    @cached_property
    def _root(self) -> yaml.Node | None:
        return compose(self.text)

    @cached_property
    def _nodes(self) -> dict[str, list[tuple[Step, ...]]]:
        found: dict[str, list[tuple[Step, ...]]] = {}
        todo: list[tuple[tuple[Step, ...], Any]] = [((), self.data)]
        while todo:
            path, container = todo.pop(0)
            nodes = container.get("nodes") if isinstance(container, dict) else None
            for index, node in enumerate(nodes if isinstance(nodes, list) else ()):
                if isinstance(node, dict):
                    here = (*path, "nodes", index)
                    found.setdefault(str(node.get("id")), []).append(here)
                    todo.append(((*here, "body"), node.get("body")))
        return found

    def _in_text(self, path: Sequence[Step]) -> list[Step]:
        """The path of the expanded data as it stands in the text."""
        made: list[Step] = []
        for position, step in enumerate(path):
            before = tuple(path[:position])
            if step == "body" and before in self.expansion.moved:
                made.append("config")
            rows = self.expansion.rows.get(before[:-1]) if before[-1:] == ("edges",) else None
            made.append(rows[step] if rows and isinstance(step, int) and step < len(rows) else step)
        return made

    def problem(self, fault: Fault) -> Problem:
        """A fault of the shape as a problem at its node and line."""
        in_text = fault.path if fault.code in _EXPANDED else self._in_text(fault.path)
        line = line_of(self._root, in_text)
        node, path = _node_of(self.data, fault.path)
        return Problem(
            code=fault.code, message=fault.message, node=node, field=dotted(path), line=line, fix=fault.fix
        )


def load_file(path: Path | str) -> Source:
    """Load a document from a file; see `load`."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            return _failed(str(path), "", _too_large())
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return _failed(
            str(path),
            "",
            Unreadable("unreadable_file", f"The file {str(path)!r} cannot be read: {error.strerror}."),
        )
    except UnicodeDecodeError as error:
        message = f"The file is not UTF-8 (byte {error.start})."
        return _failed(str(path), "", Unreadable("encoding", message, fix="Save it as UTF-8."))
    return load(text, name=str(path))


def load(text: str, *, name: str = "") -> Source:
    """Read a workflow document from YAML or JSON text.

    Never raises for what stands in the text: the problems are in the result.
    """
    if len(text) > MAX_BYTES:
        return _failed(name, "", _too_large())
    with collection_paused():
        return _load(text, name)


def _load(text: str, name: str) -> Source:
    try:
        data = read(text.removeprefix("\ufeff"))
    except Unreadable as error:
        return _failed(name, text, error)
    if not isinstance(data, dict):
        what = (
            "is empty"
            if data is None
            else f"is {described(data)}, not a mapping with 'name', 'nodes' and 'edges'"
        )
        return _failed(name, text, Unreadable("not_a_document", f"The document {what}.", line=1))
    expansion = expand(data)
    source = Source(name=name, text=text, data=data, expansion=expansion)
    found = list(expansion.faults)
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        found += faults(error, Document, data, "of a document")
        source.salvaged = _salvage(data, found)
    else:
        if not found:
            source.document = document
            return source
        source.salvaged = document
    source.problems = tuple(source.problem(fault) for fault in found)
    return source


def _failed(name: str, text: str, error: Unreadable) -> Source:
    problem = Problem(code=error.code, message=error.message, line=error.line, fix=error.fix)
    return Source(name=name, text=text, problems=(problem,))


def _too_large() -> Unreadable:
    return Unreadable("too_large", f"The document is larger than {MAX_BYTES // 1_000_000} MB.")


def _node_of(data: Any, path: Sequence[Step]) -> tuple[str | None, Sequence[Step]]:
    """The id of the innermost node (or of the source node of the edge) that holds a path, and the path inside it."""
    node, rest = None, path
    value = data
    for position, step in enumerate(path):
        kind = path[position - 1] if position and isinstance(step, int) else None
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            break
        key = {"nodes": "id", "edges": "from"}.get(str(kind))
        name = value.get(key) if key and isinstance(value, dict) else None
        if isinstance(name, str) and _holds(path[: position - 1]):
            node, rest = name, path[position + 1 :] if kind == "nodes" else path[position - 1 :]
    return node, rest


def _holds(path: Sequence[Step]) -> bool:
    """Whether a path leads to the document or a body: only there are `nodes` and `edges` what they are called."""
    return not path or (path[-1] == "body" and len(path) >= 3 and path[-3] == "nodes" and _holds(path[:-3]))  # noqa: PLR2004


def _salvage(data: dict[str, Any], found: Iterable[Fault]) -> Document | None:
    """The document without its faulty optional parts; None where a node or edge itself is broken."""
    rest = copy.deepcopy(data)
    for _ in range(_ROUNDS):
        for fault in found:
            if fault.code not in _EXPANDED and not _remove(rest, fault.path):
                return None
        try:
            return Document.model_validate(rest)
        except ValidationError as error:
            found = faults(error, Document, rest, "of a document")
            if any(fault.code == "missing_field" for fault in found):
                return None
    return None


def _remove(data: Any, path: Sequence[Step]) -> bool:
    if not path:
        return False
    holder = data
    for step in path[:-1]:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return True
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
        return True
    return False
