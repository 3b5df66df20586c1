"""Core statements compiled once into what a raw connection takes; the writers run nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Double, Executable, Text, func
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


@dataclass(slots=True)
class Operation:
    """One execution of a statement within a commit; `rows` holds what it returned, once it ran."""

    sql: str
    params: dict[str, Any]
    returns: bool
    rows: list[tuple[Any, ...]] = field(default_factory=list)


class Prepared:
    """A compiled statement; calling it with parameters gives an operation."""

    __slots__ = ("_constants", "returns", "sql")

    def __init__(self, sql: str, constants: dict[str, Any], *, returns: bool) -> None:
        self.sql = sql
        self.returns = returns
        self._constants = constants

    def __call__(self, **params: Any) -> Operation:
        """One execution."""
        return Operation(self.sql, {**self._constants, **params}, self.returns)


class Compiler:
    """Compiles Core statements for one kind of database."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._dialect = _postgresql() if kind == "postgresql" else SQLiteDialect_pysqlite(paramstyle="named")

    def __call__(self, statement: Executable, *, returns: bool = False) -> Prepared:
        """Compile; `returns` says whether rows come back."""
        compiled = statement.compile(dialect=self._dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        return Prepared(
            str(compiled), {k: v for k, v in compiled.params.items() if v is not None}, returns=returns
        )


def _postgresql() -> Dialect:
    from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg  # noqa: PLC0415 - PostgreSQL only

    return PGDialect_psycopg()  # type: ignore[no-untyped-call]


class Now(FunctionElement[float]):
    """The database's clock in Unix seconds: leases of several machines are measured by one clock."""

    type = Double()
    inherit_cache = True
    name = "now_seconds"


@compiles(Now, "sqlite")
def _sqlite_now(element: Now, compiler: SQLCompiler, **kwargs: Any) -> str:
    del element, compiler, kwargs
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _postgresql_now(element: Now, compiler: SQLCompiler, **kwargs: Any) -> str:
    del element, kwargs
    return compiler.process(func.date_part("epoch", func.clock_timestamp(type_=Text)))
