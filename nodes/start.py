"""START: the inputs of the run, and what started it."""

from __future__ import annotations

from typing import Any

from interlace.engine.node import Config, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.schema import Schema

TRIGGER: Schema = {
    "type": "object",
    "description": "What started the run.",
    "properties": {
        "kind": {"type": "string", "description": "manual, cron, webhook, chat or event."},
        "headers": {
            "type": "object",
            "description": "Request headers of a webhook.",
            "additionalProperties": {"type": "string"},
        },
        "body": {"description": "Body of a webhook: the JSON value where it is JSON, else text."},
        "raw": {"type": "string", "description": "Reference to the raw bytes of a webhook's body."},
        "event": {"type": "string", "description": "Of an event: how the other run ended."},
        "workflow": {"type": "string", "description": "Of an event: the name of the other workflow."},
        "run": {
            "type": "object",
            "description": "The other run that ended: id, status, outputs, error.",
            "additionalProperties": True,
        },
    },
    "required": ["kind"],
}


class StartConfig(Config):
    """Nothing to set: the inputs are declared in the document's `inputs`."""


class StartOutput(OpenOutput):
    """Each input by its name, and `trigger`."""


class Start(Node[StartConfig, StartOutput]):
    """Begin the run with its inputs."""

    kind = "START"
    group, icon = "flow", "play"

    def output_schema(self, types: TypeContext) -> Schema:
        """The document's inputs, those with a default always there, and `trigger`."""
        inputs = types.document.inputs
        properties = inputs.get("properties", {})
        filled = [
            name for name, entry in properties.items() if isinstance(entry, dict) and "default" in entry
        ]
        required = dict.fromkeys([*inputs.get("required", ()), *filled, "trigger"])
        return {**inputs, "properties": {**properties, "trigger": TRIGGER}, "required": list(required)}

    def run(self, config: StartConfig, ctx: RunContext) -> StartOutput:
        """Give the inputs, which were checked before the run began."""
        del config
        inputs: Any = ctx.names.lookup("inputs")
        return StartOutput(**{**inputs, "trigger": dict(ctx.run.trigger)})
