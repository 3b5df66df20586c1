"""Values of steps that may not have run: a reference to one gets a default, as the other products give nothing there.

The validator knows which references may be missing; this only writes the defaults that it asks for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
from pydantic import ValidationError

from interlace.engine.document import Document, Edge
from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import (
    Compiled,
    Reference,
    compile_expression,
    compile_template,
    compile_text,
)
from interlace.engine.problems import Problem
from interlace.engine.registry import Registry
from interlace.engine.source import dump
from interlace.engine.source.places import steps
from interlace.engine.triggers import read_trigger
from interlace.engine.validate import validate
from interlace.importers.build import Draft
from interlace.importers.foreign import Json
from interlace.importers.report import Report

Writing = Callable[..., str]
"""Writes a reference anew: its code, the default that fits its place, and whether a key follows."""

_ROUNDS: Final = 4
_BARE: Final = frozenset({"when", "until", "while", "filter", "map", "by"})
_TEXTS: Final = frozenset({"template", "prompt", "system", "title", "message", "content", "query", "url"})
_BESIDE: Final = re.compile(r"'(\w+)' does not run before")
_ABSENT: Final = re.compile(r"`([^`]+)`: .* has no field ")
_WORSE: Final = frozenset({"cycle", "unknown_handle", "edge_from_end", "edge_into_start"})
_BOUND_LATER: Final = frozenset({"unknown_workflow"})


def guarded(document: Document, registry: Registry) -> Document:
    """The document with a default at every reference that may find nothing."""
    for _ in range(_ROUNDS):
        wanted: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for problem in validate(document, registry).problems:
            if problem.code == "possibly_missing" and problem.node and problem.field:
                wanted[problem.node].append((problem.field, problem.message.partition(" may be missing")[0]))
        if not wanted:
            break
        spec = orjson.loads(dump(document, "json"))
        changed = [
            _patch(node, place, shown, _defaulted)
            for node in _nodes(spec)
            for place, shown in wanted.get(node["id"], ())
        ]
        if not any(changed):
            break
        document = Document.model_validate(_long_edges(spec, document))
    return document


def settled(document: Document, registry: Registry, report: Report, names: Mapping[str, str]) -> Document:
    """The document with nothing in the place of what a node never gives, as the other products read it."""
    wanted = []
    for problem in validate(document, registry).errors:
        found = _ABSENT.match(problem.message) if problem.code == "unknown_output" else None
        if found is not None and problem.node and problem.field:
            wanted.append((problem.node, problem.field, found[1]))
    if not wanted:
        return document
    spec = orjson.loads(dump(document, "json"))
    nodes = {node["id"]: node for node in _nodes(spec)}
    for node, place, shown in wanted:
        if _patch(nodes[node], place, shown, _nothing):
            report.add(
                "changed", "missing_field", f"It reads {shown}, which is never there; it reads as nothing.",
                source=names.get(node), node=node,
            )  # fmt: skip
    return Document.model_validate(_long_edges(spec, document))


def fitted(draft: Draft, registry: Registry, report: Report) -> None:
    """Leave out settings that the node types of this installation do not have, and say so."""
    draft.triggers = [entry for entry in draft.triggers if _is_trigger(entry, report)]
    for entry in draft.triggers:
        if entry["type"] == "cron":
            _without_asking(entry, draft)
    for step in draft.graph.walk():
        known = registry.get(step.type)
        if known is None:
            continue
        fields = {
            name for key, info in known.config_type.model_fields.items() for name in (key, info.alias) if name
        }
        for name in [name for name in step.config if name not in fields]:
            value = step.config.pop(name)
            report.add(
                "decision", "no_such_field", f"{step.type} has no field {name!r} here; it was left out: {str(value)[:200]}",
                source=step.source, node=step.id,
            )  # fmt: skip


def _is_trigger(entry: Json, report: Report) -> bool:
    """Whether a trigger can be read; one that cannot is left out, and the report says so."""
    try:
        read_trigger(entry)
    except (ValidationError, KeyError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "its type is not known"
        report.add("decision", "trigger", f"A trigger was left out ({first}): {entry}")
        return False
    return True


def _without_asking(entry: Json, draft: Draft) -> None:
    """A schedule has nobody to ask: what it does not give has a default."""
    for name in [name for name in draft.required if name not in entry.get("inputs", {})]:
        draft.required.remove(name)
        schema = draft.inputs.get(name, {})
        kind = schema.get("type")
        if kind == "string" and "enum" not in schema:
            schema["default"] = ""
        elif isinstance(kind, str):
            draft.inputs[name] = {"anyOf": [schema, {"type": "null"}], "default": None}


def ordered(document: Document, registry: Registry, report: Report, names: Mapping[str, str]) -> Document:
    """The document with an edge where a node reads another one that would run beside it.

    The other products run branches one after the other, so that such a value was there.
    """
    outermost = {node.id for node in document.nodes}
    for problem in validate(document, registry).errors:
        found = _BESIDE.match(problem.message) if problem.code == "not_upstream" else None
        if found is None or found[1] not in outermost or problem.node not in outermost:
            continue
        edge = Edge.model_validate({"from": found[1], "to": problem.node})
        certain = _certain(document)
        own = [one for one in document.edges if one.to == problem.node]
        nodes = document.nodes
        if problem.node not in certain:
            if found[1] not in certain or len(own) != 1:
                continue  # a further way in could start it where it does not run in the file
            nodes = [
                one.model_copy(update={"join": "all"}) if one.id == problem.node else one for one in nodes
            ]
        changed = document.model_copy(update={"nodes": nodes, "edges": [*document.edges, edge]})
        if edge in document.edges or any(one.code in _WORSE for one in validate(changed, registry).errors):
            continue
        document = changed
        report.add(
            "changed", "order", f"It reads {found[1]!r}, which stood on another branch; an edge makes it wait for that node.",
            source=names.get(problem.node), node=problem.node,
        )  # fmt: skip
    return document


def _certain(document: Document) -> set[str]:
    """The nodes that run in every run that does not fail: behind no branch."""
    parting = {one.from_ for one in document.edges if one.handle != "out"}
    plain = {one.id for one in document.nodes if one.join == "any"} - parting
    found = {one.id for one in document.nodes if one.type == "START"}
    waiting = list(found)
    while waiting:
        current = waiting.pop()
        for edge in document.edges:
            if (
                edge.from_ == current
                and current not in parting
                and edge.to in plain | parting
                and edge.to not in found
            ):
                found.add(edge.to)
                waiting.append(edge.to)
    return found


def noted(document: Document, registry: Registry, report: Report, names: Mapping[str, str]) -> None:
    """Say in the report what the validator still finds wrong.

    Args:
        document: the finished document.
        registry: the node types.
        report: takes the remarks.
        names: the name in the file of each node id.
    """
    for problem in validate(document, registry).errors:
        if problem.code not in _BOUND_LATER:
            report.add(
                "decision", "to_correct", f"{_words(problem)} Correct it before the workflow runs.",
                source=names.get(problem.node or ""), node=problem.node,
            )  # fmt: skip


def _words(problem: Problem) -> str:
    return f"{problem.field}: {problem.message}" if problem.field else problem.message


def _long_edges(spec: dict[str, Any], document: Document) -> dict[str, Any]:
    """Edges in long form, as the models take them."""
    long = document.model_dump(by_alias=True, include={"edges"})["edges"]
    bodies = {node.id: node.body for node, _ in document.walk() if node.body is not None}
    for node in _nodes(spec):
        if node["id"] in bodies:
            node["body"]["edges"] = [edge.model_dump(by_alias=True) for edge in bodies[node["id"]].edges]
    return {**spec, "edges": long}


def _nodes(container: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for node in container.get("nodes", ()):
        found.append(node)
        if "body" in node:
            found.extend(_nodes(node["body"]))
    return found


def _defaulted(code: str, default: str, *, followed: bool) -> str:
    inner = f"{code} | default({default})"
    return f"({inner})" if followed else inner


def _nothing(code: str, default: str, *, followed: bool) -> str:
    del code, followed
    return default


def _patch(node: dict[str, Any], place: str, shown: str, write: Writing) -> bool:
    keys = steps(place)
    holder: Any = node
    try:
        for key in keys[:-1]:
            holder = holder[key]
        value = holder[keys[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    if not isinstance(value, str):
        return False
    names = [key for key in keys if isinstance(key, str)]
    last = names[-1] if names else ""
    patched = _rewritten(value, last, shown, write)
    holder[keys[-1]] = patched
    return patched != value


def _rewritten(source: str, field: str, shown: str, write: Writing) -> str:
    try:
        compiled = _compile(source, field)
    except ExpressionError:
        return source
    alone = field in _BARE or (source.count("{{") == 1 and source.startswith("{{") and source.endswith("}}"))
    default = "none" if alone and field not in _TEXTS else "''"
    made = source
    for reference in sorted(compiled.references, key=lambda reference: reference.span, reverse=True):
        start, end = reference.span
        if _shown(reference) != shown or source[start : start + len(reference.root)] != reference.root:
            continue
        if made[end:].lstrip().startswith("| default") or reference.guarded:
            continue
        followed = made[end : end + 1] in (".", "[")
        made = made[:start] + write(made[start:end], default, followed=followed) + made[end:]
    return made


def _shown(reference: Reference) -> str:
    """A reference as the validator writes it in its messages."""
    made = reference.root
    for key in reference.path:
        plain = isinstance(key, str) and key.isidentifier()
        made += f".{key}" if plain else f"[{'…' if key is None else repr(key)}]"
    return made


def _compile(source: str, field: str) -> Compiled:
    if field in _BARE:
        return compile_expression(source)
    return compile_template(source) if field == "template" else compile_text(source)
