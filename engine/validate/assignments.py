"""Checks what VARIABLE_ASSIGN nodes write: that the variable exists and takes the value."""

from __future__ import annotations

from typing import Any

from interlace.engine.schema import Schema, compatible, described
from interlace.engine.validate.graph import Entry, Graph
from interlace.engine.validate.inference import Inference
from interlace.engine.validate.references import home_of, variable_names
from interlace.engine.validate.report import Report
from interlace.engine.validate.variables import Access, Accesses

_KIND = "VARIABLE_ASSIGN"
_NEEDS: dict[str, tuple[tuple[str, ...], str]] = {
    "append": (("array", "string"), "append adds to a list or a text"),
    "increment": (("number", "integer"), "increment counts numbers"),
    "merge": (("object",), "merge joins mappings"),
    "remove": (("array", "object"), "remove takes out of a list or a mapping"),
}
"""Types of variables that an operation works on."""


def check_assignments(
    entry: Entry, graph: Graph, inference: Inference, accesses: Accesses, report: Report
) -> None:
    """Check the assignments of a node and note which variables it writes."""
    assignments = entry.spec.config.get("assignments")
    if entry.spec.type != _KIND or entry.node is None or not isinstance(assignments, list):
        return
    for index, assignment in enumerate(assignments):
        field = f"config.assignments[{index}]"
        name = assignment.get("variable")
        declared = inference.variable(entry, name)
        if declared is None:
            known = variable_names(graph.document, entry.scope)
            guess = report.nearest(name, known)
            report.add(
                "unknown_variable", f"There is no variable {name!r}.", node=entry.id, field=f"{field}.variable",
                occurrence=entry.occurrence,
                fix=f"Did you mean {guess!r}?" if guess else f"Declare it under variables: {name}: {{type: …}}.",
            )  # fmt: skip
            continue
        home = home_of(entry.scope, name) or graph.root
        accesses.add(home, name, Access(entry, field, writes=True))
        why = _mismatch(assignment, declared, entry, inference)
        if why:
            report.add(
                "variable_type", f"The variable {name!r} is {described(declared)}; {why}.",
                node=entry.id, field=f"{field}.value", occurrence=entry.occurrence,
            )  # fmt: skip


def _mismatch(assignment: dict[str, Any], declared: Schema, entry: Entry, inference: Inference) -> str | None:
    operation = assignment.get("op", "set")
    value: Schema = inference.type_of(entry, "node", assignment["value"]) if "value" in assignment else {}
    if operation == "set":
        return None if compatible(value, declared) else f"the assigned value is {described(value)}"
    kinds, why = _NEEDS.get(operation, ((), ""))
    kind = declared.get("type")
    if not isinstance(kind, str) or not kinds:
        return None
    if kind not in kinds:
        return why
    if operation in {"increment", "merge"} or (operation == "append" and kind == "string"):
        return None if compatible(value, {"type": kind}) else f"the value is {described(value)}"
    return None
