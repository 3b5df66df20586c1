"""What a database holds, by the names that statements use: asked where something is hidden, so that only known names pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.url import Dialect

RELATIONS: dict[Dialect, str] = {
    "postgresql": """
        SELECT n.nspname AS schema, c.relname AS name, pg_catalog.pg_table_is_visible(c.oid) AS here
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'""",
    "mysql": """
        SELECT table_schema AS `schema`, table_name AS name, table_schema = DATABASE() AS here FROM information_schema.tables
        WHERE table_schema NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')""",
    "sqlite": """
        SELECT schema, name, 1 AS here FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'""",
    "duckdb": """
        SELECT schema_name AS schema, name, schema_name = current_schema() AS here
        FROM (SELECT schema_name, table_name AS name, database_name, internal FROM duckdb_tables()
              UNION ALL SELECT schema_name, view_name, database_name, internal FROM duckdb_views()) AS found
        WHERE NOT internal AND database_name = current_database()""",
}
"""Tables and views; `here` says that a name without schema means this one."""

COLUMNS_OF: dict[Dialect, str] = {
    "postgresql": """
        SELECT n.nspname AS schema, c.relname AS name, a.attname AS column
        FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE lower(c.relname) = $1 AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        ORDER BY 1, 2, a.attnum""",
    "mysql": """
        SELECT table_schema AS `schema`, table_name AS name, column_name AS `column` FROM information_schema.columns
        WHERE lower(table_name) = %s ORDER BY 1, 2, ordinal_position""",
    "sqlite": """
        SELECT l.schema AS schema, l.name AS name, x.name AS column
        FROM pragma_table_list l, pragma_table_xinfo(l.name) x
        WHERE lower(l.name) = ?1 AND l.schema = 'main' AND x.hidden <> 1 ORDER BY x.cid""",
    "duckdb": """
        SELECT schema_name AS schema, table_name AS name, column_name AS column FROM duckdb_columns()
        WHERE lower(table_name) = $1 AND database_name = current_database() AND NOT internal ORDER BY 1, 2, column_index""",
}
"""The columns of the tables of one name, in lower case."""

OWN_FUNCTIONS: dict[Dialect, str] = {
    "postgresql": """
        SELECT p.proname AS name FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
        JOIN pg_catalog.pg_language l ON l.oid = p.prolang
        WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND l.lanname NOT IN ('internal', 'c')""",
    "mysql": """
        SELECT routine_name AS name FROM information_schema.routines
        WHERE routine_schema NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')""",
    "sqlite": "SELECT '' AS name WHERE false",
    "duckdb": "SELECT function_name AS name FROM duckdb_functions() WHERE NOT internal",
}
"""Functions that people made: one of them may have the name of a harmless one, and read anything."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view; `columns` are the visible ones, known only of tables with hidden ones."""

    schema: str
    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What is hidden in a database all in all, and every table that may be named there.

    Args:
        hidden: with views and tables that would give what is hidden.
        plain: by the name without schema.
        qualified: by `(schema, name)`.
        functions: names, in lower case, of functions that people made.
    """

    hidden: Hidden
    plain: Mapping[str, Relation] = field(default_factory=dict)
    qualified: Mapping[tuple[str, str], Relation] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()

    def find(self, schema: str, name: str) -> Relation | None:
        """The table of a name as the server resolves it, see `folded`; None where there is none."""
        return self.qualified.get((schema, name)) if schema else self.plain.get(name)


def folded(dialect: Dialect, name: str, *, quoted: bool) -> str:
    """A name as the server compares it: PostgreSQL keeps the letter case of quoted ones, the others have none."""
    return name if dialect == "postgresql" and quoted else name.lower()


def known(
    dialect: Dialect,
    hidden: Hidden,
    found: Iterable[Mapping[str, Any]],
    columns: Iterable[Mapping[str, Any]],
    functions: Iterable[Mapping[str, Any]] = (),
) -> Known:
    """From the answers to `RELATIONS`, `OWN_FUNCTIONS` and, for each table with hidden columns, `COLUMNS_OF`."""
    shown: dict[tuple[str, str], list[str]] = {}
    for row in columns:
        if not hidden.hides(str(row["name"]), str(row["column"])):
            shown.setdefault((str(row["schema"]), str(row["name"])), []).append(str(row["column"]))
    plain: dict[str, Relation] = {}
    qualified: dict[tuple[str, str], Relation] = {}
    for row in found:
        schema, name = str(row["schema"]), str(row["name"])
        if name.lower() in hidden.tables:
            continue
        relation = Relation(schema, name, tuple(shown.get((schema, name), ())))
        key = folded(dialect, name, quoted=True)
        space = folded(dialect, schema, quoted=True)
        twin = qualified.get((space, key))
        if twin is not None:
            # Two tables that differ in letter case alone: only columns that both show are sure.
            both = tuple(column for column in twin.columns if column in relation.columns)
            relation = Relation(schema, name, both)
        qualified[space, key] = relation
        if row["here"]:
            plain[key] = relation
    return Known(hidden, plain, qualified, frozenset(str(row["name"]).lower() for row in functions))
