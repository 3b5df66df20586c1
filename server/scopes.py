"""What a key may be used for: every route says which scopes it needs, next to its path.

`dependencies=[needs("runs:read")]` asks for a scope, `needs()` for any valid key, `dependencies=[PUBLIC]` says that the
route needs none. A route that says nothing fails `tests/server/test_scopes.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from fastapi import Depends, FastAPI, Security
from fastapi.params import Depends as DependsParameter
from fastapi.params import Security as SecurityParameter
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from fastapi.security import SecurityScopes

from interlace.engine.errors import InterlaceError
from interlace.server.auth import Caller
from interlace.server.problems import ApiError
from interlace.store.keys import Key

ALL = "*"
SCOPES: dict[str, str] = {
    "runs:read": "List runs; read their nodes, events, values and results.",
    "runs:write": "Start, cancel, replay and delete runs.",
    "workflows:read": "List, read, compare and validate stored workflows.",
    "workflows:write": "Store, publish and delete workflows; with `runs:write` run a document that is not stored.",
    "approvals:read": "List and read requests to people.",
    "approvals:answer": "Answer requests to people and hand them to others.",
    "sessions:read": "List and read chat sessions.",
    "sessions:write": "Make chat sessions, ask in them, and delete them.",
    "triggers:read": "List schedules, webhooks and subscriptions to events; read what they did.",
    "triggers:write": "Make, change, pause and remove them.",
    "files:read": "Download files.",
    "files:write": "Upload files.",
    "resources:read": "List and read connectors, databases, MCP servers, knowledge bases, models, skills and agents.",
    "resources:write": "Add, change and remove them.",
    "resources:use": "Call, query, search and test them.",
    "metrics:read": "Read the metrics of the installation, as an operator.",
    "admin": "Users, organisations, keys, secrets and other administration.",
}


class UnknownScopeError(InterlaceError):
    """A scope that no route knows."""

    code = "unknown_scope"


def checked(scopes: Iterable[str]) -> tuple[str, ...]:
    """The scopes as a key keeps them; none are all.

    Raises:
        UnknownScopeError: one of them is no scope.
    """
    known = {ALL, *SCOPES, *(f"{name.partition(':')[0]}:*" for name in SCOPES if ":" in name)}
    wanted = tuple(dict.fromkeys(scopes))
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise UnknownScopeError(
            f"no scope {', '.join(map(repr, unknown))}; there are {', '.join(sorted(known))}"
        )
    return wanted or (ALL,)


def holds(scopes: Collection[str], wanted: str) -> bool:
    """Whether these scopes include one; `*` is every scope, `runs:*` every one of runs."""
    return bool({ALL, wanted, f"{wanted.partition(':')[0]}:*"}.intersection(scopes))


def needs(*scopes: str) -> Any:
    """A route's dependency: the caller's key holds all of these scopes; without any, the key is valid."""
    assert set(scopes) <= set(SCOPES), scopes
    return Security(_check, scopes=list(scopes))


async def _check(wanted: SecurityScopes, caller: Caller) -> None:
    require(caller, *wanted.scopes)


def require(caller: Key, *scopes: str) -> None:
    """Raise unless a key holds all of these scopes.

    Raises:
        ApiError: 403, it does not.
    """
    missing = [scope for scope in scopes if not holds(caller.scopes, scope)]
    if missing:
        raise ApiError(
            403, "missing_scope",
            f"the key {caller.name!r} has no scope {' and '.join(missing)}; it has {', '.join(caller.scopes)}."
            f" `interlace user key create --scope {' --scope '.join(missing)}` makes one that has",
            missing=missing,
        )  # fmt: skip


async def _nobody() -> None:
    """A route that says what it shows, and to whom, by itself."""


PUBLIC: Any = Depends(_nobody)


def routes_of(app: FastAPI) -> Iterator[RouteContext]:
    """Every route of the application that is ours; `/openapi.json` is the framework's."""
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, APIRoute):
            yield route


def declared(route: RouteContext) -> tuple[str, ...] | None:
    """The scopes that a route asks for, empty for a public one or any key; None when it says nothing."""
    for dependency in getattr(route, "dependencies", None) or ():
        if isinstance(dependency, SecurityParameter) and dependency.dependency is _check:
            return tuple(dependency.scopes or ())
        if isinstance(dependency, DependsParameter) and dependency.dependency is _nobody:
            return ()
    return None
