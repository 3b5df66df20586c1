"""Checks what the expressions of a document read: whether it exists, runs before, and is there in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interlace.engine.document import Document
from interlace.engine.expressions import Reference
from interlace.engine.expressions.syntax import Node
from interlace.engine.fields import ScopeName
from interlace.engine.schema import Schema
from interlace.engine.validate.alternatives import alternatives
from interlace.engine.validate.conditions import ALWAYS, NEVER, Condition, Conditions
from interlace.engine.validate.graph import Entry, Graph, Scope
from interlace.engine.validate.names import ITEM_NAMES, PLACED, closed_properties, global_names
from interlace.engine.validate.order import edge_condition
from interlace.engine.validate.report import Report
from interlace.engine.validate.variables import Access, Accesses

TOLERANT: Final = frozenset({"VARIABLE_AGGREGATOR"})
"""Types whose purpose is to read nodes that may have been skipped."""
_NOT_VARIABLES = frozenset({"loop", *ITEM_NAMES})


@dataclass(slots=True)
class Place:
    """Where an expression stands: a field of a node, evaluated in one of the node's scopes."""

    entry: Entry
    scope: ScopeName
    field: str = ""
    secret: bool = False
    tolerant: bool = False
    node: Node | None = None
    """The tree of the expression that is looked at."""

    @property
    def inside(self) -> Scope:
        """The scope whose nodes and names the expression sees first."""
        entry = self.entry
        return entry.body if self.scope == "body" and entry.body is not None else entry.scope


class References:
    """Resolves references by their first name and reports those that cannot be right."""

    def __init__(self, graph: Graph, conditions: Conditions, accesses: Accesses, report: Report) -> None:
        self._graph = graph
        self._conditions = conditions
        self._accesses = accesses
        self._report = report
        self._globals = global_names(graph.document, graph.inputs)
        self._completed: dict[Scope, Condition] = {}

    def schema(self, place: Place, root: str) -> Schema | None:
        """The type of a name at a place; {} where it is not known, None where there is no such name."""
        target = self._graph.by_id.get(root)
        if target is not None and (place.entry.ancestors >> target.index & 1 or target.scope is place.inside):
            return target.output if target.output is not None else {}
        if place.scope == "item" and root in ITEM_NAMES:
            return {}
        names = place.inside.names
        if root in names:
            return names[root]
        known = self._globals.get(root)
        return known if known is not None or target is None else {}

    def check(self, place: Place, reference: Reference, inner: int = 0) -> bool:
        """Whether a reference can be right; if not it is reported.

        Args:
            place: where the expression stands.
            reference: what it reads.
            inner: line of the reference inside the field's text, from 0.
        """
        root = reference.root
        target = self._graph.by_id.get(root)
        names = place.inside.names
        # By far the most references: a node of the same scope, read by a field of another one.
        if (
            target is not None
            and target.scope is place.entry.scope
            and place.scope == "node"
            and root not in names
        ):
            if target.succeeds == ALWAYS and place.entry.ancestors >> target.index & 1:
                return True
            return self._check_node(place, target, reference, inner)
        if root in names or (place.scope == "item" and root in ITEM_NAMES):
            self._note_loop_variable(place, root)
            return True
        if root in self._globals:
            return self._check_global(place, reference, inner)
        if target is not None:
            return self._check_node(place, target, reference, inner)
        return self._report_unknown(place, root, inner)

    # -- names of the language ------------------------------------------------------------------------------------

    def _check_global(self, place: Place, reference: Reference, inner: int) -> bool:
        root, path = reference.root, reference.path
        first = path[0] if path and isinstance(path[0], str) else None
        if root == "secrets" and not place.secret:
            self._add(
                "secret_leak", place, inner,
                f"The secret {first or ''!r} would flow into a field that may be shown, logged or sent.",
                "Secrets may stand in fields for credentials only (headers, auth, connection URLs).",
            )  # fmt: skip
            return False
        if root == "vars":
            return self._check_variable(place, first, inner)
        if root == "inputs" and first is not None:
            properties = closed_properties(self._graph.inputs)
            if properties is not None and first not in properties:
                guess = self._report.nearest(first, properties)
                fix = f"Did you mean {guess!r}?" if guess else f"Declared: {', '.join(sorted(properties))}."
                self._add("unknown_input", place, inner, f"The workflow declares no input {first!r}.", fix)
                return False
        return True

    def _check_variable(self, place: Place, name: str | None, inner: int) -> bool:
        variables = self._graph.document.variables
        if name is not None and name not in variables:
            guess = self._report.nearest(name, variables)
            fix = f"Did you mean {guess!r}?" if guess else f"Declare it under variables: {name}: {{type: …}}."
            self._add("unknown_variable", place, inner, f"The workflow declares no variable {name!r}.", fix)
            return False
        self._accesses.add(self._graph.root, name, Access(place.entry, place.field, writes=False))
        return True

    def _note_loop_variable(self, place: Place, root: str) -> None:
        home = home_of(place.inside, root)
        if home is not None:
            self._accesses.add(home, root, Access(place.entry, place.field, writes=False))

    def _report_unknown(self, place: Place, root: str, inner: int) -> bool:
        if root in PLACED:
            self._add("misplaced_name", place, inner, f"There is no {root!r} here.", PLACED[root])
            return False
        if root in self._graph.document.variables:
            fix = f"Run variables are read as vars.{root}."
        elif root in self._graph.inputs.get("properties", ()):
            fix = f"Inputs are read as inputs.{root}."
        else:
            guess = self._report.nearest(root, [*self._graph.by_id, *self._globals, *place.inside.names])
            fix = (
                f"Did you mean {guess!r}?"
                if guess
                else "Names are the ids of nodes, inputs, vars, env, run and trigger."
            )
        self._add("unknown_name", place, inner, f"There is no node or name {root!r}.", fix)
        return False

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _check_node(self, place: Place, target: Entry, reference: Reference, inner: int) -> bool:
        own = place.scope == "body" and target.scope is place.entry.body
        if own or place.entry.ancestors >> target.index & 1:
            return self._check_presence(place, target, reference, inner)
        return self._check_order(place, target, reference, inner)

    def _check_order(self, place: Place, target: Entry, reference: Reference, inner: int) -> bool:
        """The node exists, but is not decided before the expression is read."""
        entry, name = place.entry, reference.root
        if target is entry:
            if place.scope == "body" or entry.certain:
                message = f"{name!r} reads its own output, which is only there after it has run."
                self._add("own_output", place, inner, message, "Read the nodes before it.")
            return False
        if not (entry.certain and target.certain):
            return False
        container = target.scope.container
        if target.scope not in entry.scope.chain() and container is not None:
            fix = f"Read the output of {container.id!r}."
            message = f"{name!r} is a node inside {container.id!r}; from outside only that node's output can be read."
        elif target in _containers(entry):
            message = f"{name!r} contains this node, so its output is not there yet."
            fix = "Read the item, the loop variables or the nodes before it."
        else:
            message = f"{name!r} does not run before {entry.id!r}: no path leads from it to here."
            fix = f"Add an edge {name} -> {entry.id}, or read a node before it."
        self._add("not_upstream", place, inner, message, fix)
        return False

    def _check_presence(self, place: Place, target: Entry, reference: Reference, inner: int) -> bool:
        """Warn where the node may have been skipped, or failed, when the expression is read."""
        entry = place.entry
        needed = (
            target.condition
            if reference.path[:1] == ("error",) and not target.spec.disabled
            else target.succeeds
        )
        if needed == ALWAYS or reference.guarded or place.tolerant or entry.spec.disabled:
            return True
        if not (entry.certain and target.certain) or entry.condition == NEVER:
            return True
        if place.scope == "body" and target.scope is entry.body:
            needed = self._conditions.any((needed, self._jumped(target.scope)))
            here = ALWAYS
        else:
            here = _at_level(entry, target.scope).condition
        if not self._conditions.implies(here, needed) and not self._replaced(place, reference, here, needed):
            self._warn_missing(place, target, reference, inner)
        return True

    def _replaced(self, place: Place, reference: Reference, here: Condition, needed: Condition) -> bool:
        """Whether the reference is only read where others are missing, and in these runs it is there."""
        if place.node is None:
            return False
        tried = [self._graph.by_id.get(name) for name in alternatives(place.node, reference.span)]
        conditions = [target.succeeds for target in tried if target is not None and target.certain]
        return bool(conditions) and self._conditions.implies(
            here, self._conditions.any((needed, *conditions))
        )

    def _warn_missing(self, place: Place, target: Entry, reference: Reference, inner: int) -> None:
        words = self._conditions.described(target.condition)
        if target.spec.disabled:
            why = f"{target.id!r} is disabled"
        elif target.condition == ALWAYS:
            why = f"{target.id!r} may have failed, and on_error is 'branch'"
        else:
            why = f"{target.id!r} runs only if {words}" if words else f"{target.id!r} may be skipped"
        shown = _shown(reference)
        self._add(
            "possibly_missing", place, inner, f"{shown} may be missing: {why}.",
            f"Write {shown} | default(…), or read it only where it ran.",
        )  # fmt: skip

    def _jumped(self, scope: Scope) -> Condition:
        """When a pass through a body ends early, so that its value is not asked for."""
        known = self._completed.get(scope)
        if known is None:
            parts = [edge_condition(source, handle, self._conditions) for source, handle in scope.jumps]
            known = self._completed[scope] = self._conditions.any(parts) if parts else NEVER
        return known

    def _add(self, code: str, place: Place, inner: int, message: str, fix: str) -> None:
        entry = place.entry
        self._report.add(
            code, message, node=entry.id, field=place.field, fix=fix, inner=inner, occurrence=entry.occurrence
        )


def home_of(scope: Scope, name: str) -> Scope | None:
    """The body whose LOOP declares a variable, None where the name is no loop variable."""
    if name in _NOT_VARIABLES:
        return None
    for outer in scope.chain():
        if name in outer.own_names:
            return outer if outer.container is not None and outer.container.spec.type == "LOOP" else None
    return None


def variable_names(document: Document, scope: Scope) -> list[str]:
    """The variables that a node in a scope may write."""
    return [*document.variables, *(name for name in scope.names if home_of(scope, name) is not None)]


def _containers(entry: Entry) -> list[Entry]:
    return [scope.container for scope in entry.scope.chain() if scope.container is not None]


def _at_level(entry: Entry, scope: Scope) -> Entry:
    """The node itself, or the container around it, that is a node of the given scope."""
    here = entry
    while here.scope is not scope and here.scope.container is not None:
        here = here.scope.container
    return here


def _shown(reference: Reference) -> str:
    text = reference.root
    for key in reference.path:
        text += (
            f".{key}"
            if isinstance(key, str) and key.isidentifier()
            else f"[{'…' if key is None else repr(key)}]"
        )
    return text
