"""One scope of a run: the run itself, one item of an ITERATION, one round of a LOOP.

It holds the edge states of its body (as two counters a node), the names that expressions read, and nothing else's:
inner scopes read outer ones through `parent`, so no variables are ever copied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from interlace.engine.expressions import Missing, Names
from interlace.engine.run.plan import BodyPlan, NodePlan

ScopeEnd = Literal["done", "failed", "break", "continue", "abandoned"]
_ABSENT = object()
_DEFAULT = ("out",)


class Layered:
    """Names with some extra ones in front. Implements `Names`."""

    __slots__ = ("_extra", "_rest")

    def __init__(self, extra: Mapping[str, Any], rest: Names) -> None:
        self._extra = extra
        self._rest = rest

    def lookup(self, root: str) -> object:
        """The extra name, else what lies behind."""
        return self._extra[root] if root in self._extra else self._rest.lookup(root)


class Scope:
    """The state of one pass through a body. Implements `Names`."""

    __slots__ = (
        "chosen", "ended", "names", "on_end", "open", "parent", "pending", "plan", "prefix", "taken", "tasks", "variables", "why",
        "written",
    )  # fmt: skip

    def __init__(
        self,
        plan: BodyPlan,
        parent: Scope | None,
        prefix: str,
        *,
        names: dict[str, Any],
        on_end: Callable[[ScopeEnd, dict[str, Any] | None], None],
        variables: dict[str, Any] | None = None,
        written: dict[str, Any] | None = None,
    ) -> None:
        self.plan = plan
        self.parent = parent
        self.prefix = prefix
        self.names = names
        self.on_end = on_end
        self.variables = variables
        self.written = written
        """What the container's result has to record: variables from further out that were set in here."""
        self.pending = [len(node.incoming) for node in plan.nodes]
        self.taken = [0] * len(plan.nodes)
        self.open = len(plan.nodes)
        self.chosen: dict[int, tuple[str, ...]] = {}
        """Handles that decided nodes took, where that is not just `out`; () for skipped ones."""
        self.ended: ScopeEnd | None = None
        self.tasks: set[asyncio.Task[None]] | None = None
        self.why: dict[tuple[int, str], str] | None = None
        """Why a handle of a finished node was not taken, where the node said so."""

    def is_over(self) -> bool:
        """Whether this scope or one around it has ended, so that nothing may start in it."""
        scope: Scope | None = self
        while scope is not None:
            if scope.ended is not None:
                return True
            scope = scope.parent
        return False

    def lookup(self, root: str) -> object:
        """The value of a name here or further out, `Missing` when nothing of that name has run."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.names.get(root, _ABSENT)
            if value is not _ABSENT:
                return value
            if scope.variables is not None and root in scope.variables:
                return scope.variables[root]
            scope = scope.parent
        return Missing(f"{root} has not run")

    def holder(self, variable: str) -> dict[str, Any]:
        """The mapping that holds a variable: the nearest loop variables that have it, else the run's."""
        scope: Scope = self
        while True:
            if scope.variables is not None and variable in scope.variables:
                return scope.variables
            if scope.parent is None:
                break
            scope = scope.parent
        held: dict[str, Any] = scope.names["vars"]
        return held

    def assign(self, variable: str, value: Any) -> None:
        """Set the nearest loop variable of that name, else the run variable."""
        holder = self.holder(variable)
        holder[variable] = value
        scope: Scope | None = self
        while scope is not None and scope.variables is not holder:
            if scope.written is not None:
                scope.written[variable] = value
            scope = scope.parent

    def assign_all(self, recorded: Mapping[str, Any]) -> None:
        """Set what the journal says a node of this scope has set."""
        for variable, value in recorded.items():
            self.assign(variable, value)

    def skip_reason(self, node: NodePlan) -> str:
        """Why a node is skipped: the first of its incoming edges that was not taken, and why."""
        for source, handle in node.incoming:
            if handle in self.chosen.get(source, _DEFAULT):
                continue
            name = self.plan.nodes[source].id
            edge = f"{name} -> {node.id}" if handle == "out" else f"{name}.{handle}"
            because = self._because(name, source, handle)
            return f"edge {edge} not taken ({because})" if because else f"edge {edge} not taken"
        return "no incoming edge was taken"

    def _because(self, name: str, source: int, handle: str) -> str:
        if self.why is not None and (source, handle) in self.why:
            return self.why[source, handle]
        value = self.names.get(name)
        if isinstance(value, Missing):
            return value.reason
        error = value.get("error") if isinstance(value, dict) else None
        if isinstance(error, dict) and handle != "error":
            return f"{name} failed: {error.get('message', '')}"
        return f"{name} took {', '.join(self.chosen.get(source, _DEFAULT)) or 'no handle'}"


class Decided(NamedTuple):
    """A node whose edges wait to be decided, after the next commit."""

    scope: Scope
    plan: NodePlan
    handles: tuple[str, ...]


def ended_already(*_end: object) -> None:
    """Nobody waits for a scope that has ended."""
