"""SUB_WORKFLOW: another workflow as one step, in a run of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.protocols import Children, ChildResult
from interlace.engine.schema import Schema
from interlace.engine.waits import Answer, Suspend, Wanted


class SubWorkflowConfig(Config):
    """Which workflow runs, and with what."""

    workflow: str = Field(
        min_length=1,
        title="Workflow",
        description="Name or id of a stored workflow; in a file run from the command line also a relative path.",
        examples=["invoice-check", "./child.yaml"],
        json_schema_extra={"widget": "workflow"},
    )
    version: Literal["published", "latest"] | int = Field(
        "published",
        title="Version",
        description="published, latest or a version number; the version is pinned when the child starts.",
        examples=[3],
    )
    inputs: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Inputs",
        description="The child's inputs by name, checked against its input schema.",
        examples=[{"amount": "{{ inputs.amount }}"}],
    )
    wait: bool = Field(
        True,
        title="Wait",
        description="Wait for the child's end and give its outputs; otherwise only `run_id` is given and the child's"
        " failure does not concern this run.",
        examples=[False],
    )


class SubWorkflowOutput(OpenOutput):
    """The child's outputs by name, and its run."""

    run_id: str = Field(description="Id of the child run.")


class SubWorkflow(Node[SubWorkflowConfig, SubWorkflowOutput]):
    """Run another workflow and use its outputs."""

    kind = "SUB_WORKFLOW"
    group, icon = "logic", "workflow"
    effects = "idempotent"  # an interrupted attempt finds the child it started
    timeout = None
    incidental = ("run_id",)
    takes_slot = False  # it only waits; holding a slot could starve the child's own work
    example: ClassVar[dict[str, Any]] = {"workflow": "invoice-check", "inputs": {"amount": 100}}

    def output_schema(self, types: TypeContext) -> Schema:
        """The child's outputs and `run_id`."""
        run_id: Schema = {"type": "string", "description": "Id of the child run."}
        if not self.config.wait:
            return {"type": "object", "properties": {"run_id": run_id}, "required": ["run_id"]}
        child = types.child_outputs(self.config.workflow, self.config.version)
        properties = {**child.get("properties", {}), "run_id": run_id}
        required = list(dict.fromkeys([*child.get("required", ()), "run_id"]))
        open_ended = {} if child else {"additionalProperties": True}
        return {**open_ended, **child, "type": "object", "properties": properties, "required": required}

    async def run(self, config: SubWorkflowConfig, ctx: RunContext) -> SubWorkflowOutput:
        """Start the child, and wait for it where asked.

        Raises:
            NodeError: the child failed, was cancelled or could not start.
        """
        result = await ctx.service(Children).run(
            config.workflow, config.version, config.inputs, parent=ctx.run.id, path=ctx.path, wait=config.wait
        )
        if not config.wait:
            return SubWorkflowOutput(run_id=result.run_id)
        return _output(config.workflow, result)

    async def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> SubWorkflowOutput:
        """Take the outputs of the child that was suspended.

        Raises:
            NodeError: the child failed or was cancelled.
        """
        del answer
        result = await ctx.service(Children).result(str(state["run_id"]), parent=ctx.run.id)
        return _output(str(state["workflow"]), result)


def _output(workflow: str, result: ChildResult) -> SubWorkflowOutput:
    if result.status == "suspended":
        state = {"run_id": result.run_id, "workflow": workflow}
        request = {"title": f"Workflow {workflow} waits", "run_id": result.run_id}
        raise Suspend(Wanted(kind="child", request=request, state=state, ref=result.run_id))
    if result.status != "succeeded":
        raise _failed(workflow, result)
    outputs: dict[str, Any] = {**result.outputs, "run_id": result.run_id}
    return SubWorkflowOutput(**outputs)


def _failed(workflow: str, result: ChildResult) -> NodeError:
    if result.status == "cancelled":
        return NodeError(f"workflow {workflow!r} (run {result.run_id}) was cancelled", kind="cancelled")
    error = result.error or {}
    where = f" at {error['path']}" if error.get("path") else ""
    return NodeError(
        f"workflow {workflow!r} (run {result.run_id}) {result.status}{where}: {error.get('message', 'no reason given')}",
        kind=str(error.get("type") or "child_failed"),
        retryable=bool(error.get("retryable", False)),
    )
