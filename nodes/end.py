"""END: the outputs of the run."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from interlace.engine.expressions.values import to_text
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.schema import Schema

RESPONSE = "$response"
"""Key under which the response travels beside the outputs; no output can be called so, and the run takes it out."""


class Response(Config):
    """The HTTP answer to a webhook that waits for the run."""

    status: Dynamic[int] = Field(
        200, ge=100, le=599, title="Status", description="HTTP status code of the answer.", examples=[201]
    )
    headers: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Headers",
        description="Headers of the answer.",
        examples=[{"content-type": "text/plain"}],
    )
    body: Dynamic[Data] = Field(
        None,
        title="Body",
        description="Body of the answer: text is sent as it is, anything else as JSON.",
        examples=["Thank you, {{ inputs.name }}."],
    )


class EndConfig(Config):
    """What the run gives."""

    outputs: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Outputs",
        description="The run's outputs by name. With several END nodes their outputs are merged; a name may be set once.",
        examples=[{"answer": "{{ write.text }}"}],
    )
    response: Response | None = Field(
        None,
        title="Response",
        description="The answer to a webhook that waits for the run; without it the outputs are sent as JSON.",
        examples=[{"status": 201, "body": {"id": "{{ save.id }}"}}],
    )


class EndOutput(OpenOutput):
    """The outputs by name."""


class End(Node[EndConfig, EndOutput]):
    """Give the outputs of the run."""

    kind = "END"
    group, icon = "flow", "flag"
    example: ClassVar[dict[str, Any]] = {"outputs": {"answer": "{{ inputs.question }}"}}

    def handles(self) -> tuple[str, ...]:
        """None: nothing comes after an END."""
        return ()

    def output_schema(self, types: TypeContext) -> Schema:
        """The types of the outputs."""
        outputs = self.config.outputs
        if not isinstance(outputs, dict):
            return types.infer(outputs)
        properties = {name: types.infer(value) for name, value in outputs.items()}
        return {"type": "object", "properties": properties, "required": list(outputs)}

    def run(self, config: EndConfig, ctx: RunContext) -> EndOutput:
        """Give the evaluated outputs."""
        del ctx
        outputs: dict[str, Any] = config.outputs
        if config.response is None:
            return EndOutput(**outputs)
        response = config.response
        headers = {name: to_text(value) for name, value in response.headers.items()}
        return EndOutput(
            **{**outputs, RESPONSE: {"status": response.status, "headers": headers, "body": response.body}}
        )
