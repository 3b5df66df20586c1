"""Who calls a tool: taken from the request that a message came with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from interlace.engine.principal import Principal
from interlace.store.keys import Key

SCOPE: Final = "interlace"
"""Where a request's ASGI scope has its caller."""
TASKS: Final = "io.modelcontextprotocol/tasks"
Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The holder of a key; `depth` counts the runs that called each other until this call."""

    key: Key
    by: Principal
    depth: int = 0


def caller_of(ctx: Context) -> Caller:
    """Who sent the message that is handled."""
    assert ctx.request is not None, "every message comes by HTTP"
    found: Caller = ctx.request.scope[SCOPE]
    return found


def takes_questions(ctx: Context) -> bool:
    """Whether the client shows forms to its user."""
    known = ctx.session.client_capabilities
    return known is not None and known.elicitation is not None


def takes_tasks(ctx: Context) -> bool:
    """Whether the client follows tasks of the extension."""
    known = ctx.session.client_capabilities
    return known is not None and TASKS in (known.extensions or {})
