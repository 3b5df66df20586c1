"""Statements on stored databases: what only reads is done at once, what changes rows asks a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, cast

from interlace.agents.visible import DatabaseStub
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.problems import nearest
from interlace.engine.schema import Schema
from interlace.resources.databases import Databases
from interlace.resources.databases.stored import OpenDatabase, StoredDatabases
from interlace.resources.databases.url import Dialect
from interlace.resources.tools.naming import tool_name
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult
from interlace.store.errors import NotFoundError

MOST_ROWS: Final = 100
_MOST_BYTES: Final = 60_000
_SHOWN: Final = 300
_SQL: Final[Schema] = {
    "type": "string", "minLength": 1, "description": "One statement; values as :name, given in `values`.",
}  # fmt: skip
_VALUES: Final[Schema] = {"type": "object", "description": "A value for each :name."}
SQL_PROPERTIES: Final[Mapping[str, Schema]] = {"sql": _SQL, "values": _VALUES}


def reads(dialect: str, sql: str) -> bool:
    """Whether a statement is one that only reads; false where it cannot be read at all."""
    from interlace.resources.databases.policy import check  # noqa: PLC0415 - its SQL parser loads when one is used

    try:
        check(cast("Dialect", dialect), sql, "read")
    except NodeError:
        return False
    return True


async def opened(database_id: str, ctx: ToolContext) -> OpenDatabase:
    """A database ready for use.

    Raises:
        NodeError: `resource_not_found`.
    """
    try:
        return await ctx.service(StoredDatabases).open(database_id, by=ctx.principal, hide=ctx.hide)
    except NotFoundError as error:
        raise NodeError(str(error), kind="resource_not_found", retryable=False) from None


async def gate_query(
    database_id: str, label: str, sql: str, values: Mapping[str, Any], ctx: ToolContext
) -> Gate | None:
    """A person agrees to each statement that changes rows, where the database takes such statements at all.

    Raises:
        NodeError: `resource_not_found`; `sql_refused`: the statement is none that may be made here.
    """
    from interlace.resources.databases.policy import check  # noqa: PLC0415 - see above

    found = await opened(database_id, ctx)
    if reads(found.definition.dialect, sql):
        return None
    if not found.definition.allow_writes:
        check(found.definition.dialect, sql, "read", None, found.definition.hidden or None)
    check(found.definition.dialect, sql, "write", None, found.definition.hidden or None)
    line = " ".join(sql.split())
    shown = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    del values
    return Gate(title=f"{label}: {shown}", reason=f"the statement changes the database {label!r}")


async def run_query(
    database_id: str, sql: str, values: Mapping[str, Any], ctx: ToolContext, *, max_rows: int = MOST_ROWS
) -> ToolResult:
    """Do a statement: rows, or how many were changed.

    Raises:
        NodeError: `resource_not_found`; as `Databases.query` and `Databases.execute`.
    """
    found = await opened(database_id, ctx)
    limits = found.definition
    databases = ctx.service(Databases)
    rows = min(max_rows, limits.max_rows)
    hidden = limits.hidden or None
    if reads(limits.dialect, sql) or not limits.allow_writes:
        result = await databases.query(
            found.url,
            sql,
            values,
            max_rows=rows,
            max_bytes=_MOST_BYTES,
            timeout=limits.timeout,
            hidden=hidden,
        )
        told: dict[str, Any] = {"rows": result.rows, "row_count": result.row_count}
        return ToolResult(value={**told, "truncated": True} if result.truncated else told)
    written = await databases.execute(
        found.url, sql, values, max_rows=rows, max_bytes=_MOST_BYTES, timeout=limits.timeout, hidden=hidden
    )
    changed: dict[str, Any] = {"row_count": written.row_count}
    return ToolResult(value={**changed, "rows": written.rows} if written.rows else changed)


async def tables_of(database_id: str, ctx: ToolContext) -> Sequence[Mapping[str, Any]]:
    """The visible tables with their columns.

    Raises:
        NodeError: `resource_not_found`, or the database cannot be reached.
    """
    try:
        return await ctx.service(StoredDatabases).tables(database_id, by=ctx.principal)
    except NotFoundError as error:
        raise NodeError(str(error), kind="resource_not_found", retryable=False) from None


def listed(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table in one line of a list."""
    told = {"table": table["name"], "columns": len(table["columns"]), "description": table["description"]}
    if table["kind"] != "table":
        told["kind"] = table["kind"]
    return {key: value for key, value in told.items() if value != ""}


def described(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with its columns."""
    columns = []
    for column in table["columns"]:
        told = {"name": column["name"], "type": column["type"]}
        if not column["nullable"]:
            told["nullable"] = False
        told |= {key: column[key] for key in ("key", "description") if column[key]}
        columns.append(told)
    return {**listed(table), "columns": columns}


def table_of(tables: Sequence[Mapping[str, Any]], name: str, label: str) -> Mapping[str, Any]:
    """A table by name, whatever its letters' case, with or without its schema.

    Raises:
        NodeError: `resource_not_found`, with the nearest name.
    """
    wanted = name.casefold()
    for table in tables:
        full = str(table["name"]).casefold()
        if wanted in (full, full.rpartition(".")[2]):
            return table
    names = [str(table["name"]) for table in tables]
    guess = nearest(name, names)
    hint = f"did you mean {guess!r}?" if guess else f"it has {len(names)}; use list_tables or search"
    raise NodeError(
        f"the database {label!r} has no table {name!r}; {hint}", kind="resource_not_found", retryable=False
    )


Operation = Literal["list_tables", "describe_table", "query"]
OPERATIONS: Final[tuple[Operation, ...]] = ("list_tables", "describe_table", "query")


class DatabaseOperation:
    """`{db}__list_tables`, `{db}__describe_table` or `{db}__query` as a tool of its own. Implements `Tool`."""

    category: ClassVar[Category] = "database"

    def __init__(self, stub: DatabaseStub, label: str, operation: Operation) -> None:
        self.name = tool_name(label, operation)
        self.part_of = label, operation
        self._stub = stub
        self._label = label
        self._operation = operation

    @property
    def stands_for(self) -> tuple[str, str]:
        """The resource and the part of it, which tell it from every other tool."""
        return self._stub.id, self._operation

    @property
    def description(self) -> str:
        """What it does; the statement's tool names the tables, the way it was always done."""
        about = f" {self._stub.description}" if self._stub.description else ""
        if self._operation == "list_tables":
            return f"The tables of the database {self._label}.{about}"
        if self._operation == "describe_table":
            return f"The columns of a table of {self._label}."
        kind = "a statement" if self._stub.writes else "one SELECT"
        return f"Do {kind} on {self._label} ({self._stub.dialect}).{about}{self._all_tables()}"

    def _all_tables(self) -> str:
        lines = [
            f"{table['name']}({', '.join(str(column['name']) + ' ' + str(column['type']) for column in table['columns'])})"
            for table in self._stub.tables or ()
        ]
        return "\nTables:\n" + "\n".join(lines) if lines else ""

    @property
    def parameters_schema(self) -> Schema:
        """Nothing, a table, or a statement with its values."""
        fields: dict[str, Schema] = {}
        if self._operation == "describe_table":
            fields = {"table": {"type": "string", "minLength": 1}}
        elif self._operation == "query":
            fields = dict(SQL_PROPERTIES)
        made: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
        return {**made, "required": [next(iter(fields))]} if fields else made

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Reading may be repeated, a change may not."""
        if self._operation != "query" or reads(self._stub.dialect, str(arguments.get("sql", ""))):
            return "none"
        return "once"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """For changes. Raises as `gate_query`."""
        if self._operation != "query":
            return None
        return await gate_query(
            self._stub.id, self._label, arguments["sql"], arguments.get("values") or {}, ctx
        )

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Do it. Raises as `run_query`, `tables_of` and `table_of`."""
        if self._operation == "query":
            return await run_query(self._stub.id, arguments["sql"], arguments.get("values") or {}, ctx)
        tables = await tables_of(self._stub.id, ctx)
        if self._operation == "list_tables":
            return ToolResult(value={"tables": [listed(table) for table in tables]})
        return ToolResult(value=described(table_of(tables, arguments["table"], self._label)))
