"""The workflow document as pydantic models: the shape only; what it means is checked in `validate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from interlace.engine.durations import Seconds

SCHEMA = "interlace/v1"
RESERVED = frozenset({"inputs", "vars", "env", "secrets", "run", "trigger", "item", "index", "loop"})
BREAK, CONTINUE = "$break", "$continue"

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
PoolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Effects: TypeAlias = Literal["none", "idempotent", "once"]
JsonSchema: TypeAlias = dict[str, Any]


class Model(BaseModel):
    """What all document models share: unknown fields are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Retry(Model):
    """When and how often a failed attempt is made again."""

    max: int = Field(0, ge=0, le=100, description="Retries after the first attempt.")
    delay: Seconds = Field(1.0, description="Pause before the first retry.")
    backoff: float = Field(2.0, ge=1, description="Factor from one pause to the next.")
    max_delay: Seconds = Field(60.0, description="The longest pause.")
    jitter: bool = Field(
        True, description="Spread the pauses at random, so that many runs do not retry at once."
    )
    on: list[str] | None = Field(
        None, description="Kinds of error that are retried; the retryable ones by default."
    )


class Wait(Model):
    """A durable pause before the node runs: for a time, or until an instant."""

    for_: Seconds | None = Field(None, alias="for", description="How long to wait.")
    until: str | None = Field(None, description="An instant (ISO date-time), as text or expression.")

    @model_validator(mode="after")
    def _one(self) -> Wait:
        if (self.for_ is None) == (self.until is None):
            raise ValueError("give exactly one of 'for' and 'until'")
        return self


class Edge(Model):
    """From a handle of one node to another node."""

    from_: str = Field(alias="from", description="Id of the source node.")
    handle: str = Field("out", description="Handle of the source node.")
    to: str = Field(description="Id of the target node; inside a body also $break and $continue.")


class Body(Model):
    """The nodes and edges inside an ITERATION or LOOP."""

    nodes: list[NodeSpec] = Field(default_factory=list, description="Any type but START and END.")
    edges: list[Edge] = Field(default_factory=list, description="Edges among the nodes of this body.")

    def walk(self) -> Iterator[tuple[NodeSpec, Body | Document]]:
        """Every node of the body with what holds it, inner bodies included."""
        yield from _walk(self)


class NodeSpec(Model):
    """One node: its type, its config and what all types share."""

    id: Identifier = Field(description="Stable name used in references.")
    type: str = Field(description="One of the node types.")
    label: str | None = Field(None, description="Free text shown to people; never part of a reference.")
    note: str | None = Field(None, description="Free text for the next reader.")
    join: Literal["any", "all"] = Field(
        "any", description="Run when any, or only when all incoming edges are taken."
    )
    on_error: Literal["stop", "continue", "branch"] = Field(
        "stop", description="What a failure does to the run."
    )
    default_output: dict[str, Any] | None = Field(
        None, description="The outputs after a failure with `continue`."
    )
    retry: Retry | None = Field(None, title="Retry", description="Retries of this node; none by default.")
    timeout: Seconds | None = Field(
        None, description="Longest time of one attempt; the type's default otherwise."
    )
    wait: Wait | None = Field(None, title="Wait", description="A durable pause before the node runs.")
    effects: Effects | None = Field(None, description="Whether an interrupted attempt may be repeated.")
    on_unknown: Literal["fail", "retry", "ask"] = Field(
        "ask",
        description="What happens when an attempt with effects `once` was interrupted and its outcome is unknown.",
    )
    confirm: bool = Field(False, description="Ask a person before each run of this node.")
    pool: PoolName | None = Field(
        None, description="Name of the pool whose hosts run this node; where the run is otherwise."
    )
    disabled: bool = Field(False, description="Skip the node; the edges of its first handle are taken.")
    config: dict[str, Any] = Field(default_factory=dict, description="The type's own settings.")
    body: Body | None = Field(None, title="Body", description="The inside of an ITERATION or LOOP.")


class Variable(Model):
    """A run variable: its type and its first value."""

    type: Literal["string", "number", "integer", "boolean", "array", "object", "any"] = Field(
        "any", description="What the variable may hold; assignments are checked against it."
    )
    default: Any = Field(None, description="The first value.")
    scope: Literal["run", "session", "workflow"] = Field("run", description="How long the value lasts.")
    description: str | None = Field(None, description="Free text for the next reader.")


class Concurrency(Model):
    """How many runs of a workflow are active at the same time, on all machines together."""

    limit: int = Field(
        ge=1, le=10_000, description="Most runs of this workflow that are active at the same time."
    )
    when_full: Literal["queue", "skip", "cancel_oldest"] = Field(
        "queue",
        description="What a new run does when the limit is reached: wait its turn, end as cancelled, or have the oldest"
        " cancelled.",
    )


class Retention(Model):
    """How long the runs of a workflow are kept once they have ended."""

    keep_for: Seconds | None = Field(
        None, description="How long an ended run is kept; the installation's limit otherwise."
    )
    keep_last: int | None = Field(
        None,
        ge=1,
        description="How many of the newest ended runs are kept; the installation's limit otherwise.",
    )


class Settings(Model):
    """What holds for the whole run."""

    timeout: Seconds | None = Field(None, description="Longest time of a run; none by default.")
    max_concurrency: int = Field(
        10, ge=1, le=1000, description="Most nodes of one run that run at the same time."
    )
    on_failure: str | None = Field(
        None, description="Name of a workflow started when a run of this one fails."
    )
    record: bool = Field(
        False, description="Record every answer from outside, so that runs can be replayed offline."
    )
    pool: PoolName | None = Field(
        None, description="Name of the pool whose hosts run this workflow; the default pool otherwise."
    )
    start_timeout: Seconds | None = Field(
        None, description="Longest time that a run may wait to start before it fails; no limit by default."
    )
    concurrency: Concurrency | None = Field(
        None,
        title="Concurrency",
        description="How many runs are active at the same time; no limit by default.",
    )
    retention: Retention | None = Field(
        None,
        title="Retention",
        description="How long ended runs are kept, and how many; the installation's limits otherwise.",
    )
    chat: bool = Field(False, description="Whether sessions can talk to this workflow.")


class Ui(Model):
    """What only an editor reads; it never affects a run."""

    model_config = ConfigDict(extra="allow", frozen=True)
    positions: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="Where nodes stand on a canvas: [x, y] by id."
    )


class Document(Model):
    """A whole workflow."""

    schema_: Literal["interlace/v1"] = Field(
        "interlace/v1", alias="schema", description="Version of this format."
    )
    name: str = Field(min_length=1, max_length=200, description="Unique in its owner's scope.")
    description: str | None = Field(None, description="What the workflow is for.")
    inputs: JsonSchema = Field(
        default_factory=lambda: {"type": "object"}, description="JSON Schema 2020-12 of an object."
    )
    variables: dict[Identifier, Variable] = Field(
        default_factory=dict, description="Run variables by name, read as `vars.<name>`."
    )
    settings: Settings = Field(
        default_factory=Settings, title="Settings", description="What holds for the whole run."
    )
    triggers: list[dict[str, Any]] = Field(
        default_factory=list, description="What starts runs by itself, once the version is published."
    )
    nodes: list[NodeSpec] = Field(
        description="Exactly one START, at least one END; the order does not matter."
    )
    edges: list[Edge] = Field(
        default_factory=list, description="What follows what; `a -> b` and `a.handle -> b` are short forms."
    )
    ui: Ui = Field(default_factory=Ui, title="UI", description="What only an editor reads.")

    def walk(self) -> Iterator[tuple[NodeSpec, Body | Document]]:
        """Every node of the document with the body that holds it, bodies included."""
        yield from _walk(self)


def _walk(container: Body | Document) -> Iterator[tuple[NodeSpec, Body | Document]]:
    for node in container.nodes:
        yield node, container
        if node.body is not None:
            yield from _walk(node.body)


Body.model_rebuild()
