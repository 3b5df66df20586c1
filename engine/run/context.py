"""The `RunContext` of a running node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from interlace.engine.errors import NodeError
from interlace.engine.expressions import Missing, Names, compile_expression, compile_value
from interlace.engine.node import Bodies, O, RunInfo
from interlace.engine.principal import Principal
from interlace.engine.run.faults import too_long
from interlace.engine.run.keeping import keep
from interlace.engine.run.scope import Layered
from interlace.engine.run.substeps import NodeSubSteps
from interlace.engine.substeps import SubSteps
from interlace.engine.variables import VariableView, check_value, readable, unknown_variable

if TYPE_CHECKING:
    from interlace.engine.run.execution import Execution
    from interlace.engine.run.plan import NodePlan
    from interlace.engine.run.scope import Scope

S = TypeVar("S")


class StepCaller:
    """A step of a node's work that asks for something outside. Implements the `Caller` of recordings."""

    def __init__(self, context: Context, step: str) -> None:
        self.path = context.path
        self.run_id = context.run_id
        self.config_text = context.config_text
        self.too_long = context.too_long
        self.redact = context.redact
        self.step = step
        self._context = context

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event of the node, with the name of the step."""
        self._context.emit(kind, {**data, "step": self.step})


class Context:
    """What one attempt of one node sees. Implements `RunContext`."""

    __slots__ = (
        "_bodies",
        "_execution",
        "_substeps",
        "assigned",
        "attempt",
        "names",
        "path",
        "plan",
        "recorded",
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
        self.recorded = False
        """Whether the journal has the node's success already."""
        self._bodies: Bodies | None = None
        self._substeps: NodeSubSteps | None = None

    @property
    def limit(self) -> int:
        """The run's max_concurrency."""
        return self._execution.limit

    @property
    def idempotency_key(self) -> str:
        """Stable for this node of this run: `<run>:<path>`."""
        return f"{self.run.id}:{self.path}"

    @property
    def principal(self) -> Principal:
        """Whose rights the run acts with."""
        return self.run.principal

    @property
    def confirmed(self) -> bool:
        """Whether a person has confirmed the node's config before it ran."""
        return bool(self.plan.spec.confirm)

    def hide(self, name: str, value: str) -> None:
        """Keep a secret value out of all that the run records from now on."""
        self._execution.secrets.hide(name, value)

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

    @property
    def step(self) -> str:
        """None of its steps: the node itself asks."""
        return ""

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return self.run.id

    @property
    def config_text(self) -> str:
        """The node's config as the document has it."""
        return str(self.plan.spec.config)

    def too_long(self) -> NodeError:
        """The error of an attempt that took longer than it may."""
        return too_long(self.plan)

    def redact(self, value: Any) -> Any:
        """The value without the secrets that the run has read."""
        return self._execution.redact(value)

    def is_connected(self, handle: str) -> bool:
        """Whether an edge leaves from a handle."""
        return any(handle == known for known, _target in self.plan.outgoing)

    def explain(self, handle: str, reason: str) -> None:
        """Say why a handle was not taken."""
        if self.why is None:
            self.why = {}
        self.why[handle] = reason

    def result(
        self, outputs: Mapping[str, Any], handles: tuple[str, ...], elapsed_ms: float,
        assigned: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """What the journal holds of the node's success; `assigned` by default what was until now."""
        data: dict[str, Any] = {"outputs": outputs, "handles": handles, "elapsed_ms": round(elapsed_ms, 3)}
        if assigned or self.assigned:
            data["variables"] = assigned or self.assigned
        if self.why:
            data["why"] = self.why
        if self.plan.pinned:
            data["pinned"] = True
        return data

    def failure(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """What the journal holds of the node's failure."""
        data: dict[str, Any] = {"error": error}
        if self.plan.spec.on_error != "stop":
            data["handled"] = self.plan.spec.on_error
        if self.assigned:
            data["variables"] = self.assigned
        return data

    def variable(self, name: str) -> Any:
        """Value of the nearest loop variable of that name, else of the run variable."""
        holder = self.scope.holder(name)
        if name not in holder:
            raise unknown_variable(name, self._execution.plan.document.variables)
        return readable(name, holder[name])

    def assign(self, variable: str, value: Any) -> None:
        """Set a run or loop variable, after a check of its type where the document declares one."""
        holder = self.scope.holder(variable)
        if holder is self._execution.root.names["vars"]:
            check_value(variable, value, self._execution.plan.document.variables)
        self.note_assigned(variable, value)

    def note_assigned(self, variable: str, value: Any) -> None:
        """Set a variable whose value was checked."""
        self.scope.assign(variable, value)
        if self.assigned is None:
            self.assigned = {}
        self.assigned[variable] = value

    def kept_among(self, names: Iterable[str]) -> tuple[str, ...]:
        """The run variables of these names whose values are kept beyond the run; all of them for `*`."""
        kept = self._execution.kept
        if not kept:
            return ()
        wanted = set(names)
        own = kept if "*" in wanted else kept & wanted
        holder = self._execution.root.names["vars"]
        return tuple(sorted(name for name in own if self.scope.holder(name) is holder))

    async def keep(self, names: Sequence[str], work: Callable[[VariableView], O]) -> O:
        """Do the node's work with the newest values of kept variables, in the commit that records it."""
        return await keep(self._execution, self, names, work)

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

    def service(self, protocol: type[S], *, step: str | None = None) -> S:
        """The implementation of a protocol that this process offers."""
        found, recording = self._execution.services.get(protocol), self._execution.recording
        if recording is None:
            return found
        return recording.service(protocol, found, self if step is None else StepCaller(self, step))

    @property
    def substeps(self) -> SubSteps:
        """What the node has done within its attempts."""
        if self._substeps is None:
            self._substeps = NodeSubSteps(self._execution, self)
        return self._substeps

    @property
    def seconds(self) -> float | None:
        """The node's time-out."""
        return self.plan.timeout

    @property
    def bodies(self) -> Bodies:
        """Runs this container's body; passes are numbered over all calls."""
        if self._bodies is None:
            self._bodies = self._execution.bodies(self)
        return self._bodies
