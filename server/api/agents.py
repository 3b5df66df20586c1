"""`/api/v1/agents`: personas with a scope. What an agent is told is shown to those who may change it, and to nobody else."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, Response
from pydantic import Field

from interlace.engine.principal import Principal
from interlace.engine.source.writing import dump_data
from interlace.resources.agents.agents import KIND, keeps
from interlace.resources.agents.definition import MAX_TEXT, Agent, read_definition, read_text
from interlace.server.api.shapes import content
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.problems import ApiError
from interlace.server.scopes import needs
from interlace.store.resources import Resource

router = APIRouter(prefix="/api/v1/agents", tags=["agents"])
org_hooks = APIRouter(prefix="/api/v1/orgs", tags=["agents"])


class AgentBody(Body):
    """An agent: its fields, or the text of a file."""

    definition: dict[str, Any] | None = Field(None, description="The agent's fields; see the guide.")
    text: str | None = Field(
        None, description="YAML or JSON, or Markdown with front matter.", max_length=MAX_TEXT
    )


class NewAgent(AgentBody):
    """An agent to keep."""

    org: str | None = Field(None, description="Name or id of the organisation that owns it.")
    visibility: Literal["private", "org"] = "private"


class AgentChange(AgentBody):
    """What is to be changed; the rest stays."""

    active: bool | None = Field(None, description="An agent that is switched off is not there for chats.")
    expected_version: int | None = Field(None, description="Refuse where it is at another version.")


class HookList(Body):
    """The hooks of an organisation."""

    hooks: list[dict[str, Any]] = Field(description="All of them; an empty list takes them away.")


@router.get("", dependencies=[needs("resources:read")])
async def list_agents(
    platform: PlatformOf, by: By, limit: Annotated[int, Query(ge=1, le=200)] = 100, cursor: str | None = None
) -> dict[str, Any]:
    """The agents that the caller sees, by name and description."""
    page = await platform.store.resources.list(KIND, by=by, limit=limit, after=cursor)
    return {"items": [agent_card(found) for found in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("resources:write")])
async def add_agent(body: NewAgent, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Keep an agent; nothing that it names is looked up or connected."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    added = await platform.agents.add(agent_of(body), by=by, org_id=org_id, visibility=body.visibility)
    return agent_json(added, by)


@router.get("/{agent}", dependencies=[needs("resources:read")])
async def get_agent(agent: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One agent; its definition only for those who may change it."""
    return agent_json(await platform.store.resources.find(KIND, agent, by=by), by)


@router.put("/{agent}", dependencies=[needs("resources:write")])
async def change_agent(agent: str, body: AgentChange, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Put another definition in its place, or switch it on or off."""
    found = await platform.store.resources.find(KIND, agent, by=by)
    if body.definition is not None or body.text is not None:
        made = agent_of(body)
        found = await platform.agents.update(found.id, made, by=by, expected_version=body.expected_version)
    if body.active is not None:
        found = await platform.agents.switch(found.id, active=body.active, by=by)
    return agent_json(found, by)


@router.delete("/{agent}", status_code=204, dependencies=[needs("resources:write")])
async def remove_agent(agent: str, platform: PlatformOf, by: By) -> None:
    """Remove an agent with its secrets."""
    await platform.agents.remove(agent, by=by)


@router.get(
    "/{agent}/export",
    dependencies=[needs("resources:read")],
    response_class=Response,
    responses=content("application/yaml", "The definition."),
)
async def export_agent(agent: str, platform: PlatformOf, by: By) -> PlainTextResponse:
    """The agent as YAML, without secrets; for those who may change it."""
    _, definition = await platform.agents.definition(agent, by=by)
    return PlainTextResponse(agent_text(definition), media_type="application/yaml")


@org_hooks.get("/{org}/hooks", dependencies=[needs("admin")])
async def get_hooks(org: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """The hooks around the tool calls of an organisation's members; for its admins."""
    return {"hooks": await platform.agents.org_hooks(org, by=by)}


@org_hooks.put("/{org}/hooks", dependencies=[needs("admin")])
async def set_hooks(org: str, body: HookList, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Put hooks around the tool calls of an organisation's members; for its admins."""
    await platform.agents.set_org_hooks(org, body.hooks, by=by)
    return {"hooks": await platform.agents.org_hooks(org, by=by)}


def agent_of(body: AgentBody) -> Agent:
    """The agent that a body stands for.

    Raises:
        ApiError: not exactly one of its two forms is given.
        NodeError: `agent_definition`.
    """
    if (body.definition is None) == (body.text is None):
        raise ApiError(422, "bad_request", "give one of definition and text")
    return read_text(body.text) if body.text is not None else read_definition(body.definition or {})


def agent_card(resource: Resource) -> dict[str, Any]:
    """An agent as everybody who sees it may know it."""
    shown = asdict(resource)
    known = shown.pop("definition")
    return {**shown, "description": known.get("description", "")}


def agent_json(resource: Resource, by: Principal) -> dict[str, Any]:
    """An agent as one of its users or keepers may know it; secrets stand in it by name."""
    card = agent_card(resource)
    return (
        {**card, "definition": {**resource.definition, "name": resource.name}}
        if keeps(resource, by)
        else card
    )


def agent_text(definition: dict[str, Any]) -> str:
    """An agent as a file: what is default is left out, and secrets are."""
    agent = read_definition(definition)
    shown = agent.model_dump(mode="json", exclude_defaults=True)
    for hook in shown.get("hooks", ()):
        hook.pop("secret_headers", None)
    return dump_data(shown)
