"""DATABASE: one statement on a SQL database, its values bound, reads and writes kept apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema, model_validator

from interlace.engine.document import Effects, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic, Secret
from interlace.engine.node import Config, Finding, Node, Output, RunContext
from interlace.engine.schema import Schema
from interlace.resources.databases import Databases, DatabaseUrl, QueryResult, WriteResult
from interlace.resources.databases.identifiers import quoted_table
from interlace.resources.databases.templates import PREFIX, candidates, compare_names, take_templates
from interlace.resources.databases.url import Dialect

if TYPE_CHECKING:
    from interlace.resources.databases.policy import Purpose

Operation = Literal["query", "execute", "insert_many"]

# The engine's own time-out ends the node; this one only has to be longer.
_NEVER_FIRST_S = 7 * 86_400.0


class DatabaseConfig(Config):
    """The database, the statement and its values."""

    url: Secret[str] = Field(
        title="Database",
        description="Where: sqlite:///file.db, postgresql://user:password@host/name or mysql://…, where an operator opened it.",
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
    max_rows: int = Field(
        1000,
        ge=1,
        le=100_000,
        title="Most rows",
        description="Rows to return at most; `truncated` says that there were more.",
        examples=[100],
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
        if "{{" not in config.url:
            try:
                DatabaseUrl.parse(config.url)
            except NodeError as error:
                yield Finding(code="database_url", field="config.url", message=error.message)
        if config.operation == "insert_many":
            yield from self._check_insert()
        else:
            yield from self._check_sql()

    async def run(self, config: DatabaseConfig, ctx: RunContext) -> DatabaseOutput:
        """Do the operation.

        Raises:
            NodeError: see `Databases`: the database may not or cannot be reached, refuses, or takes too long.
        """
        databases = ctx.service(Databases)
        if config.operation == "insert_many":
            return _output(
                await databases.insert_many(config.url, config.table, config.rows, timeout=_NEVER_FIRST_S)
            )
        if config.operation == "execute":
            return _output(
                await databases.execute(
                    config.url,
                    config.sql,
                    config.parameters,
                    allow_ddl=config.allow_ddl,
                    max_rows=config.max_rows,
                    timeout=_NEVER_FIRST_S,
                )
            )
        found = await databases.query(
            config.url, config.sql, config.parameters, max_rows=config.max_rows, timeout=_NEVER_FIRST_S
        )
        return _output(found)

    def _check_insert(self) -> Iterator[Finding]:
        try:
            quoted_table("sqlite", self.config.table)
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
        refusals = [text for dialect in dialects if (text := _refusal(dialect, config.sql, purpose))]
        if len(refusals) == len(dialects):
            if any(not _refusal(dialect, self._with_names(), purpose) for dialect in dialects):
                yield _misplaced("a {{ }} stands where a name is needed, not a value.")
            else:
                yield Finding(code="sql_refused", field="config.sql", message=refusals[0])
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
        columns=[{"name": column.name, "type": column.type} for column in found.columns],
        row_count=found.row_count,
        truncated=found.truncated,
    )
