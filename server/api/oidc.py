"""`/login/oidc/…`: to an identity provider and back."""

from __future__ import annotations

import hmac
from typing import Annotated, Final

import structlog
from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from interlace.flows.platform import Platform
from interlace.resources.identity.oidc import Claims, OidcClient, OidcError
from interlace.server import cookies
from interlace.server.auth import PlatformOf
from interlace.server.oidc import remember_way_out, user_of
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC
from interlace.server.signing import sign_in
from interlace.store.tickets import Ticket
from interlace.store.tokens import hash_token, new_token

PATH: Final = "/login/oidc"
_WAY_SECONDS: Final = 600.0
"""How long somebody may take at the provider."""

router = APIRouter(include_in_schema=False)
log = structlog.get_logger("interlace.oidc")


@router.get(f"{PATH}/{{provider}}", dependencies=[PUBLIC])
async def begin(
    provider: str,
    request: Request,
    platform: PlatformOf,
    then: Annotated[str, Query(alias="next", max_length=500)] = "/",
) -> Response:
    """Send the browser to a provider; it comes back with a state that only this browser has."""
    client = _client(platform, provider)
    state = new_token()
    try:
        begun = await client.begin(_back(request, platform, provider), state)
    except OidcError as error:
        return _failed(error)
    data = {
        "provider": provider, "next": then if _is_ours(then) else "/", "verifier": begun.verifier, "nonce": begun.nonce,
    }  # fmt: skip
    await platform.store.tickets.issue("oidc", lasts=_WAY_SECONDS, data=data, text=state)
    answer = RedirectResponse(begun.url, status_code=303)
    cookies.keep_way(answer, request, platform.settings, hash_token(state), seconds=_WAY_SECONDS)
    return answer


@router.get(f"{PATH}/{{provider}}/callback", dependencies=[PUBLIC])
async def come_back(provider: str, request: Request, platform: PlatformOf) -> Response:
    """Sign in whoever comes back from the provider."""
    client, said = _client(platform, provider), request.query_params
    state, way = said.get("state", ""), cookies.way_of(request, platform.settings)
    try:
        ticket = await _ticket(platform, provider, state, way)
        claims = await _claims(client, request, platform, ticket.data)
        user_id = await user_of(platform, client.provider, claims)
    except OidcError as error:
        return _failed(error)
    answer = RedirectResponse(
        ticket.data["next"], status_code=303, headers={"referrer-policy": "no-referrer"}
    )
    login = await sign_in(request, answer, platform, user_id, "oidc")
    if client.provider.end_session:
        await remember_way_out(platform, login, provider, claims.id_token)
    cookies.drop_way(answer, request, platform.settings)
    return answer


async def _ticket(platform: Platform, provider: str, state: str, way: str) -> Ticket:
    """What the sign-in began with, which is used up; only the browser that began it has its state in a cookie."""
    if not state or not hmac.compare_digest(hash_token(state).encode(), way.encode()):
        raise OidcError("a sign-in came back to a browser that did not begin it", "oidc_stale")
    ticket = await platform.store.tickets.take("oidc", state)
    if ticket is None or ticket.data["provider"] != provider:
        raise OidcError("a sign-in took too long, or came back twice", "oidc_stale")
    return ticket


async def _claims(client: OidcClient, request: Request, platform: Platform, data: dict[str, str]) -> Claims:
    said = request.query_params
    if "iss" in said and said["iss"] != client.provider.issuer:
        raise OidcError("the answer comes from another provider than the one that was asked")
    if "error" in said:
        raise OidcError(f"the provider signed nobody in: {said['error'][:100]!r}", "oidc_denied")
    if not said.get("code"):
        raise OidcError("the provider sent no code")
    back = _back(request, platform, data["provider"])
    return await client.finish(
        said["code"], verifier=data["verifier"], nonce=data["nonce"], redirect_uri=back
    )


def _client(platform: Platform, provider: str) -> OidcClient:
    found = platform.providers.clients.get(provider)
    if found is None:
        raise ApiError(404, "not_found", f"no provider {provider!r} signs people in here")
    return found


def _back(request: Request, platform: Platform, provider: str) -> str:
    base = platform.settings.public_url or str(request.base_url)
    return f"{base.rstrip('/')}{PATH}/{provider}/callback"


def _is_ours(place: str) -> bool:
    """Whether a place to go to afterwards is a path of this server: no page elsewhere may be put behind a sign-in."""
    return (
        place.startswith("/")
        and not place.startswith(("//", "/\\"))
        and place.isprintable()
        and "\\" not in place
    )


def _failed(error: OidcError) -> Response:
    log.warning("a sign-in through a provider failed", error=str(error))
    return RedirectResponse(f"/login?error={error.reason}", status_code=303)
