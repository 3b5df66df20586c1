"""The cookie of a browser that is signed in: out of reach of scripts and of other sites."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import Response

from interlace.flows.settings import Settings

_SECURE = "__Host-interlace"
"""A browser takes a cookie of this prefix over TLS only, for this host alone and for all of its paths."""

_WAY = "_way"


def token_of(request: Request, settings: Settings) -> str:
    """The login's token; empty without one."""
    return request.cookies.get(_name(request, settings), "")


def keep(answer: Response, request: Request, settings: Settings, token: str, *, seconds: float) -> None:
    """Give a browser its login's token."""
    answer.set_cookie(
        _name(request, settings), token, max_age=int(seconds), path="/", httponly=True, samesite="lax",
        secure=is_secure(request, settings),
    )  # fmt: skip
    answer.headers["cache-control"] = "no-store"


def drop(answer: Response, request: Request, settings: Settings) -> None:
    """Take it away."""
    answer.delete_cookie(
        _name(request, settings), path="/", httponly=True, samesite="lax", secure=is_secure(request, settings)
    )


def way_of(request: Request, settings: Settings) -> str:
    """What a browser keeps of its way to an identity provider; empty without one."""
    return request.cookies.get(_name(request, settings) + _WAY, "")


def keep_way(answer: Response, request: Request, settings: Settings, value: str, *, seconds: float) -> None:
    """Bind a way to an identity provider to the browser that goes it."""
    answer.set_cookie(
        _name(request, settings) + _WAY, value, max_age=int(seconds), path="/", httponly=True, samesite="lax",
        secure=is_secure(request, settings),
    )  # fmt: skip
    answer.headers["cache-control"] = "no-store"


def drop_way(answer: Response, request: Request, settings: Settings) -> None:
    """Forget the way."""
    answer.delete_cookie(
        _name(request, settings) + _WAY,
        path="/",
        httponly=True,
        samesite="lax",
        secure=is_secure(request, settings),
    )


def is_secure(request: Request, settings: Settings) -> bool:
    """Whether the browser reaches this server over TLS, which a proxy before it may end."""
    if request.url.scheme == "https":
        return True
    public = urlsplit(settings.public_url or "")
    return public.scheme == "https" and request.headers.get("host", "").lower() == public.netloc.lower()


def _name(request: Request, settings: Settings) -> str:
    if is_secure(request, settings):
        return _SECURE
    # Cookies know no ports: with one name two servers of a machine would sign each other's users out.
    server = request.scope.get("server") or ("", 0)
    return f"interlace_{server[1]}"
