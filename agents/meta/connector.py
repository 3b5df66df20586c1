"""`connector`: every API that the turn may reach, behind one tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from interlace.agents.direct.connector import call_action, described, gate_action
from interlace.agents.meta.base import (
    PAGE,
    QUERY,
    briefly,
    in_full,
    known,
    names_in,
    needed,
    one_of,
    one_or_several,
    paged,
    search,
)
from interlace.agents.search import Entry, Finder, entry_of
from interlace.agents.stubs import CONNECTORS, Stub, telling, told
from interlace.agents.visible import ActionStub, ConnectorStub
from interlace.engine.document import Effects
from interlace.engine.schema import Schema
from interlace.resources.connectors.arguments import find_action
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult
from interlace.store.resources import ResourceRepository


class ConnectorTool:
    """Search for actions of APIs, read what they take, call them. Implements `Tool`.

    Args:
        stubs: the connectors of the turn, by what the model calls them.
        finder: searches.
    """

    name = "connector"
    category: ClassVar[Category] = "connector"

    def __init__(self, stubs: Mapping[str, ConnectorStub], finder: Finder) -> None:
        self._stubs = stubs
        self._finder = finder

    @cached_property
    def description(self) -> str:
        """How it is used, and the catalogue."""
        return (
            "Call APIs. First `search` for actions or `discover` their parameters, then `execute`. Connectors:\n"
            + self.catalogue
        )

    @cached_property
    def catalogue(self) -> str:
        """The connectors in short."""
        return told([_stub(label, stub) for label, stub in self._stubs.items()], CONNECTORS)

    @cached_property
    def parameters_schema(self) -> Schema:
        """The names of connectors are fixed; those of actions are checked at the call."""
        return {
            "type": "object",
            "properties": {
                "subcommand": {"enum": ["search", "discover", "execute"]},
                "connector": one_of(self._stubs),
                "action": one_or_several("Action; several for discover."),
                "query": QUERY,
                "parameters": {"type": "object", "description": "Of execute, as discover shows them."},
                "page": PAGE,
            },
            "required": ["subcommand"],
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Looking changes nothing; a call is what its method is."""
        if arguments.get("subcommand") != "execute":
            return "none"
        stub = self._stubs.get(str(arguments.get("connector")))
        action = None if stub is None else stub.actions.get(str(arguments.get("action")))
        return "once" if action is None else action.effects

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """For actions that require a confirmation.

        Raises:
            NodeError: as `gate_action`; `resource_not_found`, `bad_arguments`.
        """
        if arguments["subcommand"] != "execute":
            return None
        stub, action = self._target(arguments)
        return await gate_action(stub.id, action, arguments.get("parameters") or {}, ctx)

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Do the subcommand.

        Raises:
            NodeError: `resource_not_found`, `unknown_action` with the nearest names; as `Connectors.call`.
        """
        subcommand = arguments["subcommand"]
        if subcommand == "execute":
            stub, action = self._target(arguments)
            return await call_action(stub.id, action, arguments.get("parameters") or {}, ctx)
        if subcommand == "discover":
            return ToolResult(value=await self._discover(arguments, ctx))
        return ToolResult(value=await self._search(arguments, ctx))

    def _target(self, arguments: Mapping[str, Any]) -> tuple[ConnectorStub, str]:
        stub = known(arguments.get("connector"), self._stubs, "connector")
        names = names_in(needed(arguments, "action", "execute"))
        return stub, names[0]

    async def _discover(self, arguments: Mapping[str, Any], ctx: ToolContext) -> dict[str, Any]:
        stub = known(arguments.get("connector"), self._stubs, "connector")
        names, query = names_in(arguments.get("action")), arguments.get("query")
        if not names and not query:
            listed = [_listed(action) for action in stub.actions.values()]
            return paged("actions", listed, arguments.get("page"))
        loaded = await ctx.service(Connectors).usable(stub.id, by=ctx.principal)
        if not names:
            entries = await self._entries([arguments["connector"]], ctx)
            found = await self._finder.find(entries, str(query), limit=5)
            names = [hit.entry.name for hit in found]
        actions = [find_action(loaded.connector, name) for name in names]
        return in_full("actions", actions, arguments.get("page"), lambda action: described(loaded, action))

    async def _search(self, arguments: Mapping[str, Any], ctx: ToolContext) -> dict[str, Any]:
        label = arguments.get("connector")
        if label:
            known(label, self._stubs, "connector")
        query = str(needed(arguments, "query", "search"))
        entries = await self._entries([label] if label else list(self._stubs), ctx)
        return await search(self._finder, entries, query, _told)

    async def _entries(self, labels: Sequence[str], ctx: ToolContext) -> list[Entry]:
        """What is searched: the actions of some connectors, read in one query."""
        wanted = {self._stubs[label].id: label for label in labels}
        resources = await ctx.service(ResourceRepository).many(list(wanted), by=ctx.principal)
        connectors = ctx.service(Connectors)
        found: list[Entry] = []
        for resource in resources:
            if resource.active:
                found += self._finder.entries(
                    f"{resource.id}:{resource.version}:{wanted[resource.id]}",
                    lambda resource=resource: _entries(  # type: ignore[misc]
                        wanted[resource.id], connectors.loaded(resource)
                    ),
                )
        return found


def _entries(label: str, loaded: Loaded) -> list[Entry]:
    connector = loaded.connector
    return [
        entry_of(
            f"{label}\0{action.name}", action.name, loaded.parameters(action), owner=label, about=connector.description,
            description=action.description or f"{action.method} {action.path}",
        )
        for action in connector.actions
    ]  # fmt: skip


def _told(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {
        "connector": entry.owner, "action": entry.name, "description": briefly(entry.description),
    }  # fmt: skip
    return told


def _listed(action: ActionStub) -> dict[str, Any]:
    return {
        "action": action.name,
        "description": briefly(action.description) or f"{action.method} {action.path}",
    }


def _stub(label: str, stub: ConnectorStub) -> Stub:
    usable = [action for action in stub.actions.values() if not action.deprecated]
    usable.sort(key=lambda action: action.path.count("/"))
    return Stub(
        label=label, description=stub.description, parts=telling(action.name for action in usable), what="actions",
        total=len(stub.actions),
    )  # fmt: skip
