"""`database`: every database that the turn may reach, behind one tool."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

from interlace.agents.direct.database import (
    SQL_PROPERTIES,
    described,
    gate_query,
    listed,
    reads,
    run_query,
    table_of,
    tables_of,
)
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
from interlace.agents.search import Entry, Finder
from interlace.agents.stubs import DATABASES, Stub, telling, told
from interlace.agents.visible import DatabaseStub
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

_NAMED: Final = 10
_PATIENCE_S: Final = 10.0


class DatabaseTool:
    """Look at tables and columns, and do statements. Implements `Tool`.

    Args:
        stubs: the databases of the turn, by what the model calls them.
        finder: searches.
    """

    name = "database"
    category: ClassVar[Category] = "database"

    def __init__(self, stubs: Mapping[str, DatabaseStub], finder: Finder) -> None:
        self._stubs = stubs
        self._finder = finder

    @cached_property
    def description(self) -> str:
        """How it is used, and the catalogue."""
        return (
            "Ask SQL databases. `list_tables` or `search` tables and columns, `discover` columns, then `query` with one"
            " statement. Databases:\n" + self.catalogue
        )

    @cached_property
    def catalogue(self) -> str:
        """The databases in short."""
        return told([_stub(label, stub) for label, stub in self._stubs.items()], DATABASES)

    @cached_property
    def parameters_schema(self) -> Schema:
        """The names of databases are fixed; those of tables are checked at the call."""
        return {
            "type": "object",
            "properties": {
                "subcommand": {"enum": ["search", "list_tables", "discover", "query"]},
                "database": one_of(self._stubs),
                "table": one_or_several("Table; several for discover."),
                "words": {**QUERY, "description": "What search and discover look for, in words."},
                **SQL_PROPERTIES,
                "page": PAGE,
            },
            "required": ["subcommand"],
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Reading may be repeated, a change may not."""
        stub = self._stubs.get(str(arguments.get("database")))
        if arguments.get("subcommand") != "query" or stub is None:
            return "none"
        return "none" if reads(stub.dialect, str(arguments.get("sql", ""))) else "once"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """For statements that change rows.

        Raises:
            NodeError: as `gate_query`; `resource_not_found`, `bad_arguments`.
        """
        if arguments["subcommand"] != "query":
            return None
        stub = known(arguments.get("database"), self._stubs, "database")
        sql = str(needed(arguments, "sql", "query"))
        return await gate_query(stub.id, arguments["database"], sql, arguments.get("values") or {}, ctx)

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Do the subcommand.

        Raises:
            NodeError: `resource_not_found` with the nearest names; as `run_query`.
        """
        subcommand = arguments["subcommand"]
        if subcommand == "search":
            return ToolResult(value=await self._search(arguments, ctx))
        label = arguments.get("database")
        stub = known(label, self._stubs, "database")
        if subcommand == "query":
            sql = str(needed(arguments, "sql", "query"))
            return await run_query(stub.id, sql, arguments.get("values") or {}, ctx)
        tables = await tables_of(stub.id, ctx)
        names, words = names_in(arguments.get("table")), arguments.get("words")
        if subcommand == "list_tables" or not (names or words):
            return ToolResult(
                value=paged("tables", [listed(table) for table in tables], arguments.get("page"))
            )
        if not names:
            found = await self._finder.find(_entries(str(label), tables), str(words), limit=5)
            names = [hit.entry.name for hit in found]
        chosen = [table_of(tables, name, str(label)) for name in names]
        return ToolResult(value=in_full("tables", chosen, arguments.get("page"), described))

    async def _search(self, arguments: Mapping[str, Any], ctx: ToolContext) -> dict[str, Any]:
        label = arguments.get("database")
        if label:
            known(label, self._stubs, "database")
        words = str(needed(arguments, "words", "search"))
        labels = [label] if label else list(self._stubs)
        looked = await asyncio.gather(*(self._tables(name, ctx, alone=bool(label)) for name in labels))
        entries = [
            entry
            for name, tables in zip(labels, looked, strict=True)
            for entry in _entries(name, tables or ())
        ]
        result = await search(self._finder, entries, words, _told)
        missed = [name for name, tables in zip(labels, looked, strict=True) if tables is None]
        return {**result, "not_reachable": missed} if missed else result

    async def _tables(
        self, label: str, ctx: ToolContext, *, alone: bool
    ) -> Sequence[Mapping[str, Any]] | None:
        """The tables of a database; None where it cannot be reached, and others are looked through too."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await tables_of(self._stubs[label].id, ctx)
        except (NodeError, TimeoutError):
            if alone:
                raise
            return None


def _entries(label: str, tables: Sequence[Mapping[str, Any]]) -> list[Entry]:
    return [
        Entry(
            key=f"{label}\0{table['name']}", name=str(table["name"]), owner=label, description=str(table["description"]),
            parameters=tuple(str(column["name"]) for column in table["columns"]),
            details=tuple(str(column["description"]) for column in table["columns"] if column["description"]),
        )
        for table in tables
    ]  # fmt: skip


def _told(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {
        "database": entry.owner,
        "table": entry.name,
        "columns": list(entry.parameters[:20]),
    }
    return {**told, "description": briefly(entry.description)} if entry.description else told


def _stub(label: str, stub: DatabaseStub) -> Stub:
    if stub.tables is None:
        note = "not reachable now" if stub.fault else "tables not looked at yet"
        return Stub(label=label, description=stub.description or stub.dialect, note=note)
    about = f"{stub.description} [{stub.dialect}]" if stub.description else stub.dialect
    names = [str(table["name"]) for table in stub.tables]
    return Stub(label=label, description=about, parts=telling(names, _NAMED), what="tables", total=len(names))
