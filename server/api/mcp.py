"""`/api/v1/mcp-servers`: MCP servers as resources; only `connect`, `call` and what follows reach a server."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import Field

from interlace.resources.concealing import concealing
from interlace.resources.mcp import ServerInfo
from interlace.resources.mcp.catalog import Entry
from interlace.resources.mcp.servers import KIND
from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf, came_back
from interlace.server.bodies import Body
from interlace.server.resources import resource_json
from interlace.server.scopes import PUBLIC, needs

router = APIRouter(prefix="/api/v1/mcp-servers", tags=["mcp"])
back = APIRouter()
CALLBACK = "/oauth/mcp/callback"


class NewServer(Body):
    """An MCP server to keep."""

    name: str
    definition: dict[str, Any] = Field(
        description="`{url, headers, oauth}` for HTTP, `{transport: stdio, catalog, arguments, environment}` for a program."
    )
    org: str | None = Field(None, description="Name or id of the organisation that owns it.")
    visibility: Literal["private", "org"] = "private"


class ToolCall(Body):
    """A call of a tool."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Accept(Body):
    """Tools whose present definition is accepted."""

    tools: list[str] | None = Field(None, description="Names; all if not given.")


@router.get("", dependencies=[needs("resources:read")])
async def list_servers(
    platform: PlatformOf, by: By, limit: Annotated[int, Query(ge=1, le=200)] = 100, cursor: str | None = None
) -> dict[str, Any]:
    """The MCP servers that the caller sees."""
    page = await platform.store.resources.list(KIND, by=by, limit=limit, after=cursor)
    return {"items": [resource_json(found) for found in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("resources:write")])
async def add_server(body: NewServer, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Keep an MCP server; nothing is started or connected."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    added = await platform.mcp.add(
        body.name, body.definition, by=by, org_id=org_id, visibility=body.visibility
    )
    return resource_json(added)


@router.get("/catalog", dependencies=[needs("resources:read")])
async def list_programs(platform: PlatformOf, wanted: Wanted) -> dict[str, Any]:
    """The programs that the operator offers, without their command lines."""

    def shown(item: tuple[str, Entry]) -> dict[str, Any]:
        name, entry = item
        return {
            "name": name,
            "description": entry.description,
            "arguments": {key: argument.model_dump() for key, argument in entry.arguments.items()},
            "environment": entry.environment,
        }

    return part(list(platform.mcp.catalog.servers.items()), lambda item: item[0], wanted, shown)


@back.get(CALLBACK, dependencies=[PUBLIC], include_in_schema=False)
async def authorized(
    request: Request, platform: PlatformOf, state: str, code: str, iss: str | None = None
) -> HTMLResponse:
    """Where the browser comes back to after a person agreed: the one who began, not one who was sent the address."""
    await platform.mcp.authorized(state=state, code=code, issuer=iss, user_id=await came_back(request))
    return HTMLResponse("<!doctype html><title>Interlace</title><p>Authorized. You can close this page.")


@router.get("/{server}", dependencies=[needs("resources:read")])
async def get_server(server: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One MCP server, with the tools that were accepted."""
    found = await platform.store.resources.find(KIND, server, by=by)
    tools = await platform.store.mcp_tools.of(found.id)
    return {**resource_json(found), "tools": [asdict(tool) for tool in tools.values()]}


@router.put("/{server}", dependencies=[needs("resources:write")])
async def update_server(
    server: str, definition: dict[str, Any], platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Change the definition of an MCP server; secrets that it names stay."""
    return resource_json(await platform.mcp.update(server, definition, by=by))


@router.delete("/{server}", status_code=204, dependencies=[needs("resources:write")])
async def remove_server(server: str, platform: PlatformOf, by: By) -> None:
    """Remove an MCP server and its secrets."""
    await platform.mcp.remove(server, by=by)


@router.post("/{server}/connect", dependencies=[needs("resources:use")])
async def connect(server: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Connect now: what the server says of itself, its tools, and which of them are new or changed."""
    with concealing() as secrets:
        return secrets.redact(info_json(await platform.mcp.connect(server, by=by, hide=secrets.hide)))  # type: ignore[no-any-return]


@router.post("/{server}/accept", dependencies=[needs("resources:write")])
async def accept(server: str, body: Accept, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Accept tools as the server describes them now."""
    with concealing() as secrets:
        info = await platform.mcp.accept(server, by=by, tools=body.tools, hide=secrets.hide)
    return secrets.redact(info_json(info))  # type: ignore[no-any-return]


@router.post("/{server}/call", dependencies=[needs("resources:use")])
async def call(server: str, body: ToolCall, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Call a tool."""
    with concealing() as secrets:
        result = await platform.mcp.call(server, body.tool, body.arguments, by=by, hide=secrets.hide)
    return secrets.redact(asdict(result))  # type: ignore[no-any-return]


@router.post("/{server}/authorize", dependencies=[needs("resources:write")])
async def authorize(server: str, request: Request, platform: PlatformOf, by: By) -> dict[str, str]:
    """Begin an authorization by OAuth: the address that a person opens."""
    base = platform.settings.public_url or str(request.base_url)
    url = await platform.mcp.authorize(server, by=by, redirect_uri=base.rstrip("/") + CALLBACK)
    return {"url": url}


def info_json(info: ServerInfo) -> dict[str, Any]:
    """What a connection found, with the accepted description beside a changed one."""
    names = sorted(info.trust)
    return {
        **asdict(info.greeting),
        "tools": [
            {
                "name": name,
                "trust": info.trust[name],
                **({} if name not in info.tools else info.tools[name].as_dict()),
                **({"accepted": info.accepted[name].definition} if info.trust[name] == "changed" else {}),
            }
            for name in names
        ],
    }
