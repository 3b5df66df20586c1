"""`/api/v1/connectors`: APIs for workflows and agents. Only `call`, `fetch` and the OAuth callback reach out."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field, ValidationError

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.flows.platform import Platform
from interlace.resources.concealing import concealing
from interlace.resources.connectors.adapter import Options
from interlace.resources.connectors.arguments import check_arguments, find_action
from interlace.resources.connectors.connectors import CALLBACK_PATH, KIND
from interlace.resources.connectors.curl import import_curl
from interlace.resources.connectors.definition import Connector
from interlace.resources.connectors.fetching import fetch_description
from interlace.resources.connectors.openapi import export_openapi, import_openapi
from interlace.resources.connectors.report import Imported
from interlace.resources.connectors.schemas import response_schema
from interlace.server.api.listing import Wanted, in_order
from interlace.server.auth import Caller, PlatformOf, came_back
from interlace.server.bodies import Body
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC, needs
from interlace.store.resources import Resource

PATH = "/api/v1/connectors"
router = APIRouter(prefix=PATH, tags=["connectors"])
_CAME_BACK: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "A page that says why, or a problem.",
        "content": {"text/html": {"schema": {"type": "string"}}, "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}  # fmt: skip

_STATUS = {
    "resource_not_found": 404, "connector_definition": 409, "unknown_action": 404, "bad_parameter": 422, "bad_body": 422, "no_base_url": 409,
    "missing_credentials": 409, "bad_auth": 409, "oauth": 409, "circuit_open": 503, "rate_limit": 429,
    "blocked_address": 403, "bad_url": 422, "timeout": 504, "pagination": 422,
}  # fmt: skip


class Source(Body):
    """What a connector is made from: one of `definition`, `openapi`, `curl`."""

    definition: dict[str, Any] | None = Field(None, description="The connector as it is shown and exported.")
    openapi: str | None = Field(
        None, description="Text of an OpenAPI description, JSON or YAML.", max_length=20_000_000
    )
    curl: str | None = Field(None, description="A curl command.", max_length=1_000_000)
    name: str | None = Field(
        None, description="Name of the connector; by what it is made from if none is given."
    )
    source_url: str | None = Field(None, description="Where the description was fetched.")


class NewConnector(Source):
    """A connector to store."""

    org_id: str | None = Field(None, description="Organisation that it belongs to.")
    visibility: Literal["private", "org", "market"] = Field("private", description="Who sees it.")


class Change(Body):
    """Another definition for a stored connector."""

    definition: dict[str, Any] = Field(description="The whole definition; references to secrets keep them.")
    expected_version: int | None = Field(None, description="Refuse where it is at another version.")


class CallBody(Body):
    """An explicit call."""

    parameters: dict[str, Any] = Field(default_factory=dict, description="Values by the action's names.")
    paginate: bool = Field(False, description="Fetch all pages.")
    confirm: bool = Field(False, description="Confirms an action that always asks for it.")


class FetchBody(Body):
    """Where a description is fetched."""

    url: str = Field(description="An http or https address; private ones only where an operator opened them.")
    name: str | None = Field(None, description="Name of the connector.")


class Credentials(Body):
    """Credentials by the connector's own names."""

    values: dict[str, str] = Field(
        description="`token`, `key`, `username`, `password`, `client_id`, `client_secret`."
    )


class Listing(BaseModel):
    """A page of a list."""

    limit: int = Field(100, ge=1, le=500)
    cursor: str | None = None


@router.get("", dependencies=[needs("resources:read")])
async def list_connectors(
    platform: PlatformOf, caller: Caller, wanted: Annotated[Listing, Query()]
) -> dict[str, Any]:
    """The connectors that the caller sees, the oldest first."""
    by = await _principal(platform, caller.owner)
    page = await platform.store.resources.list(KIND, by=by, limit=wanted.limit, after=wanted.cursor)
    return {"items": [connector_json(resource) for resource in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("resources:write")])
async def add_connector(body: NewConnector, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Store a connector; nothing of it is called. Secrets go into the secret store."""
    made = await asyncio.to_thread(read_source, body)
    by = await _principal(platform, caller.owner)
    resource = await platform.connectors.add(
        made.connector, by=by, org_id=body.org_id, visibility=body.visibility
    )
    return {**connector_json(resource), **report_json(made)}


@router.post("/preview", dependencies=[needs("resources:write")])
async def preview_connector(body: Source, caller: Caller) -> dict[str, Any]:
    """What an import would make, without storing anything; secrets are left out."""
    del caller
    made = await asyncio.to_thread(read_source, body)
    return {"definition": definition_json(made.connector), **report_json(made)}


@router.post("/fetch", dependencies=[needs("resources:write")])
async def fetch_connector(body: FetchBody, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """Fetch a description from an address, and show what it would make; nothing is stored."""
    del caller
    try:
        text, url = await fetch_description(platform.http, body.url)
    except NodeError as error:
        raise as_problem(error) from None
    made = await asyncio.to_thread(import_openapi, text, name=body.name, source_url=url)
    return {
        "definition": definition_json(made.connector),
        "openapi": text,
        "source_url": url,
        **report_json(made),
    }


@router.get(
    CALLBACK_PATH.removeprefix(PATH), dependencies=[PUBLIC], response_class=HTMLResponse, responses=_CAME_BACK
)
async def finish_authorization(
    request: Request, platform: PlatformOf, state: str = "", code: str = "", error: str = ""
) -> HTMLResponse:
    """Where an authorization server sends the browser back. The state is good once, and for who began."""
    headers = {"referrer-policy": "no-referrer", "content-security-policy": "default-src 'none'"}
    if error or not code:
        return HTMLResponse(
            "<p>The connection was not allowed. You can close this page.</p>", 400, headers=headers
        )
    try:
        await platform.connectors.finish(state, code, user_id=await came_back(request))
    except NodeError as failure:
        raise as_problem(failure) from None
    return HTMLResponse("<p>Connected. You can close this page.</p>", headers=headers)


@router.get("/{connector}", dependencies=[needs("resources:read")])
async def get_connector(connector: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """A connector with its definition; secrets stand in it by reference."""
    resource = await platform.store.resources.find(
        KIND, connector, by=await _principal(platform, caller.owner)
    )
    return {**connector_json(resource), "definition": resource.definition}


@router.put("/{connector}", dependencies=[needs("resources:write")])
async def change_connector(
    connector: str, body: Change, platform: PlatformOf, caller: Caller
) -> dict[str, Any]:
    """Put another definition in its place."""
    made = _definition(body.definition)
    by = await _principal(platform, caller.owner)
    resource = await platform.connectors.update(
        connector, made, by=by, expected_version=body.expected_version
    )
    return connector_json(resource)


@router.delete("/{connector}", status_code=204, dependencies=[needs("resources:write")])
async def remove_connector(connector: str, platform: PlatformOf, caller: Caller) -> None:
    """Remove a connector with its secrets."""
    await platform.connectors.remove(connector, by=await _principal(platform, caller.owner))


@router.get("/{connector}/actions", dependencies=[needs("resources:read")])
async def list_actions(
    connector: str, platform: PlatformOf, caller: Caller, wanted: Wanted
) -> dict[str, Any]:
    """The actions of a connector, without their schemas."""
    _, loaded = await platform.connectors.find(connector, by=await _principal(platform, caller.owner))
    names = [action.name for action in loaded.connector.actions]
    return in_order(names, str, wanted, lambda name: action_json(loaded.connector, name))


@router.get("/{connector}/actions/{action}", dependencies=[needs("resources:read")])
async def get_action(connector: str, action: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """One action with the JSON Schemas of its parameters and of a good answer's body."""
    _, loaded = await platform.connectors.find(connector, by=await _principal(platform, caller.owner))
    try:
        found = find_action(loaded.connector, action)
    except NodeError as error:
        raise as_problem(error) from None
    return {
        **action_json(loaded.connector, found.name),
        "parameters": loaded.parameters(found),
        "response": response_schema(loaded.connector, found),
    }


@router.post("/{connector}/actions/{action}/call", dependencies=[needs("resources:use")])
async def call_action(
    connector: str, action: str, body: CallBody, platform: PlatformOf, caller: Caller
) -> dict[str, Any]:
    """Call an action now, with the caller's rights and credentials."""
    by = await _principal(platform, caller.owner)
    try:
        loaded, found = await platform.connectors.action(connector, action, by=by)
        if loaded.connector.needs_confirmation(found, chosen_by_model=False) and not body.confirm:
            check_arguments(found, loaded.parameters(found), body.parameters)
            raise ApiError(
                409,
                "not_confirmed",
                f"action {action!r} asks for a confirmation of each call; send confirm: true",
            )
        options = Options(paginate=body.paginate, files=platform.store.files.of_owner(caller.owner))
        with concealing() as secrets:
            result = await platform.connectors.call(
                connector, action, body.parameters, by=by, options=options, hide=secrets.hide
            )
    except NodeError as error:
        raise as_problem(error) from None
    shown = {
        "status_code": result.status_code, "headers": result.headers, "body": result.body, "url": result.url,
        "elapsed_ms": result.elapsed_ms, "pages": result.pages, "has_more": result.has_more,
    }  # fmt: skip
    return secrets.redact(shown)  # type: ignore[no-any-return]


@router.put("/{connector}/credentials", status_code=204, dependencies=[needs("resources:write")])
async def set_credentials(connector: str, body: Credentials, platform: PlatformOf, caller: Caller) -> None:
    """Set credentials: the owner's of a shared connector, else the caller's own. They can never be read again."""
    try:
        await platform.connectors.set_credentials(
            connector, body.values, by=await _principal(platform, caller.owner)
        )
    except NodeError as error:
        raise as_problem(error) from None


@router.post("/{connector}/authorize", dependencies=[needs("resources:write")])
async def begin_authorization(connector: str, platform: PlatformOf, caller: Caller) -> dict[str, str]:
    """The page on which a person agrees that the connector acts for them; good for ten minutes."""
    redirect = platform.callbacks.base.rstrip("/") + CALLBACK_PATH
    try:
        by = await _principal(platform, caller.owner)
        return {"url": await platform.connectors.begin(connector, by=by, redirect_uri=redirect)}
    except NodeError as error:
        raise as_problem(error) from None


@router.get("/{connector}/export", dependencies=[needs("resources:read")])
async def export_connector(
    connector: str,
    platform: PlatformOf,
    caller: Caller,
    form: Annotated[Literal["openapi", "json"], Query(alias="format")] = "openapi",
) -> dict[str, Any]:
    """The connector as an OpenAPI 3.1 description, or in our own form; without secrets."""
    _, loaded = await platform.connectors.find(connector, by=await _principal(platform, caller.owner))
    return export_openapi(loaded.connector) if form == "openapi" else definition_json(loaded.connector)


# -- shared with the command line --------------------------------------------------------------------------------------


def read_source(source: Source) -> Imported:
    """The connector that a source stands for. Pure.

    Raises:
        NotImported: the text is no description, or no command.
        ApiError: not exactly one source is given, or the definition is wrong.
    """
    given = [name for name in ("definition", "openapi", "curl") if getattr(source, name) is not None]
    if len(given) != 1:
        raise ApiError(422, "bad_request", "give one of definition, openapi and curl")
    if source.openapi is not None:
        return import_openapi(source.openapi, name=source.name, source_url=source.source_url)
    if source.curl is not None:
        return import_curl(source.curl, name=source.name)
    connector = _definition({**(source.definition or {}), **({"name": source.name} if source.name else {})})
    return Imported(connector=connector, entries=[], operations=len(connector.actions))


def _definition(raw: dict[str, Any]) -> Connector:
    try:
        return Connector.model_validate(raw)
    except ValidationError as error:
        found = [{"field": ".".join(map(str, e["loc"])), "message": e["msg"]} for e in error.errors()]
        raise ApiError(
            422,
            "bad_definition",
            f"the definition is wrong: {found[0]['field']}: {found[0]['message']}",
            errors=found,
        ) from None


def definition_json(connector: Connector) -> dict[str, Any]:
    """A definition as it is shown: without secrets, and without what is default."""
    shown = connector.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    shown.pop("secret_headers", None)
    auth = shown.get("auth", {})
    for slot in ("token", "key", "username", "password", "client_id", "client_secret"):
        auth.pop(slot, None)
    return shown


def connector_json(resource: Resource) -> dict[str, Any]:
    """A connector as lists show it."""
    known = resource.definition
    return {
        "id": resource.id, "name": resource.name, "title": known.get("title", ""), "base_url": known.get("base_url", ""),
        "description": known.get("description", "")[:300], "actions": len(known.get("actions", ())),
        "auth": known.get("auth", {}).get("type", "none"), "credentials": known.get("credentials", "shared"),
        "owner": resource.owner, "org_id": resource.org_id, "visibility": resource.visibility, "active": resource.active,
        "version": resource.version, "created_at": resource.created_at, "updated_at": resource.updated_at,
    }  # fmt: skip


def action_json(connector: Connector, name: str) -> dict[str, Any]:
    """An action as lists show it."""
    action = connector.find(name)
    assert action is not None
    return {
        "name": action.name, "method": action.method, "path": action.path, "description": action.description,
        "arguments": action.arguments(), "requires_confirmation": action.requires_confirmation,
        "deprecated": action.deprecated, "tags": action.tags,
    }  # fmt: skip


def report_json(made: Imported) -> dict[str, Any]:
    """How an import went."""
    return {
        "operations": made.operations,
        "imported": len(made.connector.actions),
        "report": [entry.as_json() for entry in made.entries],
    }


def as_problem(error: NodeError) -> ApiError:
    """A failed call as the answer to it: what the API answered is a 502 of ours."""
    return ApiError(_STATUS.get(error.kind, 502), error.kind, error.message)


async def _principal(platform: Platform, owner: str) -> Principal:
    return await platform.store.users.principal(owner)
