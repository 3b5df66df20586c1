"""CONNECTOR: one action of a stored connector, with the rights and the credentials of whoever started the run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field

from interlace.engine.document import Effects, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Finding, Node, Output, RunContext
from interlace.engine.protocols import Files
from interlace.engine.waits import DAY, TIMEOUT, Answer, Suspend, Wanted
from interlace.resources.connectors.adapter import Options
from interlace.resources.connectors.arguments import check_arguments
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.connectors.definition import Action
from interlace.resources.http import HttpClient
from interlace.resources.http.paging_setting import PagingSetting

_CONFIRM_SECONDS = 7 * DAY


class ConnectorConfig(Config):
    """The connector, the action and its parameters."""

    connector: str = Field(
        min_length=1,
        title="Connector",
        description="Name or id of a connector that the run's user may use.",
        examples=["shop"],
        json_schema_extra={"widget": "resource", "resource": "connector"},
    )
    action: str = Field(
        min_length=1,
        title="Action",
        description="Name of one of its actions.",
        examples=["getOrder"],
        json_schema_extra={"widget": "action"},
    )
    parameters: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Parameters",
        description="Values by the action's own names; null leaves one out, and `body` is the request's body.",
        examples=[{"order_id": "{{ inputs.id }}"}],
        json_schema_extra={"widget": "parameters"},
    )
    paginate: bool | PagingSetting = Field(
        False,
        title="Pages",
        description="Fetch all pages; the body is then the list of all items. true takes the connector's own rule.",
        examples=[True],
    )


class ConnectorOutput(Output):
    """The answer."""

    status_code: int = Field(description="HTTP status.")
    headers: dict[str, str | list[str]] = Field(
        description="Headers by lower-case name; repeated ones are joined by commas, set-cookie is a list."
    )
    body: Data = Field(description="The body: JSON, text, a file value, or null where there is none.")
    url: str = Field(description="Where the answer came from, after redirects.")
    elapsed_ms: float = Field(description="Time with all retries and pages, in milliseconds.")
    pages: int = Field(1, description="How many pages were fetched.")
    has_more: bool = Field(False, description="Whether a limit stopped the paging before the last page.")


class ConnectorNode(Node[ConnectorConfig, ConnectorOutput]):
    """Call an action of a connector: an API that was set up once for workflows and agents."""

    kind = "CONNECTOR"
    group, icon = "connect", "plug"
    effects = "once"
    timeout = 300.0
    example: ClassVar[dict[str, Any]] = {
        "connector": "shop",
        "action": "getOrder",
        "parameters": {"order_id": "{{ inputs.id }}"},
    }

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """A name that is an expression: what is called has to be known when the workflow is published."""
        del spec
        for name in ("connector", "action"):
            if "{{" in getattr(self.config, name):
                yield Finding(
                    code="fixed_name", field=f"config.{name}", message="takes no expression.",
                    fix="Name it; choose between several by CONDITION.",
                )  # fmt: skip

    async def effects_of(self, ctx: RunContext) -> Effects:
        """By the action's method: reading ones change nothing, PUT and DELETE may be repeated, POST and PATCH not."""
        _, action = await ctx.service(Connectors).action(
            self.config.connector, self.config.action, by=ctx.principal
        )
        if action.reads:
            return "none"
        return "idempotent" if action.repeatable else "once"

    async def run(self, config: ConnectorConfig, ctx: RunContext) -> ConnectorOutput:
        """Call the action.

        Raises:
            NodeError: see `Connectors.call`: the connector, the action or the parameters are wrong, or the API failed.
            Suspend: the connector wants a person to confirm each such call, and nobody has.
        """
        connectors = ctx.service(Connectors)
        loaded, action = await connectors.action(config.connector, config.action, by=ctx.principal)
        if loaded.connector.needs_confirmation(action, chosen_by_model=False) and not ctx.confirmed:
            check_arguments(
                action,
                loaded.parameters(action),
                {k: v for k, v in config.parameters.items() if v is not None},
            )
            raise Suspend(_confirmation(config, ctx, loaded.id, action))
        return await _call(config, ctx, connectors)

    async def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> ConnectorOutput:
        """Make the call that a person confirmed, and no other.

        Raises:
            NodeError: `not_confirmed`: it was rejected, nobody answered in time, or the action is another one now.
        """
        if answer.action != "approve":
            who = (
                "nobody confirmed it in time"
                if answer.action == TIMEOUT
                else f"{answer.by} did not confirm it"
            )
            because = f": {answer.comment}" if answer.comment else ""
            raise NodeError(f"{who}{because}; the call was not made.", kind="not_confirmed", retryable=False)
        connectors = ctx.service(Connectors)
        config = ConnectorConfig.model_validate(state["config"])
        loaded, action = await connectors.action(config.connector, config.action, by=ctx.principal)
        if (loaded.id, _mark(action)) != (state["connector_id"], state["mark"]):
            raise NodeError(
                f"action {config.action!r} of connector {config.connector!r} was changed after it was confirmed; run again.",
                kind="not_confirmed", retryable=False,
            )  # fmt: skip
        return await _call(config, ctx, connectors)


async def _call(config: ConnectorConfig, ctx: RunContext, connectors: Connectors) -> ConnectorOutput:
    options = Options(key=ctx.idempotency_key, paginate=config.paginate, files=ctx.service(Files))
    found = await connectors.call(
        config.connector,
        config.action,
        config.parameters,
        by=ctx.principal,
        options=options,
        hide=ctx.hide,
        http=ctx.service(HttpClient),
    )
    if found.has_more:
        ctx.log(f"stopped after {found.pages} pages; there are more")
    return ConnectorOutput(
        status_code=found.status_code, headers=found.headers, body=found.body, url=found.url,
        elapsed_ms=found.elapsed_ms, pages=found.pages, has_more=found.has_more,
    )  # fmt: skip


def _confirmation(config: ConnectorConfig, ctx: RunContext, connector_id: str, action: Action) -> Wanted:
    shown = config.model_dump(mode="json", exclude_defaults=True)
    request = {
        "title": f"Call {action.name} of {config.connector}?",
        "message": f"The node **{ctx.path}** calls **{action.method} {action.path}** of **{config.connector}** with these"
        " parameters once it is confirmed; the connector asks for that.",
        "actions": ["approve", "reject"],
        "config": shown,
    }  # fmt: skip
    state = {"config": shown, "connector_id": connector_id, "mark": _mark(action)}
    return Wanted(kind="human", request=request, until=ctx.now() + _CONFIRM_SECONDS, state=state)


def _mark(action: Action) -> str:
    """What tells a changed action from the one that was shown."""
    return hashlib.sha256(action.model_dump_json(by_alias=True).encode()).hexdigest()
