"""Seeds defects into valid documents: each mutation knows the code, node and field that a validator must name.

They work on any valid document and any registry. The kinds stand in the modules beside this one; `mutations` has all.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from interlace.engine.document import Document
from interlace.engine.fields import FieldExpression, expressions
from interlace.engine.registry import Registry
from interlace.engine.source import dump, load
from interlace.engine.source.places import steps
from interlace.engine.source.shorthand import expand
from interlace.engine.validate import check

Data = dict[str, Any]
GHOST = "zz_ghost"


@dataclass(frozen=True)
class Mutation:
    kind: str
    data: Data
    code: str
    node: str | None
    field: str

    @property
    def text(self) -> str:
        return json.dumps(self.data, indent=1)


@dataclass(frozen=True)
class Seed:
    """A valid document as data, and what makes it easy to break."""

    document: Document
    data: Data
    registry: Registry

    def copy(self) -> Data:
        return copy.deepcopy(self.data)

    def top(self) -> list[Data]:
        return list(self.data["nodes"])

    def of_type(self, *types: str) -> list[str]:
        return [node["id"] for node in self.top() if node["type"] in types]

    def spot(self) -> str:
        """A plain node of the document itself."""
        return next(node["id"] for node in self.top() if node["type"] not in {"START", "END"})

    def texts(self) -> list[tuple[str, FieldExpression, str]]:
        """(node, field, path to the text) of the ƒ values and templates of the document's own nodes."""
        found = []
        for node in self.document.nodes:
            node_type = self.registry[node.type]
            for field in expressions(node_type.config_type.model_validate(node.config)):
                if field.marker.syntax == "expression":
                    continue
                found += [
                    (node.id, field, path) for path, text in leaves(field.value, field.path) if "{{" in text
                ]
        return found

    def ancestors(self, name: str) -> set[str]:
        found: set[str] = set()
        todo = [name]
        while todo:
            here = todo.pop()
            for edge in self.data.get("edges", []):
                if edge["to"] == here and edge["from"] not in found:
                    found.add(edge["from"])
                    todo.append(edge["from"])
        return found


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")


def node_of(data: Data, name: str) -> Data:
    found: Data = next(node for node in data["nodes"] if node["id"] == name)
    return found


def put(data: Data, node: str, path: str, value: Any) -> None:
    *way, last = steps(path)
    here: Any = node_of(data, node)
    for step in way:
        here = here[step]
    here[last] = value


def with_edge(seed: Seed, edge: Data) -> tuple[Data, str]:
    data = seed.copy()
    data["edges"].append(edge)
    return data, f"edges[{len(data['edges']) - 1}]"


def seed(document: Document, registry: Registry) -> Seed:
    data = json.loads(dump(document, "json"))
    expand(data)
    return Seed(document, data, registry)


Maker = Callable[[Seed], Iterator[tuple[Data, str, str | None, str]]]
MAKERS: dict[str, Maker] = {}


def maker(function: Maker) -> Maker:
    MAKERS[function.__name__] = function
    return function


def mutations(document: Document, registry: Registry, *, most: int = 3) -> list[Mutation]:
    """At most `most` mutations of each kind that a document allows."""
    whole = seed(document, registry)
    made = []
    for kind, make in MAKERS.items():
        for number, (data, code, node, field) in enumerate(make(whole)):
            if number >= most:
                break
            made.append(Mutation(kind, data, code, node, field))
    return made


def missed(mutation: Mutation, registry: Registry) -> str | None:
    """None when the defect is reported at its node and field; else what was reported."""
    problems = check(load(mutation.text), registry).problems
    if any(
        (p.code, p.node, p.field) == (mutation.code, mutation.node, mutation.field) and p.line
        for p in problems
    ):
        return None
    found = [(p.code, p.node, p.field, p.line) for p in problems]
    return f"{mutation.kind}: wanted {(mutation.code, mutation.node, mutation.field)}, found {found}"
