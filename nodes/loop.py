"""LOOP: the body again and again, with variables, until a condition ends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from interlace.engine.absence import value_or_null
from interlace.engine.document import BREAK, Identifier, NodeSpec
from interlace.engine.errors import BodyError, NodeError
from interlace.engine.expressions import Names, compile_expression, compile_value
from interlace.engine.fields import Data, Dynamic, Expression, In
from interlace.engine.node import BodyOutcome, Config, Finding, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.run.scope import Layered
from interlace.engine.schema import Schema

MAX_ROUNDS = 1_000_000
TAKEN = frozenset({"rounds", "reason", "output", "error"})
"""Outputs of the node, so no names for variables."""
_LOOP: Schema = {
    "type": "object",
    "properties": {"round": {"type": "integer"}, "first": {"type": "boolean"}},
    "required": ["round", "first"],
}


class LoopConfig(Config):
    """The variables, and when the loop ends."""

    variables: Dynamic[dict[Identifier, Data]] = Field(
        default_factory=dict,
        title="Variables",
        description="Loop variables and their first values. The body reads them by name and writes them with VARIABLE_ASSIGN.",
        examples=[{"page": 1, "found": []}],
    )
    while_: Annotated[str | None, Expression("expression", lazy=True), In("body")] = Field(
        None, alias="while", title="While",
        description="Looked at before each round; the loop ends when it does not hold. May read the loop variables and, from"
        " the second round on, the body's nodes.", examples=["page <= 10"],
    )  # fmt: skip
    until: Annotated[str | None, Expression("expression", lazy=True), In("body")] = Field(
        None, title="Until",
        description="Looked at after each round; the loop ends when it holds. May read the loop variables and the body's nodes.",
        examples=["fetch.body.next is empty"],
    )  # fmt: skip
    max_rounds: int = Field(
        ge=1, le=MAX_ROUNDS, title="Most rounds", description="The loop ends at the latest after so many rounds.", examples=[100],
        json_schema_extra={"unit": "rounds"},
    )  # fmt: skip
    on_max: Literal["fail", "continue"] = Field(
        "fail",
        title="At the limit",
        description="What happens when the limit of rounds ends the loop.",
        examples=["continue"],
    )
    output: Annotated[Data, Expression(lazy=True), In("body")] = Field(
        None,
        title="Output",
        description="A further output, out of the last round's nodes.",
        examples=["{{ fetch.body }}"],
    )


class LoopOutput(OpenOutput):
    """The loop variables by name, and how the loop ended."""

    rounds: int = Field(description="How many rounds ran.")
    reason: Literal["while", "until", "break", "max_rounds"] = Field(description="What ended the loop.")


class Loop(Node[LoopConfig, LoopOutput]):
    """Repeat the body until a condition ends it."""

    kind = "LOOP"
    group, icon = "logic", "refresh-cw"
    timeout = None
    container = True
    takes_slot = False
    pass_format = "#{}"  # noqa: S105 - how passes are written in paths
    example: ClassVar[dict[str, Any]] = {"variables": {"n": 0}, "while": "n < 3", "max_rounds": 10}

    @cached_property
    def _output(self) -> Any:
        return compile_value(self.config.output)

    def output_schema(self, types: TypeContext) -> Schema:
        """The loop variables, `rounds` and `reason`; `output` where it is set."""
        properties = dict(self._variables(types))
        properties["rounds"] = {"type": "integer"}
        properties["reason"] = {"type": "string", "enum": ["while", "until", "break", "max_rounds"]}
        if self.config.output is not None:
            properties["output"] = types.infer_in_body(self.config.output)
        return {"type": "object", "properties": properties, "required": list(properties)}

    def body_names(self, types: TypeContext) -> Mapping[str, Schema]:
        """The loop variables and `loop`."""
        return {**self._variables(types), "loop": _LOOP}

    def _variables(self, types: TypeContext) -> Mapping[str, Schema]:
        variables = self.config.variables
        if not isinstance(variables, dict):
            return {}
        return {name: _widened(types.infer(value)) for name, value in variables.items()}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Something ends the loop, and the names of its variables are free."""
        config = self.config
        edges = spec.body.edges if spec.body is not None else []
        ends = (
            config.while_ is not None or config.until is not None or any(edge.to == BREAK for edge in edges)
        )
        if not ends and config.on_max == "fail":
            yield Finding(
                code="endless_loop", field="config", message="nothing ends this loop before max_rounds, so it always fails.",
                fix="Set while or until, add an edge to $break, or set on_max: continue.",
            )  # fmt: skip
        for name in sorted(TAKEN & set(config.variables)):
            yield Finding(
                code="reserved_name", field=f"config.variables.{name}",
                message=f"a loop variable cannot be called {name!r}, the node has an output of that name.", fix="Rename it.",
            )  # fmt: skip

    async def run(self, config: LoopConfig, ctx: RunContext) -> LoopOutput:
        """Run rounds until something ends the loop.

        Raises:
            NodeError: a round failed, a condition cannot be evaluated, or max_rounds was reached with on_max fail.
        """
        rounds = _Rounds(config, ctx)
        reason = await rounds.run()
        outputs = dict(rounds.variables)
        if config.output is not None:
            outputs["output"] = self._last(rounds, partial=reason == "break" or rounds.count == 0)
        return LoopOutput(**outputs, rounds=rounds.count, reason=reason)

    def _last(self, rounds: _Rounds, *, partial: bool) -> Any:
        """The value of `output`; null where the last round did not get that far."""
        return value_or_null(self._output, rounds.names) if partial else self._output.evaluate(rounds.names)


class _Rounds:
    """The rounds of one run of the loop."""

    def __init__(self, config: LoopConfig, ctx: RunContext) -> None:
        self._config = config
        self._ctx = ctx
        self._while = None if config.while_ is None else compile_expression(config.while_)
        self._until = None if config.until is None else compile_expression(config.until)
        self._outcome: BodyOutcome | None = None
        self.variables: dict[str, Any] = dict(config.variables)
        self.count = 0
        self.names: Names = Layered(self.variables, ctx.names)
        """What conditions and `output` read: the last round, before the first one the variables alone."""

    async def run(self) -> Literal["while", "until", "break", "max_rounds"]:
        """Run to the end and give what ended it."""
        while True:
            loop = {"round": self.count, "first": self.count == 0}
            if self._while is not None and not self._while.evaluate(Layered({"loop": loop}, self.names)):
                return "while"
            if self.count == self._config.max_rounds:
                if self._config.on_max == "continue":
                    return "max_rounds"
                raise NodeError(
                    f"the loop ran {self.count} rounds, its max_rounds, and nothing ended it; raise max_rounds, or set"
                    " on_max: continue",
                    kind="max_rounds",
                )
            outcome = await self._round(loop)
            if outcome.status == "break":
                return "break"
            if self._until is not None and self._until.evaluate(self.names):
                return "until"

    async def _round(self, loop: dict[str, Any]) -> BodyOutcome:
        outcomes: list[BodyOutcome] = []

        def done(_index: int, outcome: BodyOutcome) -> bool:
            outcomes.append(outcome)
            return True

        await self._ctx.bodies.run([{"loop": loop}], parallel=1, done=done, variables=self.variables)
        outcome = outcomes[0]
        if outcome.status == "failed":
            raise BodyError(outcome.error or {"type": "node_error", "message": f"round {self.count} failed"})
        self._ctx.emit("loop.round", {"round": self.count, "variables": dict(self.variables)})
        self.count += 1
        self.names = outcome.names
        return outcome


def _widened(schema: Schema) -> Schema:
    """The type of a variable that begins with a value of this type: later rounds may give it other values of the kind."""
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return {"type": "number"}
    if kind == "object":
        return {"type": "object", "additionalProperties": True}
    return {"type": kind} if kind in ("string", "boolean", "array") else {}
