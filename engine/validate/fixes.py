"""Fixes that can be applied by a click: an edit of the document that removes a problem and makes no other error.

An edit is only offered after it was tried: the edited document is validated again.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from interlace.engine.problems import Problem
from interlace.engine.registry import Registry
from interlace.engine.source import load
from interlace.engine.validate.validation import Validation, check

Data = dict[str, Any]
_GUESS = re.compile(r"[Dd]id you mean '([^']+)'\?")
_QUOTED = re.compile(r"'([^']+)'")
_JUMPS = ("$break", "$continue")


@dataclass(frozen=True, slots=True)
class Fix:
    """What would be done, in a few words, and the document after it."""

    label: str
    document: Data


def fixes(document: Data, problem: Problem, registry: Registry) -> list[Fix]:
    """The edits that remove a problem, the likeliest first; none where it takes a decision of a person's.

    Args:
        document: the document as plain data; it is not changed.
        problem: one that validation found in it.
        registry: the node types.
    """
    before = _errors(_check(document, registry))
    found: list[Fix] = []
    for label, edit in _candidates(document, problem):
        edited = copy.deepcopy(document)
        try:
            edit(edited)
        except (LookupError, TypeError, AttributeError, StopIteration):
            continue
        if edited == document:
            continue
        after = _check(edited, registry)
        gone = not any(_same(problem, other) for other in after.problems)
        if gone and _errors(after) <= before and all(edited != fix.document for fix in found):
            found.append(Fix(label, edited))
    return found


def _check(document: Data, registry: Registry) -> Validation:
    return check(load(json.dumps(document)), registry)


def _errors(found: Validation) -> set[tuple[str, str | None, str | None]]:
    return {(problem.code, problem.node, problem.field) for problem in found.errors}


def _same(one: Problem, other: Problem) -> bool:
    return (one.code, one.node, one.field, one.message) == (
        other.code,
        other.node,
        other.field,
        other.message,
    )


Candidate = tuple[str, Callable[[Data], None]]


def _candidates(document: Data, problem: Problem) -> Iterator[Candidate]:
    yield from _of_names(problem)
    yield from _of_settings(problem)
    yield from _of_edges(document, problem)
    yield from _of_nodes(problem)


# -- names and expressions -------------------------------------------------------------------------------------------


def _of_names(problem: Problem) -> Iterator[Candidate]:
    guess = _GUESS.search(f"{problem.message} {problem.fix or ''}")
    wrong = [name for name in _QUOTED.findall(problem.message) if guess is None or name != guess[1]]
    if guess is not None:
        for name in wrong:
            yield f"Replace {name!r} with {guess[1]!r}", _replaced(problem, name, guess[1])
    if problem.code == "possibly_missing":
        for name in wrong:
            yield "Use null where it is missing", _defaulted(problem, name)
    if problem.code == "unknown_variable" and wrong:
        yield f"Declare the variable {wrong[0]!r}", _declared(wrong[0])
    if problem.code == "expression_syntax":
        yield "Take it as plain text", _quoted(problem)


def _replaced(problem: Problem, wrong: str, right: str) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        holder, key = _place(document, problem)
        if isinstance(key, str) and key == wrong:
            holder[right] = holder.pop(key)
        elif holder[key] == wrong:
            holder[key] = right
        else:
            holder[key] = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(wrong)}(?![A-Za-z0-9_])", right, holder[key])

    return edit


def _defaulted(problem: Problem, name: str) -> Callable[[Data], None]:
    reference = rf"(?<![\w.]){re.escape(name)}(?:\.\w+|\[[^\]]*\])*(?![\w(])(?!\s*\|\s*default)"

    def edit(document: Data) -> None:
        holder, key = _place(document, problem)
        text = holder[key]
        whole = re.fullmatch(rf"\s*\{{\{{\s*({reference})\s*\}}\}}\s*", text)
        if whole is not None:
            holder[key] = f"{{{{ {whole[1]} | default(none) }}}}"
        else:
            holder[key] = re.sub(reference, lambda found: f"({found[0]} | default(none))", text)

    return edit


def _declared(name: str) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        document.setdefault("variables", {})[name] = {"type": "any"}

    return edit


def _quoted(problem: Problem) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        holder, key = _place(document, problem)
        holder[key] = holder[key].replace("{{", "{ {")

    return edit


# -- what a node says besides its config ------------------------------------------------------------------------------

_SETTINGS: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "error_edge_without_branch": (("Take the error edge when it fails", "on_error", "branch"),),
    "branch_without_error_edge": (("Stop the run when it fails", "on_error", "stop"),),
    "continue_not_allowed": (("Stop the run when it fails", "on_error", "stop"),),
    "unused_default_output": (
        ("Go on with it when the node fails", "on_error", "continue"),
        ("Remove the default output", "default_output", None),
    ),
    "never_runs": (("Run when any edge is taken", "join", "any"),),
    "no_pool_here": (("Remove the pool", "pool", None),),
    "unexpected_body": (("Remove the body", "body", None),),
    "variable_race": (("One item at a time", "config.parallel", 1),),
}


def _of_settings(problem: Problem) -> Iterator[Candidate]:
    for label, name, value in _SETTINGS.get(problem.code, ()):
        yield label, _set(problem.node, name, value)
    if problem.code in ("unknown_field", "bad_default", "bad_value", "out_of_range"):
        yield f"Remove {(problem.field or '').rpartition('.')[2] or 'it'}", _removed(problem)


def _set(node: str | None, name: str, value: Any) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        target, last = _spec(document, node), name
        if "." in name:
            first, last = name.split(".")
            target = target.setdefault(first, {})
        if value is None:
            del target[last]
        else:
            target[last] = value

    return edit


def _removed(problem: Problem) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        holder, key = _place(document, problem)
        del holder[key]

    return edit


# -- edges -----------------------------------------------------------------------------------------------------------


_REMOVABLE = frozenset({
    "duplicate_edge", "unknown_node", "unknown_handle", "edge_across_bodies", "edge_into_start", "edge_from_end",
    "break_outside_body",
})  # fmt: skip
_OPEN_ENDED = frozenset({"unconnected_else", "unconnected_handle", "side_branch"})


def _of_edges(document: Data, problem: Problem) -> Iterator[Candidate]:
    index = re.search(r"edges\[(\d+)\]", problem.field or "")
    node = problem.node
    if problem.code in _REMOVABLE and index is not None:
        yield "Remove the edge", _without_edge(problem, int(index[1]))
    if problem.code == "cycle":
        for at, edge in reversed(list(enumerate(document.get("edges") or ()))):
            if edge.get("from") == node:
                yield f"Remove the edge to {edge.get('to')}", _without_edge(problem, at)
    if node is not None and problem.code in _OPEN_ENDED:
        handles = (
            ["else"] if problem.code == "unconnected_else" else [*_QUOTED.findall(problem.message), "out"]
        )
        for end in _of_type(document, "END"):
            yield from ((f"Connect it to {end}", _with_edge(node, handle, end)) for handle in handles)
    if node is not None and problem.code == "unreachable":
        for start in _of_type(document, "START"):
            yield f"Connect {start} to it", _with_edge(start, "out", node)


def _of_type(document: Data, kind: str) -> list[str]:
    return [spec["id"] for spec in document.get("nodes") or () if spec.get("type") == kind]


def _without_edge(problem: Problem, index: int) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        del _container(document, problem.node)["edges"][index]

    return edit


def _with_edge(source: str, handle: str, target: str) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        edge = {"from": source, "to": target} | ({"handle": handle} if handle != "out" else {})
        edges = _container(document, source).setdefault("edges", [])
        if edge not in edges:
            edges.append(edge)

    return edit


# -- nodes -----------------------------------------------------------------------------------------------------------


def _of_nodes(problem: Problem) -> Iterator[Candidate]:
    if problem.code == "no_start":
        yield "Add START", _with_start
    if problem.code == "no_end":
        yield "Add END", _with_end
    if (
        problem.code in ("unreachable", "several_starts", "start_or_end_in_body", "unknown_type")
        and problem.node
    ):
        yield f"Remove {problem.node}", _without_node(problem.node)
    if problem.code == "missing_body" and problem.node:
        yield "Give it an empty body", _set(problem.node, "body", {"nodes": [], "edges": []})
    if problem.code == "duplicate_id" and problem.node:
        yield "Give the second one another id", _renamed_second(problem.node)


def _with_start(document: Data) -> None:
    nodes, edges = document.setdefault("nodes", []), document.setdefault("edges", [])
    targets = {edge.get("to") for edge in edges}
    first = [spec["id"] for spec in nodes if spec["id"] not in targets]
    name = _free(document, "start")
    nodes.insert(0, {"id": name, "type": "START"})
    edges.extend({"from": name, "to": target} for target in first)


def _with_end(document: Data) -> None:
    nodes, edges = document.setdefault("nodes", []), document.setdefault("edges", [])
    sources = {edge.get("from") for edge in edges}
    last = [spec["id"] for spec in nodes if spec["id"] not in sources]
    name = _free(document, "end")
    nodes.append({"id": name, "type": "END", "config": {"outputs": {}}})
    edges.extend({"from": source, "to": name} for source in last)


def _without_node(name: str) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        holder = _container(document, name)
        holder["nodes"] = [spec for spec in holder["nodes"] if spec.get("id") != name]
        holder["edges"] = [
            edge for edge in holder.get("edges", ()) if name not in (edge.get("from"), edge.get("to"))
        ]

    return edit


def _renamed_second(name: str) -> Callable[[Data], None]:
    def edit(document: Data) -> None:
        second = [spec for spec, _ in _walk(document) if spec.get("id") == name][1]
        second["id"] = _free(document, name)

    return edit


# -- places ----------------------------------------------------------------------------------------------------------


def _walk(container: Data) -> Iterator[tuple[Data, Data]]:
    for spec in container.get("nodes") or ():
        yield spec, container
        if isinstance(spec.get("body"), dict):
            yield from _walk(spec["body"])


def _spec(document: Data, node: str | None) -> Data:
    return next(spec for spec, _ in _walk(document) if spec.get("id") == node)


def _container(document: Data, node: str | None) -> Data:
    return next((holder for spec, holder in _walk(document) if spec.get("id") == node), document)


def _free(document: Data, name: str) -> str:
    taken = {spec.get("id") for spec, _ in _walk(document)}
    number = 2
    while (wanted := name if number == 2 and name not in taken else f"{name}_{number}") in taken:  # noqa: PLR2004
        number += 1
    return wanted


def _place(document: Data, problem: Problem) -> tuple[Any, Any]:
    """The mapping or list that holds the field of a problem, and the key in it."""
    holder: Any = document if problem.node is None else _spec(document, problem.node)
    parts = [
        int(part[1:-1]) if part.startswith("[") else part
        for part in re.findall(r"\[\d+\]|[^.\[\]]+", problem.field or "")
    ]
    for part in parts[:-1]:
        holder = holder[part]
    return holder, parts[-1]
