"""What a call gave against what its action takes: every problem at once, with the nearest names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.document import JsonSchema as Schema
from interlace.engine.errors import NodeError
from interlace.engine.json_schema import problems_of
from interlace.resources.connectors.definition import Action, Body, Connector

_MOST = 5


def find_action(connector: Connector, name: str) -> Action:
    """The action of that name.

    Raises:
        NodeError: `unknown_action`, with the nearest name.
    """
    action = connector.find(name)
    if action is not None:
        return action
    guess = connector.nearest(name)
    hint = f"did you mean {guess!r}?" if guess else f"it has {len(connector.actions)}: {_listed(connector)}"
    raise NodeError(
        f"connector {connector.name!r} has no action {name!r}; {hint}", kind="unknown_action", retryable=False
    )


def check_arguments(action: Action, schema: Schema, arguments: Mapping[str, Any]) -> None:
    """Hold the arguments against the action's schema.

    Raises:
        NodeError: `bad_parameter`, naming each argument and what is wrong with it.
    """
    found = problems_of(schema, dict(arguments), "parameters", code="parameter")
    if not found:
        return
    said = [f"{p.field} {p.message}" + (f" {p.fix}" if p.fix else "") for p in found[:_MOST]]
    more = f" (and {len(found) - _MOST} more)" if len(found) > _MOST else ""
    raise NodeError(
        f"action {action.name!r} cannot be called: {'; '.join(said)}{more}",
        kind="bad_parameter",
        retryable=False,
    )


def with_defaults(action: Action, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, and those values that an imported command had."""
    made = {name: value for name, value in arguments.items() if value is not None}
    for parameter in action.parameters:
        if parameter.name not in arguments and parameter.send_default and "default" in parameter.schema_:
            made[parameter.name] = parameter.schema_["default"]
    if action.bodies and action.body_name not in arguments and action.send_default_body:
        schema = action.bodies[0].schema_
        if "default" in schema:
            made[action.body_name] = schema["default"]
        elif schema.get("properties"):
            made[action.body_name] = {
                name: entry["default"] for name, entry in schema["properties"].items() if "default" in entry
            }
    return made


def chosen_body(action: Action, arguments: Mapping[str, Any]) -> Body | None:
    """The body that a call sends; None without one."""
    if not action.bodies or arguments.get(action.body_name) is None:
        return None
    wanted = arguments.get(action.content_type_name)
    return next((body for body in action.bodies if body.media_type == wanted), action.bodies[0])


def _listed(connector: Connector) -> str:
    names = [action.name for action in connector.actions[:10]]
    return ", ".join(names) + (", …" if len(connector.actions) > len(names) else "") if names else "none"
