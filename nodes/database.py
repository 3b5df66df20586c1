"""DATABASE: one statement on a SQL database, its values bound, reads and writes kept apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema, model_validator

from interlace.engine.document import Effects, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic, Secret
from interlace.engine.node import Config, Finding, Node, Output, RunContext
from interlace.engine.protocols import Files
from interlace.engine.schema import Schema
from interlace.engine.waits import Answer, Suspend
from interlace.resources.databases import Databases, DatabaseUrl, QueryResult, WriteResult
from interlace.resources.databases.confirmation import confirmation, require, require_same
from interlace.resources.databases.databases import MAX_EXPORTED_ROWS
from interlace.resources.databases.export import Format
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.identifiers import common_columns, quoted_table
from interlace.resources.databases.parameters import bind
from interlace.resources.databases.result import Column
from interlace.resources.databases.stored import OpenDatabase, StoredDatabases
from interlace.resources.databases.templates import PREFIX, candidates, compare_names, take_templates, told_by
from interlace.resources.databases.url import Dialect

if TYPE_CHECKING:
    from interlace.resources.databases.policy import Purpose

Operation = Literal["query", "execute", "insert_many"]

# The engine's own time-out ends the node; this one only has to be longer.
_NEVER_FIRST_S = 7 * 86_400.0
_ROWS = 1_000
_MOST_ROWS = 100_000


class DatabaseConfig(Config):
    """The database, the statement and its values."""

    connector: str = Field(
        "",
        title="Database",
        description="Name of a stored database, used with the rights of whoever started the run.",
        examples=["shop"],
        json_schema_extra={"widget": "resource", "resource": "database"},
    )
    url: Secret[str] = Field(
        "",
        title="Address",
        description="Where, without a stored database: sqlite:///file.db, postgresql://user:password@host/name or mysql://…, where an operator opened it.",
        examples=["postgresql://reader:{{ secrets.shop_password }}@db.example.com:5432/shop"],
    )
    operation: Operation = Field(
        "query",
        title="Operation",
        description="query reads rows; execute does one INSERT, UPDATE, DELETE or MERGE; insert_many adds a list of rows.",
        examples=["execute"],
    )
    sql: str = Field(
        "",
        title="SQL",
        description="One statement with :name parameters. A {{ }} where a value may stand becomes a parameter of its own.",
        examples=["SELECT id, total FROM orders WHERE customer = :customer AND total > {{ inputs.least }}"],
        json_schema_extra={"widget": "code", "code_language": "sql"},
    )
    parameters: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Parameters",
        description="Values by name, bound and never part of the text; a list fills IN (:name).",
        examples=[{"customer": "{{ inputs.customer }}", "ids": [1, 2, 3]}],
    )
    table: str = Field(
        "",
        title="Table",
        description="Where insert_many adds its rows: name or schema.name.",
        examples=["orders"],
    )
    rows: Dynamic[list[dict[str, Data]]] = Field(
        default_factory=list,
        title="Rows",
        description="What insert_many adds: objects with the same columns each, all added or none.",
        examples=["{{ fetch.body.orders }}"],
    )
    max_rows: int | None = Field(
        None,
        ge=1,
        le=10_000_000,
        title="Most rows",
        description="Rows to return at most, 1000 if not given and never more than 100,000; of a file ten millions. `truncated`"
        " says that there were more.",
        examples=[100],
    )
    stream_to_payload: bool | Format = Field(
        False,
        title="Into a file",
        description="Let query write its rows to a file instead of `rows`, as they come: true or jsonl for JSON lines, csv.",
        examples=["csv"],
    )
    allow_ddl: bool = Field(
        False,
        title="Allow changes of the schema",
        description="Let execute also CREATE, ALTER, DROP and TRUNCATE tables, views and indexes.",
        examples=[True],
    )

    @model_validator(mode="before")
    @classmethod
    def _bind_templates(cls, raw: Any) -> Any:
        """Turn templates in the SQL into parameters, so that the engine evaluates and checks them as such."""
        if not isinstance(raw, dict):
            return raw
        sql, parameters = raw.get("sql"), raw.get("parameters", {})
        if not isinstance(sql, str) or not isinstance(parameters, dict):
            return raw
        taken = take_templates(sql, candidates(str(raw.get("url", ""))), parameters)
        return (
            {**raw, "sql": taken.sql, "parameters": {**parameters, **taken.parameters}}
            if taken.parameters
            else raw
        )


_COLUMN: Schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name in the rows; a repeated one has a number."},
        "type": {"type": "string", "description": "The database's own name of the type."},
    },
    "required": ["name", "type"],
}


class DatabaseOutput(Output):
    """The rows, and how many there were."""

    rows: Annotated[Any, WithJsonSchema({"type": "array", "items": {"type": "object"}})] = Field(
        description="Rows as objects by column; of execute, those of RETURNING."
    )
    columns: Annotated[Any, WithJsonSchema({"type": "array", "items": _COLUMN})] = Field(
        description="The columns, in order."
    )
    row_count: int = Field(description="Rows returned by query, rows changed by execute and insert_many.")
    truncated: bool = Field(description="Whether there were more rows than max_rows or 16 MB.")
    file: Data = Field(None, description="The file with the rows, where stream_to_payload asks for one.")


class Database(Node[DatabaseConfig, DatabaseOutput]):
    """Read or change rows of a SQL database."""

    kind = "DATABASE"
    group, icon = "connect", "database"
    timeout = 300.0
    example: ClassVar[dict[str, Any]] = {
        "url": "sqlite:///shop.db",
        "sql": "SELECT id, total FROM orders WHERE customer = :customer",
        "parameters": {"customer": 7},
    }

    def effect(self) -> Effects:
        """Reading may be repeated; a write whose outcome is unknown may not."""
        return "none" if self.config.operation == "query" else "once"

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """The URL where it is constant, the statement by the policy, and what belongs to another operation."""
        del spec
        config = self.config
        if bool(config.url) == bool(config.connector):
            yield Finding(
                code="database_url",
                field="config.connector",
                message="a DATABASE node has either a `connector` or a `url`.",
                fix="Name a stored database as the connector.",
            )
        elif config.url and "{{" not in config.url:
            try:
                DatabaseUrl.parse(config.url)
            except NodeError as error:
                yield Finding(code="database_url", field="config.url", message=error.message)
        yield from self._check_limits()
        if config.operation == "insert_many":
            yield from self._check_insert()
        else:
            yield from self._check_sql()

    async def run(self, config: DatabaseConfig, ctx: RunContext) -> DatabaseOutput:
        """Do the operation.

        Raises:
            NodeError: see `Databases`: the database may not or cannot be reached, refuses, or takes too long.
            Suspend: the database wants a person to confirm each write, and nobody has.
        """
        if not config.connector:
            return await _operate(config, ctx, _Target(config.url))
        opened = await ctx.service(StoredDatabases).open(config.connector, by=ctx.principal, hide=ctx.hide)
        limits = opened.definition
        if config.operation != "query" and not limits.allow_writes:
            raise NodeError(
                f"the database {config.connector!r} is for reading only; whoever looks after it may set allow_writes",
                kind="sql_refused",
            )
        if config.operation != "query" and limits.confirmation == "always" and not ctx.confirmed:
            _check_write(config, opened)
            shown = config.model_dump(mode="json", exclude_defaults=True)
            raise Suspend(confirmation(opened, shown, path=ctx.path, now=ctx.now()))
        return await _operate(config, ctx, _Target.of(opened))

    async def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> DatabaseOutput:
        """Make the change that a person confirmed, and no other.

        Raises:
            NodeError: `not_confirmed`: it was rejected, nobody answered in time, or the database is another one now.
        """
        require(answer)
        config = DatabaseConfig.model_validate(state["config"])
        opened = await ctx.service(StoredDatabases).open(config.connector, by=ctx.principal, hide=ctx.hide)
        require_same(opened, state)
        return await _operate(config, ctx, _Target.of(opened))

    def _check_limits(self) -> Iterator[Finding]:
        config = self.config
        if config.stream_to_payload and config.operation != "query":
            yield Finding(
                code="unused_stream",
                field="config.stream_to_payload",
                message=f"{config.operation} writes no file.",
                fix="Use query.",
            )
        elif not config.stream_to_payload and (config.max_rows or 0) > _MOST_ROWS:
            yield Finding(
                code="too_many_rows",
                field="config.max_rows",
                message=f"at most {_MOST_ROWS:,} rows are returned.",
                fix="Set stream_to_payload, which writes them to a file.",
            )

    def _check_insert(self) -> Iterator[Finding]:
        try:
            quoted_table(candidates(self.config.url)[0], self.config.table)
        except NodeError as error:
            yield Finding(code="bad_table", field="config.table", message=error.message)
        if self.config.sql:
            yield Finding(
                code="unused_sql",
                field="config.sql",
                message="insert_many takes no SQL.",
                fix="Use execute, or name the table and the rows.",
            )

    def _check_sql(self) -> Iterator[Finding]:
        config = self.config
        if config.table or config.rows:
            yield Finding(
                code="unused_rows",
                field="config.table" if config.table else "config.rows",
                message=f"{config.operation} takes no table and no rows.",
                fix="Use insert_many.",
            )
        dialects = candidates(config.url)
        for problem in take_templates(config.sql, dialects, ()).problems:
            yield _misplaced(f"{problem}.")
            return
        if "{{" in config.sql:
            yield _misplaced(
                "a {{ }} in the SQL needs `parameters` that are written out, as it becomes one of them."
            )
            return
        purpose: Purpose = "read"
        if config.operation == "execute":
            purpose = "ddl" if config.allow_ddl else "write"
        refusals = {dialect: text for dialect in dialects if (text := _refusal(dialect, config.sql, purpose))}
        if len(refusals) == len(dialects):
            if any(not _refusal(dialect, self._with_names(), purpose) for dialect in dialects):
                yield _misplaced("a {{ }} stands where a name is needed, not a value.")
            else:
                yield Finding(code="sql_refused", field="config.sql", message=told_by(refusals))
        elif isinstance(config.parameters, dict):
            wrong = compare_names(config.sql, config.parameters, dialects)
            if wrong is not None:
                yield Finding(code="sql_parameters", field="config.parameters", message=f"{wrong}.")

    def _with_names(self) -> str:
        """The SQL with a plain name in place of each template; without templates nothing that passes."""
        taken = [
            name
            for name, value in self.config.parameters.items()
            if name.startswith(PREFIX) and "{{" in str(value)
        ]
        return re.sub(rf":({'|'.join(taken)})\b", "a_name", self.config.sql) if taken else ""


@dataclass(frozen=True, slots=True)
class _Target:
    """Where an operation goes, and what limits it there."""

    url: str
    max_rows: int = _MOST_ROWS
    max_exported_rows: int = MAX_EXPORTED_ROWS
    timeout: float = _NEVER_FIRST_S
    hidden: Hidden | None = None

    @classmethod
    def of(cls, opened: OpenDatabase) -> _Target:
        """A stored database."""
        limits = opened.definition
        return cls(
            opened.url, limits.max_rows, limits.max_exported_rows, limits.timeout, limits.hidden or None
        )


async def _operate(config: DatabaseConfig, ctx: RunContext, target: _Target) -> DatabaseOutput:
    databases = ctx.service(Databases)
    if config.operation == "insert_many":
        return _output(
            await databases.insert_many(
                target.url, config.table, config.rows, timeout=target.timeout, hidden=target.hidden
            )
        )
    if config.stream_to_payload and config.operation == "query":
        return await _export(config, ctx, target)
    rows = min(config.max_rows or _ROWS, target.max_rows)
    if config.operation == "execute":
        return _output(
            await databases.execute(
                target.url, config.sql, config.parameters, allow_ddl=config.allow_ddl, max_rows=rows,
                timeout=target.timeout, hidden=target.hidden,
            )
        )  # fmt: skip
    return _output(
        await databases.query(
            target.url,
            config.sql,
            config.parameters,
            max_rows=rows,
            timeout=target.timeout,
            hidden=target.hidden,
        )
    )


async def _export(config: DatabaseConfig, ctx: RunContext, target: _Target) -> DatabaseOutput:
    how: Format = "jsonl" if isinstance(config.stream_to_payload, bool) else config.stream_to_payload
    found = await ctx.service(Databases).export(
        target.url, config.sql, config.parameters, files=ctx.service(Files), name=ctx.path.rpartition(".")[2], how=how,
        max_rows=min(config.max_rows or MAX_EXPORTED_ROWS, target.max_exported_rows), timeout=target.timeout,
        hidden=target.hidden,
    )  # fmt: skip
    return DatabaseOutput(
        rows=[], columns=_columns(found.columns), row_count=found.row_count, truncated=found.truncated,
        file=asdict(found.file),
    )  # fmt: skip


def _check_write(config: DatabaseConfig, opened: OpenDatabase) -> None:
    """Nobody is asked about a statement that would be refused."""
    from interlace.resources.databases.policy import check  # noqa: PLC0415 - its SQL parser loads when one is used

    if config.operation == "execute":
        purpose: Purpose = "ddl" if config.allow_ddl else "write"
        check(opened.definition.dialect, config.sql, purpose, None, opened.definition.hidden or None)
        bind(opened.definition.dialect, config.sql, config.parameters)
    elif config.rows:
        quoted_table(opened.definition.dialect, config.table)
        common_columns(config.rows)


def _refusal(dialect: Dialect, sql: str, purpose: Purpose) -> str:
    from interlace.resources.databases.policy import check  # noqa: PLC0415 - its SQL parser loads when one is used

    try:
        check(dialect, sql, purpose)
    except NodeError as error:
        return error.message
    return ""


def _misplaced(message: str) -> Finding:
    return Finding(
        code="sql_template",
        field="config.sql",
        message=message,
        fix="Write :name there and give the value in the parameters; names of tables and columns cannot be values.",
    )


def _output(found: QueryResult | WriteResult) -> DatabaseOutput:
    return DatabaseOutput(
        rows=found.rows,
        columns=_columns(found.columns),
        row_count=found.row_count,
        truncated=found.truncated,
    )


def _columns(columns: Sequence[Column]) -> list[dict[str, str]]:
    return [{"name": column.name, "type": column.type} for column in columns]
