"""Databases as stored resources: defined once, used by name from workflows and agents with the user's own rights."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, model_validator

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.databases.catalog import Report
from interlace.resources.databases.databases import MAX_EXPORTED_ROWS, MAX_ROWS, Databases
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.url import FILES, DatabaseUrl
from interlace.resources.lookup import usable
from interlace.resources.secrets import SecretField, Secrets, reveal_in
from interlace.store.resources import Resource, ResourceRepository

KIND: Final = "database"
_CACHE_SECONDS: Final = 300.0


class TableNote(BaseModel):
    """What people should know of a table."""

    model_config = ConfigDict(extra="forbid")

    description: str = ""
    columns: dict[str, str] = Field(default_factory=dict, description="Column name → description.")


class DatabaseDefinition(BaseModel):
    """A stored database. A `url` may be given in place of the fields; its password becomes a secret."""

    model_config = ConfigDict(extra="forbid")

    dialect: Literal["sqlite", "postgresql", "mysql", "duckdb"]
    host: str = ""
    port: int = Field(0, ge=0, le=65535)
    database: str = Field(min_length=1, description="Name of the database; of SQLite and DuckDB the file.")
    user: str = ""
    password: SecretField | None = None
    sslmode: str = "prefer"
    db_schema: str = Field("", alias="schema", description="PostgreSQL: the schema that is looked at.")
    description: str = ""
    allow_writes: bool = Field(False, description="Whether execute and insert_many may be used.")
    confirmation: Literal["model", "always"] = Field(
        "model",
        description="Whose writes a person confirms: those a model chose, always also those of nodes.",
    )
    tables: dict[str, TableNote] = Field(default_factory=dict, description="Table name → what to know of it.")
    hidden_tables: list[str] = Field(default_factory=list)
    hidden_columns: dict[str, list[str]] = Field(
        default_factory=dict, description="Table name → columns that no statement may name."
    )
    max_rows: int = Field(MAX_ROWS, ge=1, le=100_000)
    max_exported_rows: int = Field(
        MAX_EXPORTED_ROWS, ge=1, le=1_000_000_000, description="Rows of a result that goes to a file."
    )
    timeout: float = Field(300.0, gt=0, le=3600, description="Seconds until a statement is cancelled.")

    @model_validator(mode="before")
    @classmethod
    def _from_url(cls, raw: Any) -> Any:
        """Take a URL apart, so that no password stands in a text."""
        if not isinstance(raw, dict) or "url" not in raw:
            return raw
        try:
            found = DatabaseUrl.parse(str(raw["url"]))
        except NodeError as error:
            raise ValueError(error.message) from None
        fields: dict[str, Any] = {
            "dialect": found.dialect, "host": found.host, "port": found.port, "database": found.database,
            "user": found.user, "sslmode": found.sslmode, "schema": found.schema,
        }  # fmt: skip
        if found.password:
            fields["password"] = found.password
        return {**fields, **{key: value for key, value in raw.items() if key != "url"}}

    @model_validator(mode="after")
    def _checked(self) -> DatabaseDefinition:
        try:
            DatabaseUrl.parse(url_of(self.model_dump(by_alias=True), ""))
        except NodeError as error:
            raise ValueError(error.message) from None
        return self

    @property
    def hidden(self) -> Hidden:
        """What no statement may name."""
        return Hidden.of(self.hidden_tables, self.hidden_columns)


def url_of(fields: Mapping[str, Any], password: str) -> str:
    """The URL of a definition's fields."""
    name = quote(str(fields["database"]), safe="/" if fields["dialect"] in FILES else "")
    if fields["dialect"] in FILES:
        return f"{fields['dialect']}:///{name}"
    host = f"[{fields['host']}]" if ":" in fields["host"] else fields["host"]
    port = f":{fields['port']}" if fields.get("port") else ""
    credentials = quote(str(fields.get("user", "")), safe="") + (
        f":{quote(password, safe='')}" if password else ""
    )
    options = f"?sslmode={fields.get('sslmode') or 'prefer'}"
    if fields["dialect"] == "postgresql" and fields.get("schema"):
        options += f"&schema={fields['schema']}"
    return f"{fields['dialect']}://{credentials}@{host}{port}/{name}{options}"


def reach_of(fields: Mapping[str, Any]) -> tuple[object, ...]:
    """What of a definition says to whom its password is sent, and how well it is kept on the way."""
    return tuple(fields.get(key) for key in ("dialect", "host", "port", "sslmode"))


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """A stored database ready for use; `url` holds the password and is never shown."""

    resource: Resource
    definition: DatabaseDefinition
    url: str


class StoredDatabases:
    """Finds stored databases with the rights of a principal."""

    def __init__(self, resources: ResourceRepository, secrets: Secrets, databases: Databases) -> None:
        self._resources = resources
        self._secrets = secrets
        self._databases = databases
        self._known: dict[tuple[str, int], tuple[float, list[dict[str, Any]]]] = {}

    async def open(
        self, name: str, *, by: Principal, hide: Callable[[str, str], None] | None = None
    ) -> OpenDatabase:
        """A database by name or id, its password revealed; nothing is connected.

        Raises:
            NodeError: `resource_not_found`.
            NotFoundError: its secret is gone.
            SecretKeyError: its password cannot be decrypted.
        """
        found = await usable(self._resources, KIND, name, by=by)
        definition = DatabaseDefinition.model_validate(found.definition)
        secret = {key: value for key, value in found.definition.items() if key == "password"}
        revealed = await reveal_in(secret, secrets=self._secrets, by=by, resource=found, hide=hide)
        password = str(revealed.get("password") or "")
        return OpenDatabase(found, definition, url_of(found.definition, password))

    async def test(self, name: str, *, by: Principal) -> Report:
        """Try the connection; raises as `open`."""
        return await self._databases.check((await self.open(name, by=by)).url)

    async def tables(self, name: str, *, by: Principal) -> list[dict[str, Any]]:
        """Visible tables with their visible columns and descriptions; kept for five minutes, or until a change.

        Raises:
            NodeError: as `open`; the database may not or cannot be reached.
        """
        opened = await self.open(name, by=by)
        key = (opened.resource.id, opened.resource.version)
        kept = self._known.get(key)
        if kept is None or kept[0] < time.monotonic():
            found = await self._introspect(opened)
            self._known = {other: entry for other, entry in self._known.items() if other[0] != key[0]}
            kept = self._known[key] = (time.monotonic() + _CACHE_SECONDS, found)
        return kept[1]

    async def query(
        self, name: str, sql: str, values: Mapping[str, Any], *, by: Principal, max_rows: int
    ) -> dict[str, Any]:
        """`{columns, rows, row_count, truncated, elapsed_ms}` of a statement that only reads. Raises as `Databases.query`."""
        opened = await self.open(name, by=by)
        limits = opened.definition
        began = time.monotonic()
        result = await self._databases.query(
            opened.url, sql, values, max_rows=min(max_rows, limits.max_rows), timeout=limits.timeout,
            hidden=limits.hidden or None,
        )  # fmt: skip
        return {
            "columns": [column.name for column in result.columns], "rows": result.rows, "row_count": result.row_count, "truncated": result.truncated,
            "elapsed_ms": round((time.monotonic() - began) * 1000, 1),
        }  # fmt: skip

    def known_tables(self, database_id: str, version: int) -> list[dict[str, Any]] | None:
        """What `tables` gave last for this version of a database that the caller looked up; nothing is connected."""
        kept = self._known.get((database_id, version))
        return None if kept is None else kept[1]

    async def _introspect(self, opened: OpenDatabase) -> list[dict[str, Any]]:
        definition, hidden, listed = opened.definition, opened.definition.hidden, list[dict[str, Any]]()
        if hidden:
            hidden = await self._databases.hides(opened.url, hidden)
        for table in await self._databases.tables(opened.url):
            full = f"{table.schema}.{table.name}" if table.schema else table.name
            if hidden.hides(table.name):
                continue
            note = definition.tables.get(full) or definition.tables.get(table.name) or TableNote()
            target = full if definition.dialect in ("postgresql", "duckdb") else table.name
            columns = [
                {
                    "name": column.name, "type": column.type, "nullable": column.nullable, "key": column.key,
                    "description": note.columns.get(column.name) or column.description,
                }
                for column in await self._databases.columns(opened.url, target)
                if not hidden.hides(table.name, column.name)
            ]  # fmt: skip
            listed.append(
                {
                    "name": full, "kind": table.kind, "description": note.description or table.description,
                    "columns": columns,
                }
            )  # fmt: skip
        return listed
