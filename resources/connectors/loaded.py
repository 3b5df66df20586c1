"""A connector ready to be called: parsed once for each version of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlace.engine.document import JsonSchema as Schema
from interlace.resources.connectors.definition import Action, Connector
from interlace.resources.connectors.schemas import parameters_schema


@dataclass(slots=True)
class Loaded:
    """A connector and what it is known by; schemas are put together when they are first needed."""

    connector: Connector
    id: str
    version: int = 1
    org_id: str | None = None
    _parameters: dict[str, Schema] = field(default_factory=dict, repr=False)

    def parameters(self, action: Action) -> Schema:
        """JSON Schema of the arguments of an action."""
        known = self._parameters.get(action.name)
        if known is None:
            known = self._parameters[action.name] = parameters_schema(self.connector, action)
        return known
