"""Who calls: API keys as bearer tokens; the pages take the owner's key once and keep it in a cookie."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from interlace.flows.platform import Platform
from interlace.server.client import KEY_FILE
from interlace.server.problems import ApiError
from interlace.store.keys import Key

COOKIE = "interlace_key"


def platform_of(request: Request) -> Platform:
    """The platform of the server."""
    found: Platform = request.app.state.platform
    return found


async def caller(request: Request) -> Key:
    """The key of the caller. The cookie counts for reading only: a page of another site can make a browser send it.

    Raises:
        ApiError: 401 without a valid key.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        token = request.cookies.get(COOKIE, "") if request.method == "GET" else ""
    key = await platform_of(request).store.keys.verify(token) if token else None
    if key is None:
        raise ApiError(
            401, "unauthorized",
            "send an API key as `Authorization: Bearer il_…`; `interlace user key create` makes one, and the file"
            f" {KEY_FILE} in INTERLACE_HOME holds the owner's",
        )  # fmt: skip
    return key


PlatformOf = Annotated[Platform, Depends(platform_of)]
Caller = Annotated[Key, Depends(caller)]


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
