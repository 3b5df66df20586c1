"""The contract of a node type: typed config in, typed output out, one class a file.

A node type subclasses `Node[ItsConfig, ItsOutput]`. The engine evaluates the ƒ fields, applies time-out, retry and
error policy, journals the result and decides the edges; a node only does its work and raises `NodeError` when it
cannot. A plain `def run` is executed inline in the engine and must be quick; an `async def run` gets a slot of the
run's concurrency.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

from interlace.engine.document import Body, Document, Effects, NodeSpec
from interlace.engine.expressions import Missing, Names
from interlace.engine.principal import LOCAL, Principal
from interlace.engine.problems import Severity
from interlace.engine.schema import Schema
from interlace.engine.substeps import SubSteps
from interlace.engine.variables import VariableView
from interlace.engine.waits import Answer

OUT = "out"
S = TypeVar("S")


class Config(BaseModel):
    """The settings of a node type: every field with a description; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Output(BaseModel):
    """The outputs of a node type, by name."""

    model_config = ConfigDict(extra="forbid")


class OpenOutput(Output):
    """Outputs whose names depend on the config (START, END, CODE, ENV, …)."""

    model_config = ConfigDict(extra="allow")


C = TypeVar("C", bound=Config)
O = TypeVar("O", bound=Output)  # noqa: E741 - reads as Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a node type's own static check found; the validator adds node and line."""

    code: str
    field: str
    message: str
    severity: Severity = "error"
    fix: str | None = None


class TypeContext(Protocol):
    """What a node type may ask while its output schema is computed."""

    document: Document
    spec: NodeSpec

    def infer(self, value: Any) -> Schema:
        """Type of a ƒ value in the node's scope."""
        ...

    def infer_expression(self, source: str, names: Mapping[str, Schema] | None = None) -> Schema:
        """Type of a bare expression in the node's scope, with extra names."""
        ...

    def infer_in_body(self, value: Any) -> Schema:
        """Type of a ƒ value inside the node's body."""
        ...

    def variable(self, name: str) -> Schema | None:
        """Type of a run or loop variable, None when it is not declared."""
        ...

    def child_outputs(self, workflow: str, version: str | int) -> Schema:
        """Output schema of another workflow; {} when unknown."""
        ...


@dataclass(slots=True, kw_only=True)
class BodyOutcome:
    """How one pass through a body ended. `names` reads the pass's nodes, for evaluating the container's `output`."""

    status: Literal["done", "failed", "break", "continue"]
    names: Names
    error: dict[str, Any] | None = None


class Bodies(Protocol):
    """Runs a container's body; the engine schedules the inner nodes."""

    async def run(
        self,
        passes: Iterable[Mapping[str, Any]],
        *,
        parallel: int,
        done: Callable[[int, BodyOutcome], bool],
        variables: dict[str, Any] | None = None,
    ) -> None:
        """Run one pass for each mapping of extra names, at most `parallel` at once; may be called again.

        `done(index, outcome)` is called as passes end, in any order; indexes go on counting over calls. When it
        returns False no further pass starts and those under way are cancelled. `variables` are readable by their
        bare names in the body and written by `ctx.assign`; the passes share the mapping.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What `run.…` gives to expressions, and what nodes may know of their run."""

    id: str
    workflow: str = ""
    started_at: float = 0.0
    attempt: int = 1
    scheduled_for: str | None = None
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"kind": "manual"})
    environment: str = "dev"
    depth: int = 0
    principal: Principal = LOCAL
    """Whose rights the run acts with: whoever started it; the owner of the schedule or webhook that did."""
    traceparent: str | None = None
    """The place in a trace that its start was part of."""


class RunContext(Protocol):
    """What a running node sees besides its config."""

    run: RunInfo
    path: str
    attempt: int
    names: Names

    @property
    def limit(self) -> int:
        """The run's max_concurrency."""
        ...

    @property
    def idempotency_key(self) -> str:
        """Stable for this node of this run over retries after unknown outcomes."""
        ...

    @property
    def principal(self) -> Principal:
        """Whose rights the run acts with."""
        ...

    @property
    def confirmed(self) -> bool:
        """Whether a person has confirmed the node's config before it ran (`confirm: true`)."""
        ...

    def hide(self, name: str, value: str) -> None:
        """Keep a secret value out of all that the run records from now on; `[secrets.<name>]` stands in its place."""
        ...

    def evaluate(self, expression: str, names: Mapping[str, Any] | None = None) -> Any:
        """Value of a bare expression, with extra names; raises `ExpressionError`."""
        ...

    def resolve(self, value: Any, names: Names | None = None) -> Any:
        """Value of a ƒ field that the node evaluates itself; raises `ExpressionError` where a part is missing."""
        ...

    def resolve_or_missing(self, value: Any, names: Names | None = None) -> Any | Missing:
        """The same, but a missing value comes back as `Missing`."""
        ...

    def take(self, *handles: str) -> None:
        """Choose the handles whose edges are taken; `out` when never called."""
        ...

    def is_connected(self, handle: str) -> bool:
        """Whether an edge leaves from a handle."""
        ...

    def explain(self, handle: str, reason: str) -> None:
        """Say why a handle was not taken; shown as the reason of the nodes that are skipped for it."""
        ...

    def variable(self, name: str) -> Any:
        """Value of the nearest loop variable of that name, else of the run variable.

        Raises:
            NodeError: there is no such variable.
        """
        ...

    def assign(self, variable: str, value: Any) -> None:
        """Set a run or loop variable; recorded with the node's result.

        Raises:
            NodeError: the value does not fit the type that the document declares.
        """
        ...

    def kept_among(self, names: Iterable[str]) -> tuple[str, ...]:
        """The run variables of these names whose values are kept beyond the run; all of them for `*`."""
        ...

    async def keep(self, names: Sequence[str], work: Callable[[VariableView], O]) -> O:
        """Do the node's work with the newest values of kept variables, in the commit that records its success.

        The work may be done several times, and only once counts: it must do nothing but write variables of the view.

        Raises:
            NodeError: what the work raised; nothing was changed.
        """
        ...

    def now(self) -> float:
        """Unix time in seconds, by the run's clock."""
        ...

    def log(self, message: str) -> None:
        """Add a line to the run's log."""
        ...

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event of this node to the journal (`iteration.item`, `node.delta`, …)."""
        ...

    def service(self, protocol: type[S], *, step: str | None = None) -> S:
        """The implementation of a protocol that this process offers; for a step of the node's work, where it has some."""
        ...

    @property
    def substeps(self) -> SubSteps:
        """What the node has done within its attempts, and its requests where it has several."""
        ...

    @property
    def seconds(self) -> float | None:
        """The time-out of each attempt, and of each stretch between two waits."""
        ...

    @property
    def bodies(self) -> Bodies:
        """Runs this container's body."""
        ...


@cache
def _schema_of(output_type: type[Output]) -> Schema:
    """Pydantic takes longer to write a schema than validation takes for a whole node."""
    return output_type.model_json_schema()


class Node(Generic[C, O]):
    """A node type. The first line of the class docstring is its text in the palette."""

    kind: ClassVar[str]
    group: ClassVar[str] = "data"
    icon: ClassVar[str] = "box"
    effects: ClassVar[Effects] = "none"
    timeout: ClassVar[float | None] = 30.0
    container: ClassVar[bool] = False
    """Whether the type has a body."""
    takes_slot: ClassVar[bool] = True
    """Whether a running node of this type counts for the run's max_concurrency; containers do not."""
    pass_format: ClassVar[str] = "[{}]"  # noqa: S105 - how passes are written in paths
    """How a pass through the body is written in paths: `each[2].call`, `loop#3.inc`."""
    incidental: ClassVar[tuple[str, ...]] = ()
    """Outputs that differ from run to run by their nature (a time measured, an id): no difference between runs."""
    example: ClassVar[dict[str, Any]] = {}
    """A config that validates, shown in the catalogue and used by the contract tests."""

    config_type: ClassVar[type[Config]]
    output_type: ClassVar[type[Output]]
    inline: ClassVar[bool]
    """Whether `run` is a plain function, executed inside the engine."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            arguments = get_args(base)
            if len(arguments) == 2 and isinstance(arguments[0], type):  # noqa: PLR2004 - Node[Config, Output]
                cls.config_type, cls.output_type = arguments
        cls.inline = not inspect.iscoroutinefunction(cls.run)

    def __init__(self, config: C) -> None:
        self.config = config

    def handles(self) -> tuple[str, ...]:
        """The handles that edges may leave from, `error` not included."""
        return (OUT,)

    def exclusive(self) -> bool:
        """Whether exactly one of the handles is taken when the node succeeds."""
        return True

    def handles_of(self, outputs: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The handles that the node takes with given outputs; None where they do not say it."""
        del outputs
        handles = self.handles()
        return handles[:1] if len(handles) <= 1 or OUT in handles else None

    def effect(self) -> Effects:
        """What an interrupted attempt means with this config."""
        return type(self).effects

    async def effects_of(self, ctx: RunContext) -> Effects:
        """The same, asked before each attempt, where it depends on a resource that only a run can look up.

        It reaches nothing outside; unless the document says the effects itself, its answer goes before `effect`'s.

        Raises:
            NodeError: it cannot be said; `effect` holds, and the attempt finds out why.
        """
        del ctx
        return self.effect()

    def output_schema(self, types: TypeContext) -> Schema:
        """JSON Schema of the outputs with this config."""
        del types
        return _schema_of(type(self).output_type)

    def body_names(self, types: TypeContext) -> Mapping[str, Schema]:
        """Types of the extra names inside the body (`item`, `index`, `loop`, loop variables)."""
        del types
        return {}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """What only this type can find wrong with its config."""
        del spec
        yield from ()

    def body(self, spec: NodeSpec) -> Body:
        """The body of a container."""
        assert spec.body is not None
        return spec.body

    def run(self, config: C, ctx: RunContext) -> O | Awaitable[O]:
        """Do the work with the evaluated config.

        Raises:
            NodeError: the work could not be done.
        """
        del config, ctx
        raise TypeError(f"node type {type(self).kind} does not define run()")

    def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> O | Awaitable[O]:
        """Go on after `run` raised `Suspend`: `state` is what it left there, `answer` what ended the wait.

        Raises:
            NodeError: the answer is a failure of the node.
        """
        del state, answer, ctx
        raise TypeError(f"node type {type(self).kind} suspends but does not define resume()")
