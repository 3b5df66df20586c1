"""Signing a browser in and out."""

from __future__ import annotations

from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response

from interlace.flows.platform import Platform
from interlace.server import cookies
from interlace.server.attempts import Attempts
from interlace.server.auth import login_of
from interlace.server.passwords import verify_password
from interlace.server.problems import ApiError
from interlace.store.logins import Login, Method

LINK_SECONDS: Final = 3600.0
"""How long a link is good that signs somebody in."""
LINK_PATH: Final = "/login/link"


async def sign_in(
    request: Request,
    answer: Response,
    platform: Platform,
    user_id: str,
    method: Method,
    **limits: Any,
) -> Login:
    """Sign a browser in as a user: a new login always, and the one it had before ends.

    `limits` are the `scopes` and the `key_id` of a login by key.
    """
    store, lasts = platform.store, platform.settings.session_lasts
    before = await store.logins.verify(cookies.token_of(request, platform.settings) or "-")
    if before is not None:
        await store.logins.end(before.id, user_id=before.user_id)
    address = "" if request.client is None else request.client.host
    login, token = await store.logins.create(
        user_id, method, lasts=lasts, address=address, agent=request.headers.get("user-agent", ""), **limits
    )
    by = await store.users.principal(user_id)
    await store.audit.record(by, "login.begin", "login", login.id, detail={"method": method})
    cookies.keep(answer, request, platform.settings, token, seconds=lasts)
    return login


async def sign_out(request: Request, answer: Response, platform: Platform) -> None:
    """End the login of a request, if it has one."""
    login = login_of(request)
    if login is not None:
        await platform.store.logins.end(login.id, user_id=login.user_id)
        by = await platform.store.users.principal(login.user_id)
        await platform.store.audit.record(by, "login.end", "login", login.id)
    cookies.drop(answer, request, platform.settings)


async def by_password(request: Request, platform: Platform, name: str, password: str) -> str:
    """The id of the user with this name or e-mail address and password.

    Raises:
        ApiError: 401 there is none, 429 it was tried too often, 403 passwords are switched off.
    """
    if not platform.settings.password_login:
        raise ApiError(
            403, "password_login_off", "this installation signs people in through its provider only"
        )
    attempts = Attempts(platform.store, name, "" if request.client is None else request.client.host)
    await attempts.begin()
    user_id = await verify_password(platform.store, name.strip(), password)
    if user_id is None:
        raise ApiError(401, "wrong_credentials", "name or password is wrong")
    await attempts.succeed()
    return user_id


async def by_key(request: Request, answer: Response, platform: Platform, plain: str) -> Login:
    """Sign a browser in with an API key: it may do what the key may, and is signed out when the key ends.

    Raises:
        ApiError: 401 the key is not valid.
    """
    key = await platform.store.keys.verify(plain.strip())
    if key is None:
        raise ApiError(401, "wrong_credentials", "this key is not valid")
    return await sign_in(request, answer, platform, key.owner, "key", scopes=key.scopes, key_id=key.id)


async def by_link(platform: Platform, token: str) -> str:
    """The id of the user whom a link signs in, which is used up by that.

    Raises:
        ApiError: 401 it is not good, or not any more.
    """
    ticket = await platform.store.tickets.take("link", token)
    if ticket is None or ticket.user_id is None or await platform.store.users.is_disabled(ticket.user_id):
        raise ApiError(
            401, "bad_link", "this link is used up, too old or none; `interlace user link` makes a new one"
        )
    return ticket.user_id


async def new_link(platform: Platform, user_id: str, base: str) -> str:
    """A link that signs a user in once, within an hour."""
    token = await platform.store.tickets.issue("link", lasts=LINK_SECONDS, user_id=user_id)
    return f"{base.rstrip('/')}{LINK_PATH}?token={token}"
