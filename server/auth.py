"""Who calls: an API key as a bearer token, or the cookie of a browser that is signed in."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
from http import HTTPMethod
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from interlace.engine.principal import LOCAL, Principal
from interlace.flows.platform import Platform
from interlace.server.client import KEY_FILE
from interlace.server.cookies import token_of
from interlace.server.problems import ApiError
from interlace.store.audit import source as audited
from interlace.store.keys import Key
from interlace.store.logins import Login

_READING = frozenset({HTTPMethod.GET, HTTPMethod.HEAD, HTTPMethod.OPTIONS})


def platform_of(request: Request) -> Platform:
    """The platform of the server."""
    found: Platform = request.app.state.platform
    return found


async def identify(request: Request) -> Key | None:
    """The key of the caller, or what stands for one where a browser is signed in; looked up once a request."""
    if not hasattr(request.state, "caller"):
        client = request.client
        audited.set("http" if client is None else f"http {client.host}")
        request.state.login = None
        request.state.caller = await _identify(request)
    found: Key | None = request.state.caller
    return found


def credential_of(request: Request) -> str:
    """The key or the cookie's token that a request was sent with, whether it is good or not."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token
    return token_of(request, platform_of(request).settings)


async def _identify(request: Request) -> Key | None:
    store = platform_of(request).store
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return await store.keys.verify(token)
    token = token_of(request, platform_of(request).settings)
    login = await store.logins.verify(token) if token else None
    if login is None:
        return None
    request.state.login = login
    return Key(
        id=login.id, owner=login.user_id, name="owner", prefix="", scopes=login.scopes, created_at=login.created_at,
        expires_at=login.expires_at, last_used_at=login.seen_at, revoked_at=None,
    )  # fmt: skip


def login_of(request: Request) -> Login | None:
    """The login that a request was identified by; None with a key."""
    found: Login | None = getattr(request.state, "login", None)
    return found


async def caller(request: Request) -> Key:
    """The key of the caller, or their login.

    A page of another site can make a browser send the cookie. What changes something is therefore taken with a cookie
    only where the browser says that a page of this server sends it (`Guard` has compared `Origin`).

    Raises:
        ApiError: 401 without a valid key or login, 403 where the browser does not say which page sends the request.
    """
    key = await identify(request)
    if key is None:
        raise ApiError(
            401, "unauthorized",
            "send an API key as `Authorization: Bearer il_…`; `interlace user key create` makes one, and the file"
            f" {KEY_FILE} in INTERLACE_HOME holds the owner's",
        )  # fmt: skip
    check_page(request)
    return key


def check_page(request: Request) -> None:
    """Refuse a change with a cookie that no page of this server is known to send.

    Raises:
        ApiError: 403, it is one.
    """
    if login_of(request) is not None and request.method not in _READING and not _from_our_page(request):
        raise ApiError(
            403, "cross_origin",
            "a change with a session's cookie needs the header `Origin` of this server's own page; programs use API keys",
        )  # fmt: skip


def _from_our_page(request: Request) -> bool:
    return "origin" in request.headers or request.headers.get("sec-fetch-site") == "same-origin"


PlatformOf = Annotated[Platform, Depends(platform_of)]
Caller = Annotated[Key, Depends(caller)]


async def acting(platform: PlatformOf, caller: Caller) -> Principal:
    """The user that the caller's key belongs to, with the organisations as of now."""
    return await platform.store.users.principal(caller.owner)


By = Annotated[Principal, Depends(acting)]


async def name_of(platform: Platform, key: Key) -> str:
    """How somebody who acts with a key is called: the user's name; of the installation's owner the key's name."""
    if key.owner == LOCAL.user_id:
        return key.name
    return await platform.store.users.name_of(key.owner) or key.name


def is_on_this_machine(request: Request) -> bool:
    """Whether the caller's connection comes from this machine, and from no proxy on it."""
    if request.client is None or "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


async def ensure_owner_key(platform: Platform) -> str:
    """The owner's key of this home; made at the first start and readable by the owner of the files only."""
    path = platform.settings.home.resolve() / KEY_FILE
    known = await asyncio.to_thread(_read, path)
    if known is not None and await platform.store.keys.verify(known) is not None:
        return known
    _, plain = await platform.store.keys.create("owner")
    await asyncio.to_thread(_write, path, plain)
    return plain


def _read(path: Path) -> str | None:
    return path.read_text("ascii").strip() if path.is_file() else None


def _write(path: Path, plain: str) -> None:
    part = path.with_name(f"{KEY_FILE}.{secrets.token_hex(4)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(plain + "\n")
    part.replace(path)


async def came_back(request: Request) -> str:
    """The id of the user whose browser comes back from an authorization elsewhere, which counts for no other user.

    What the installation's owner begins in a terminal comes back to a browser on this machine that nobody signed in.

    Raises:
        ApiError: 401 nobody is signed in.
    """
    key = await identify(request)
    if key is not None:
        return key.owner
    if is_on_this_machine(request):
        return LOCAL.user_id
    raise ApiError(
        401,
        "unauthorized",
        "sign in here as who began this authorization, in this browser; then load this page again",
    )
