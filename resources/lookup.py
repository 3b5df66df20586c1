"""Resources as runs use them: what the run's user does not see, and what is switched off, is not there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.store.errors import NotFoundError
from interlace.store.resources import Resource, ResourceRepository

_LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "connector": "connectors", "database": "databases", "mcp_server": "mcp", "knowledge_base": "kb",
        "model": "models", "skill": "skills", "agent": "agents", "workflow": "workflows",
    }
)  # fmt: skip
"""The command that lists the resources of each kind."""


async def usable(resources: ResourceRepository, kind: str, name_or_id: str, *, by: Principal) -> Resource:
    """The resource of a kind that `by` may use in a run.

    Raises:
        NodeError: `resource_not_found`, in the same words whether there is none, it is another's, or it is switched off.
    """
    try:
        found = await resources.find(kind, name_or_id, by=by)
    except NotFoundError:
        raise resource_not_found(kind, name_or_id) from None
    if not found.active:
        raise resource_not_found(kind, name_or_id)
    return found


def resource_not_found(kind: str, name: str, hint: str = "") -> NodeError:
    """The error of a run that names a resource which is not there for its user; `hint` names what that user does see."""
    word = kind.replace("_", " ").replace("mcp", "MCP")
    listed = f" (`interlace {_LISTS[kind]} list` shows yours)" if kind in _LISTS else ""
    return NodeError(
        f"there is no {word} {name!r} that you may use{hint}{listed}",
        kind="resource_not_found",
        retryable=False,
    )
