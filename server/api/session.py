"""`/api/v1/session`: who a browser is signed in as, and the ways in."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from interlace.engine.principal import LOCAL, Role
from interlace.flows.platform import Platform
from interlace.server.api.oidc import PATH as OIDC
from interlace.server.auth import PlatformOf, identify, login_of
from interlace.server.oidc import way_out
from interlace.server.passwords import MAX_CHARACTERS
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC
from interlace.server.signing import LINK_PATH, by_key, by_link, by_password, sign_in, sign_out
from interlace.store.keys import Key

router = APIRouter(tags=["session"])
links = APIRouter(include_in_schema=False)


class SignIn(BaseModel):
    """One way in: name or e-mail address with the password, an API key, or the token of a link."""

    model_config = ConfigDict(extra="forbid")

    email: str | None = Field(None, max_length=320, description="E-mail address or name of the user.")
    password: str | None = Field(None, max_length=4 * MAX_CHARACTERS)
    key: str | None = Field(
        None, max_length=500, description="An API key; the session has its scopes and ends with it."
    )
    token: str | None = Field(
        None, max_length=500, description="What a link that signs in holds; it is good once."
    )


class SessionOrg(BaseModel):
    """An organisation of the user."""

    id: str
    name: str
    role: Role


class SessionUser(BaseModel):
    """Who is signed in."""

    id: str
    name: str
    email: str | None
    operator: bool = Field(description="Whether the user runs this installation.")
    has_password: bool
    orgs: list[SessionOrg]


class Here(BaseModel):
    """The session of this browser; times in Unix seconds."""

    id: str
    method: Literal["password", "oidc", "link", "key", "invitation"]
    scopes: list[str]
    created_at: float
    expires_at: float


class Provider(BaseModel):
    """An identity provider that signs people in."""

    name: str
    title: str
    url: str = Field(description="Where the browser goes to sign in.")


class Ways(BaseModel):
    """What the sign-in page offers."""

    password: bool
    key: bool
    link: bool
    oidc: list[Provider]


class SignedOut(BaseModel):
    """What is left of signing out."""

    url: str = Field(
        description="Where the browser goes to be signed out at the provider; it comes back to `/login`."
    )


class Session(BaseModel):
    """Who the caller is, if anybody, and how to sign in."""

    authenticated: bool
    user: SessionUser | None = None
    session: Here | None = Field(None, description="Null for programs, which send a key.")
    scopes: list[str] = Field(default_factory=list)
    ways: Ways
    first_start: bool = Field(
        description="Whether the owner has neither signed in nor chosen a password yet; `serve` prints a link that signs them in."
    )
    version: str


@router.get("/api/v1/session", dependencies=[PUBLIC])
async def get_session(request: Request, platform: PlatformOf) -> Session:
    """Who is signed in, and which ways there are to sign in; the one question that needs no key."""
    key = await identify(request)
    return await _session(request, platform, key)


@router.post(
    "/api/v1/session",
    dependencies=[PUBLIC],
    responses={
        200: {"model": Session, "description": "Signed in."},
        401: {"description": "Nobody is signed in by that."},
    },
)
async def begin_session(request: Request, body: SignIn, platform: PlatformOf) -> Response:
    """Sign in; the answer sets a cookie that scripts cannot read. A session that the browser had before ends."""
    answer = Response()
    if body.key is not None:
        login = await by_key(request, answer, platform, body.key)
    elif body.token is not None:
        login = await sign_in(request, answer, platform, await by_link(platform, body.token), "link")
    elif body.email is not None and body.password is not None:
        user_id = await by_password(request, platform, body.email, body.password)
        login = await sign_in(request, answer, platform, user_id, "password")
    else:
        raise ApiError(422, "bad_request", "give `email` and `password`, or `key`, or `token`")
    request.state.login, request.state.caller = login, None
    found = await _session(request, platform, None)
    answer.body = found.model_dump_json().encode()
    answer.headers["content-type"], answer.headers["content-length"] = (
        "application/json",
        str(len(answer.body)),
    )
    return answer


@router.delete(
    "/api/v1/session",
    status_code=204,
    dependencies=[PUBLIC],
    responses={200: {"model": SignedOut, "description": "It has ended here, and goes on at the provider."}},
)
async def end_session(request: Request, platform: PlatformOf) -> Response:
    """Sign out: the session ends on the server, and the cookie goes.

    Where the provider that signed in is signed out of too (`end_session` in its settings), the answer says where.
    """
    await identify(request)
    login = login_of(request)
    base = platform.settings.public_url or str(request.base_url)
    url = None if login is None else await way_out(platform, login, f"{base.rstrip('/')}/login")
    headers = {"clear-site-data": '"cache"', "cache-control": "no-store"}
    answer = (
        Response(status_code=204, headers=headers)
        if url is None
        else JSONResponse(SignedOut(url=url).model_dump(), headers=headers)
    )
    await sign_out(request, answer, platform)
    return answer


@links.get(LINK_PATH, dependencies=[PUBLIC])
async def follow_link(
    request: Request, platform: PlatformOf, token: Annotated[str, Query(max_length=500)] = ""
) -> Response:
    """Sign a browser in by a link, once, and go to the first page."""
    answer = RedirectResponse("/", status_code=303, headers={"referrer-policy": "no-referrer"})
    try:
        await sign_in(request, answer, platform, await by_link(platform, token), "link")
    except ApiError as error:
        return (
            JSONResponse({"detail": error.detail}, 401)
            if _wants_json(request)
            else RedirectResponse("/login?error=bad_link", status_code=303)
        )
    return answer


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


async def _session(request: Request, platform: Platform, key: Key | None) -> Session:
    login = login_of(request)
    owner = login.user_id if login is not None else None if key is None else key.owner
    scopes = login.scopes if login is not None else () if key is None else key.scopes
    here = None if login is None else Here(
        id=login.id, method=login.method, scopes=list(login.scopes), created_at=login.created_at,
        expires_at=login.expires_at,
    )  # fmt: skip
    return Session(
        authenticated=owner is not None,
        user=None if owner is None else await _user(platform, owner),
        session=here,
        scopes=list(scopes),
        ways=_ways(platform),
        first_start=owner is None and await is_first_start(platform),
        version=request.app.version,
    )


async def _user(platform: Platform, user_id: str) -> SessionUser:
    by, found = await platform.store.users.principal(user_id), await platform.store.users.get(user_id)
    orgs = [
        SessionOrg(id=org.id, name=org.name, role=by.roles[org.id])
        for org in await platform.store.organisations.list(by=by)
        if org.id in by.roles
    ]
    return SessionUser(
        id=found.id,
        name=found.name,
        email=found.email,
        operator=by.operator,
        has_password=found.has_password,
        orgs=orgs,
    )


def _ways(platform: Platform) -> Ways:
    offered = [
        Provider(name=name, title=client.provider.title or name, url=f"{OIDC}/{name}")
        for name, client in platform.providers.clients.items()
    ]
    return Ways(password=platform.settings.password_login, key=True, link=True, oidc=offered)


async def is_first_start(platform: Platform) -> bool:
    """Whether the owner of the installation has neither a password nor signed in yet."""
    owner = await platform.store.users.get(LOCAL.user_id)
    return not owner.has_password and not await platform.store.logins.list(LOCAL.user_id)
