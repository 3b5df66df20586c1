"""Actions of connectors: called with the rights of the user, held back where a person has to agree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

from interlace.agents.compaction import compact
from interlace.agents.visible import ActionStub, ConnectorStub
from interlace.engine.document import Effects
from interlace.engine.protocols import Files
from interlace.engine.schema import Schema
from interlace.resources.connectors.adapter import Options
from interlace.resources.connectors.arguments import check_arguments, with_defaults
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.connectors.definition import Action
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.http import HttpClient
from interlace.resources.tools.naming import tool_name
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

MOST_CHARACTERS: Final = 20_000
"""Of a body that a model reads; the whole stays a file."""


async def gate_action(
    connector_id: str, action: str, parameters: Mapping[str, Any], ctx: ToolContext
) -> Gate | None:
    """Whether a person has to agree to a call that a model chose.

    Raises:
        NodeError: `resource_not_found`, `unknown_action` with the nearest name, `bad_parameter`.
    """
    loaded, found = await ctx.service(Connectors).action(connector_id, action, by=ctx.principal)
    check_arguments(found, loaded.parameters(found), with_defaults(found, parameters))
    if not loaded.connector.needs_confirmation(found, chosen_by_model=True):
        return None
    where = f"{found.base_url or loaded.connector.base_url}{found.path}"
    return Gate(
        title=f"{found.method} {where} ({loaded.connector.name}: {found.name})",
        reason=f"the action {found.name!r} of {loaded.connector.name!r} is marked as one that a person confirms",
        always=loaded.connector.needs_confirmation(found, chosen_by_model=False),
    )


async def call_action(
    connector_id: str, action: str, parameters: Mapping[str, Any], ctx: ToolContext
) -> ToolResult:
    """Call an action; a long body is cut, and the whole kept as a file.

    Raises:
        NodeError: as `Connectors.call`.
    """
    options = Options(key=ctx.idempotency_key, files=ctx.service(Files), most_characters=MOST_CHARACTERS)
    found = await ctx.service(Connectors).call(
        connector_id, action, parameters, by=ctx.principal, options=options, hide=ctx.hide,
        http=ctx.service(HttpClient),
    )  # fmt: skip
    value: dict[str, Any] = {"status_code": found.status_code, "body": found.body}
    if found.truncated:
        value |= {"truncated": True, "ref": found.ref}
    return ToolResult(value=value)


def described(loaded: Loaded, action: Action) -> dict[str, Any]:
    """An action in full, as `discover` gives it."""
    told: dict[str, Any] = {
        "action": action.name, "description": action.description, "method": action.method, "path": action.path,
        "parameters": compact(loaded.parameters(action)),
    }  # fmt: skip
    if action.body_template is not None:
        told["body_template"] = action.body_template
    if loaded.connector.needs_confirmation(action, chosen_by_model=True):
        told["confirmed_by_a_person"] = True
    return {key: value for key, value in told.items() if value not in ("", None)}


class ConnectorAction:
    """One action as a tool of its own: `{connector}__{action}`. Implements `Tool`."""

    category: ClassVar[Category] = "connector"

    def __init__(self, stub: ConnectorStub, label: str, loaded: Loaded, action: Action) -> None:
        self.name = tool_name(label, action.name)
        self.part_of = label, action.name
        self._stub = stub
        self._loaded = loaded
        self._action = action

    @property
    def stands_for(self) -> tuple[str, str]:
        """The resource and the part of it, which tell it from every other tool."""
        return self._stub.id, self._action.name

    @property
    def description(self) -> str:
        """What the action does."""
        said = " ".join(self._action.description.split()) or f"{self._action.method} {self._action.path}"
        return f"{said} ({self._stub.name})"

    @cached_property
    def parameters_schema(self) -> Schema:
        """The action's own."""
        return compact(self._loaded.parameters(self._action))

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """By the action's method."""
        del arguments
        return ActionStub(self._action.name, method=self._action.method).effects

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """As the action asks for it. Raises as `gate_action`."""
        return await gate_action(self._stub.id, self._action.name, arguments, ctx)

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Call the action. Raises as `call_action`."""
        return await call_action(self._stub.id, self._action.name, arguments, ctx)
