"""ITERATION: the body once for each item of a list."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from interlace.engine.absence import value_or_null
from interlace.engine.document import CONTINUE
from interlace.engine.errors import BodyError, ExpressionError, NodeError
from interlace.engine.expressions import Names, compile_value
from interlace.engine.fields import Data, Expression, In
from interlace.engine.lists import as_list
from interlace.engine.node import BodyOutcome, Config, Node, Output, RunContext, TypeContext
from interlace.engine.schema import Schema

MAX_PARALLEL = 1000
_List = Annotated[Any, WithJsonSchema({"type": ["array", "string"]})]
_ERROR: Schema = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "message": {"type": "string"},
        "node": {"type": ["string", "null"]},
        "path": {"type": ["string", "null"]},
        "attempt": {"type": ["integer", "null"]},
        "retryable": {"type": "boolean"},
    },
    "required": ["type", "message"],
}


class IterationConfig(Config):
    """The list, and how it is gone through."""

    items: Annotated[_List, Expression()] = Field(
        title="Items",
        description="The list; JSON text of a list is accepted. Inside the body each entry is `item`, its number `index`.",
        examples=["{{ fetch.body.orders }}"],
    )
    output: Annotated[Data, Expression(lazy=True), In("body")] = Field(
        None,
        title="Output",
        description="What an item gives, out of the body's nodes; the entry of `results`. Without it the entries are null.",
        examples=["{{ work.text }}"],
    )
    parallel: int = Field(
        1, ge=1, le=MAX_PARALLEL, title="Parallel",
        description="Most items at the same time, capped by the run's max_concurrency; `results` keep the order of the list.",
        examples=[10], json_schema_extra={"unit": "items"},
    )  # fmt: skip
    on_item_error: Literal["stop", "null", "drop"] = Field(
        "stop",
        title="On item error",
        description="stop: the node fails. null: the item's result is null. drop: the item has no result. With null and drop"
        " what went wrong is in `errors`.",
        examples=["drop"],
    )
    max_items: int | None = Field(
        None, ge=0, title="Most items", description="A longer list is an error; no limit by default.", examples=[1000],
        json_schema_extra={"unit": "items"},
    )  # fmt: skip


class IterationOutput(Output):
    """The results in the order of the list."""

    results: Data = Field(description="What the items gave, in the order of the list.")
    errors: Data = Field(description="What went wrong: [{index, node, error}], by index.")
    count: int = Field(description="Number of results.")


class Iteration(Node[IterationConfig, IterationOutput]):
    """Do the same for each item of a list, one by one or in parallel."""

    kind = "ITERATION"
    group, icon = "logic", "repeat"
    timeout = None
    container = True
    takes_slot = False
    pass_format = "[{}]"  # noqa: S105 - how passes are written in paths
    example: ClassVar[dict[str, Any]] = {"items": "{{ inputs.names }}", "output": "{{ item }}"}

    @cached_property
    def _output(self) -> Any:
        return compile_value(self.config.output)

    def output_schema(self, types: TypeContext) -> Schema:
        """`results` of the type of `output`; entries can be null where an item may end without one."""
        spec = types.spec
        entry: Schema = (
            {"type": "null"} if self.config.output is None else types.infer_in_body(self.config.output)
        )
        jumps = spec.body is not None and any(edge.to == CONTINUE for edge in spec.body.edges)
        if entry and (jumps or self.config.on_item_error == "null"):
            entry = {"anyOf": [entry, {"type": "null"}]}
        error: Schema = {
            "type": "object",
            "properties": {
                "index": {"type": "integer"},
                "node": {"type": ["string", "null"]},
                "error": _ERROR,
            },
            "required": ["index", "node", "error"],
        }
        properties: dict[str, Schema] = {
            "results": {"type": "array", "items": entry},
            "errors": {"type": "array", "items": error},
            "count": {"type": "integer"},
        }
        return {"type": "object", "properties": properties, "required": list(properties)}

    def body_names(self, types: TypeContext) -> Mapping[str, Schema]:
        """`item`, of the type of the list's entries, and `index`."""
        items = types.infer(self.config.items)
        entry = items.get("items", {}) if items.get("type") == "array" else {}
        return {"item": entry if isinstance(entry, dict) else {}, "index": {"type": "integer"}}

    async def run(self, config: IterationConfig, ctx: RunContext) -> IterationOutput:
        """Run the body for each item.

        Raises:
            NodeError: `items` is no list or too long; with on_item_error stop, an item failed.
        """
        items = as_list(config.items, "items")
        if config.max_items is not None and len(items) > config.max_items:
            raise NodeError(
                f"the list has {len(items)} items, more than max_items {config.max_items}; shorten it first, or raise the limit",
                kind="too_many_items",
            )
        gathered = _Gathered(config, ctx, self._output)
        if items:
            await ctx.bodies.run(
                ({"item": item, "index": index} for index, item in enumerate(items)),
                parallel=min(config.parallel, ctx.limit),
                done=gathered.done,
            )
        return gathered.output()


class _Gathered:
    """What the items gave so far."""

    def __init__(self, config: IterationConfig, ctx: RunContext, output: Any) -> None:
        self._config = config
        self._ctx = ctx
        self._output = output
        self._results: dict[int, Any] = {}
        self._errors: dict[int, dict[str, Any]] = {}
        self._failure: NodeError | None = None

    def done(self, index: int, outcome: BodyOutcome) -> bool:
        """Take the end of an item; whether to go on."""
        status: str = outcome.status
        error = outcome.error
        if status in ("done", "continue"):
            try:
                self._results[index] = self._value(outcome.names, guarded=status == "continue")
                status = "succeeded"
            except ExpressionError as failure:
                status, error = "failed", self._own_error(index, failure)
        self._ctx.emit("iteration.item", {"index": index, "status": status})
        if status == "break":
            return False
        return status == "succeeded" or self._failed(index, error or {})

    def _value(self, names: Names, *, guarded: bool) -> Any:
        return value_or_null(self._output, names) if guarded else self._output.evaluate(names)

    def _own_error(self, index: int, failure: ExpressionError) -> dict[str, Any]:
        """The error of an `output` that cannot be evaluated: it is the container's, at this item."""
        path = f"{self._ctx.path}[{index}]"
        return {
            "type": failure.kind, "message": f"output of item {index}: {failure.message}", "node": self._ctx.path.rpartition(".")[2],
            "path": path, "attempt": self._ctx.attempt, "retryable": False,
        }  # fmt: skip

    def _failed(self, index: int, error: dict[str, Any]) -> bool:
        if self._config.on_item_error == "stop":
            self._failure = BodyError(error)
            return False
        self._errors[index] = error
        if self._config.on_item_error == "null":
            self._results[index] = None
        return True

    def output(self) -> IterationOutput:
        """The results in order; the first failure where it stops the node."""
        if self._failure is not None:
            raise self._failure
        errors = [
            {"index": i, "node": self._errors[i].get("node"), "error": self._errors[i]}
            for i in sorted(self._errors)
        ]
        results = [self._results[i] for i in sorted(self._results)]
        return IterationOutput.model_construct(results=results, errors=errors, count=len(results))
