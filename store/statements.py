"""Core statements compiled once, when first used, into what a raw connection takes; the writers run nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
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
    """A statement that is compiled when it is first used; calling it with parameters gives an operation.

    A process uses few of the two hundred that the repositories prepare: compiling all took a third of a command's start.
    """

    def __init__(self, statement: Executable, dialect: Dialect, *, returns: bool) -> None:
        self.returns = returns
        self._statement = statement
        self._dialect = dialect

    @cached_property
    def _compiled(self) -> tuple[str, dict[str, Any]]:
        compiled = self._statement.compile(dialect=self._dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        return str(compiled), {k: v for k, v in compiled.params.items() if v is not None}

    def __call__(self, **params: Any) -> Operation:
        """One execution."""
        sql, constants = self._compiled
        return Operation(sql, {**constants, **params}, self.returns)


class Compiler:
    """Compiles Core statements for one kind of database."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._dialect = _postgresql() if kind == "postgresql" else SQLiteDialect_pysqlite(paramstyle="named")

    def __call__(self, statement: Executable, *, returns: bool = False) -> Prepared:
        """Prepare; `returns` says whether rows come back."""
        return Prepared(statement, self._dialect, returns=returns)


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
