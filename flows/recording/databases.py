"""Databases as recorded and offline runs see them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from interlace.engine.principal import Principal
from interlace.engine.protocols import Files, FileValue
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.databases import Databases
from interlace.resources.databases.databases import (
    MAX_BYTES,
    MAX_EXPORTED_BYTES,
    MAX_EXPORTED_ROWS,
    MAX_ROWS,
    TIMEOUT_S,
)
from interlace.resources.databases.export import Exported, Format
from interlace.resources.databases.flight import Stream
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.result import Column, QueryResult, Row, WriteResult
from interlace.resources.databases.stored import DatabaseDefinition, OpenDatabase, StoredDatabases
from interlace.store.resources import Resource

R = TypeVar("R", QueryResult, WriteResult)
T = TypeVar("T")

_USER = re.compile(r"//[^@/]*@")


def _form(result_type: type[R]) -> Form[R]:
    def restored(kept: Any) -> R:
        columns = [Column(**column) for column in kept["columns"]]
        return result_type(**{**kept, "columns": columns})

    return Form(asdict, restored)


def _exported(kept: Any) -> Exported:
    columns = [Column(**column) for column in kept["columns"]]
    return Exported(**{**kept, "columns": columns, "file": FileValue(**kept["file"])})


_QUERY, _WRITE = _form(QueryResult), _form(WriteResult)
_EXPORT: Form[Exported] = Form(asdict, _exported)


class RecordedDatabases(Databases):
    """The statements of one attempt of a node."""

    def __init__(self, databases: Databases, outside: Outside) -> None:
        self._databases = databases
        self._outside = outside

    async def query(
        self, url: str, sql: str, parameters: Mapping[str, object] | None = None, *, max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES, timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - as the wrapped class has it
        stream: Stream | None = None, tables: frozenset[str] | None = None, hidden: Hidden | None = None,
    ) -> QueryResult:  # fmt: skip
        """Rows of one statement that only reads; rows that are streamed are kept too."""
        streamed: list[Row] = []

        async def pass_on(rows: list[Row]) -> None:
            assert stream is not None
            streamed.extend(rows)
            await stream(rows)

        async def perform() -> QueryResult:
            found = await self._databases.query(
                url, sql, parameters, max_rows=max_rows, max_bytes=max_bytes, timeout=timeout,
                stream=None if stream is None else pass_on, tables=tables, hidden=hidden,
            )  # fmt: skip
            if stream is None:
                return found
            return QueryResult(
                rows=streamed, columns=found.columns, row_count=found.row_count, truncated=found.truncated
            )

        request = {"sql": sql, "parameters": dict(parameters or {}), "max_rows": max_rows}
        found = await self._ask("query", url, request, perform, _QUERY)
        if stream is None:
            return found
        if self._outside.offline and found.rows:
            await stream(found.rows)
        return QueryResult(
            rows=[], columns=found.columns, row_count=found.row_count, truncated=found.truncated
        )

    async def export(
        self, url: str, sql: str, parameters: Mapping[str, object] | None = None, *, files: Files, name: str,
        how: Format = "jsonl", max_rows: int = MAX_EXPORTED_ROWS, max_bytes: int = MAX_EXPORTED_BYTES,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - as the wrapped class has it
        hidden: Hidden | None = None,
    ) -> Exported:  # fmt: skip
        """Rows as a file. The record keeps the reference: a replay holds the files of the run that it is of."""
        request = {"sql": sql, "parameters": dict(parameters or {}), "max_rows": max_rows, "how": how}
        return await self._ask(
            "export", url, request,
            lambda: self._databases.export(
                url, sql, parameters, files=files, name=name, how=how, max_rows=max_rows, max_bytes=max_bytes,
                timeout=timeout, hidden=hidden,
            ),
            _EXPORT,
        )  # fmt: skip

    async def execute(
        self, url: str, sql: str, parameters: Mapping[str, object] | None = None, *, allow_ddl: bool = False,
        max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - as the wrapped class has it
        tables: frozenset[str] | None = None, hidden: Hidden | None = None,
    ) -> WriteResult:  # fmt: skip
        """Do one INSERT, UPDATE, DELETE or MERGE."""
        return await self._ask(
            "execute", url, {"sql": sql, "parameters": dict(parameters or {}), "max_rows": max_rows},
            lambda: self._databases.execute(
                url, sql, parameters, allow_ddl=allow_ddl, max_rows=max_rows, max_bytes=max_bytes, timeout=timeout,
                tables=tables, hidden=hidden,
            ),
            _WRITE,
        )  # fmt: skip

    async def insert_many(
        self, url: str, table: str, rows: Sequence[Mapping[str, object]], *,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109 - as the wrapped class has it
        tables: frozenset[str] | None = None, hidden: Hidden | None = None,
    ) -> WriteResult:  # fmt: skip
        """Insert rows, all or none."""
        return await self._ask(
            "insert_many", url, {"table": table, "rows": [dict(row) for row in rows]},
            lambda: self._databases.insert_many(url, table, rows, timeout=timeout, tables=tables, hidden=hidden),
            _WRITE,
        )  # fmt: skip

    async def _ask(
        self,
        operation: str,
        url: str,
        request: dict[str, Any],
        perform: Callable[[], Awaitable[T]],
        form: Form[T],
    ) -> T:
        request |= {"operation": operation, "url": self._shown(url)}
        return await self._outside.ask("database", request, perform, form)

    def _shown(self, url: str) -> str:
        if "secrets" in self._outside.caller.config_text:
            return "[secret]"  # any part of it may be one
        return _USER.sub("//", url)


class RecordedStored(StoredDatabases):
    """The stored databases that one attempt of a node uses: as they were defined, without user and password."""

    def __init__(self, stored: StoredDatabases, outside: Outside) -> None:
        self._stored = stored
        self._outside = outside

    async def open(
        self, name: str, *, by: Principal, hide: Callable[[str, str], None] | None = None
    ) -> OpenDatabase:
        """A database by name or id; of a replay, its address is that of the recorded run and opens nothing."""
        return await self._outside.ask(
            "database.open", {"database": name}, lambda: self._stored.open(name, by=by, hide=hide), _OPENED
        )

    async def tables(self, name: str, *, by: Principal) -> list[dict[str, Any]]:
        """Visible tables with their columns."""
        return await self._outside.ask(
            "database.tables", {"database": name}, lambda: self._stored.tables(name, by=by), _TABLES
        )


def _opened_kept(opened: OpenDatabase) -> dict[str, Any]:
    return {
        "resource": asdict(replace(opened.resource, definition={})),
        "definition": opened.definition.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"password"}
        ),
        "url": _USER.sub("//", opened.url),
    }


def _opened_restored(kept: Any) -> OpenDatabase:
    definition = DatabaseDefinition.model_validate(kept["definition"])
    return OpenDatabase(Resource(**kept["resource"]), definition, kept["url"])


_OPENED: Form[OpenDatabase] = Form(_opened_kept, _opened_restored)
_TABLES: Form[list[dict[str, Any]]] = Form(lambda found: found, lambda kept: kept)
