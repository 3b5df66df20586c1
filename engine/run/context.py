"""The `RunContext` of a running node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from interlace.engine.expressions import Missing, Names, compile_expression, compile_value
from interlace.engine.node import Bodies, RunInfo
from interlace.engine.variables import check_value, unknown_variable

if TYPE_CHECKING:
    from interlace.engine.run.execution import Execution
    from interlace.engine.run.plan import NodePlan
    from interlace.engine.run.scope import Scope

S = TypeVar("S")


class Layered:
    """Names with some extra ones in front. Implements `Names`."""

    __slots__ = ("_extra", "_rest")

    def __init__(self, extra: Mapping[str, Any], rest: Names) -> None:
        self._extra = extra
        self._rest = rest

    def lookup(self, root: str) -> object:
        """The extra name, else what lies behind."""
        return self._extra[root] if root in self._extra else self._rest.lookup(root)


class Context:
    """What one attempt of one node sees. Implements `RunContext`."""

    __slots__ = (
        "_bodies",
        "_execution",
        "assigned",
        "attempt",
        "names",
        "path",
        "plan",
        "run",
        "scope",
        "taken",
        "why",
    )

    def __init__(self, execution: Execution, scope: Scope, plan: NodePlan, path: str, attempt: int) -> None:
        self._execution = execution
        self.run: RunInfo = execution.info
        self.scope = scope
        self.names: Names = scope
        self.plan = plan
        self.path = path
        self.attempt = attempt
        self.taken: tuple[str, ...] | None = None
        self.why: dict[str, str] | None = None
        self.assigned: dict[str, Any] | None = None
        self._bodies: Bodies | None = None

    @property
    def limit(self) -> int:
        """The run's max_concurrency."""
        return self._execution.limit

    @property
    def idempotency_key(self) -> str:
        """Stable for this node of this run: `<run>:<path>`."""
        return f"{self.run.id}:{self.path}"

    def evaluate(self, expression: str, names: Mapping[str, Any] | None = None) -> Any:
        """Value of a bare expression, with extra names."""
        scope: Names = self.scope if names is None else Layered(names, self.scope)
        return compile_expression(expression).evaluate(scope)

    def resolve(self, value: Any, names: Names | None = None) -> Any:
        """Value of a ƒ field that the node evaluates itself."""
        return compile_value(value).evaluate(names or self.scope)

    def resolve_or_missing(self, value: Any, names: Names | None = None) -> Any | Missing:
        """The same, but a missing value comes back as `Missing`."""
        return compile_value(value).evaluate_or_missing(names or self.scope)

    def take(self, *handles: str) -> None:
        """Choose the handles whose edges are taken."""
        self.taken = handles

    def is_connected(self, handle: str) -> bool:
        """Whether an edge leaves from a handle."""
        return any(handle == known for known, _target in self.plan.outgoing)

    def explain(self, handle: str, reason: str) -> None:
        """Say why a handle was not taken."""
        if self.why is None:
            self.why = {}
        self.why[handle] = reason

    def variable(self, name: str) -> Any:
        """Value of the nearest loop variable of that name, else of the run variable."""
        holder = self.scope.holder(name)
        if name not in holder:
            raise unknown_variable(name, self._execution.plan.document.variables)
        return holder[name]

    def assign(self, variable: str, value: Any) -> None:
        """Set a run or loop variable, after a check of its type where the document declares one."""
        holder = self.scope.holder(variable)
        if holder is self._execution.root.names["vars"]:
            check_value(variable, value, self._execution.plan.document.variables)
        self.scope.assign(variable, value)
        if self.assigned is None:
            self.assigned = {}
        self.assigned[variable] = value

    def now(self) -> float:
        """Unix time in seconds, by the run's clock."""
        return self._execution.clock.now()

    def log(self, message: str) -> None:
        """Add a line to the run's log."""
        self.emit("node.log", {"message": message})

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event of this node to the journal; passes that an earlier turn recorded are not recorded again."""
        record = self._execution.recorded.get(self.path)
        if record is not None and (
            (kind == "iteration.item" and record.items.get(data["index"]) == data["status"])
            or (kind == "loop.round" and data["round"] <= record.round)
        ):
            return
        self._execution.emit(kind, self.path, self.attempt, data)

    def service(self, protocol: type[S]) -> S:
        """The implementation of a protocol that this process offers."""
        return self._execution.services.get(protocol)

    @property
    def bodies(self) -> Bodies:
        """Runs this container's body; passes are numbered over all calls."""
        if self._bodies is None:
            self._bodies = self._execution.bodies(self)
        return self._bodies
