"""What gives hidden things under other names, so that it is hidden too.

Views over them, or over functions that are not known; tables that inherit from them or hold their rows; generated columns;
full-text and other virtual tables of SQLite with the tables that these keep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from interlace.engine.errors import NodeError
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.url import Dialect

VIEWS: dict[Dialect, str] = {
    "postgresql": """
        SELECT c.relname AS name, pg_catalog.pg_get_viewdef(c.oid) AS definition, '' AS parent, EXISTS (
            SELECT 1 FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.objid = r.oid
            LEFT JOIN pg_catalog.pg_operator o
                ON d.refclassid = 'pg_catalog.pg_operator'::regclass AND o.oid = d.refobjid
            JOIN pg_catalog.pg_proc f ON f.oid = CASE d.refclassid
                WHEN 'pg_catalog.pg_proc'::regclass THEN d.refobjid ELSE o.oprcode END
            JOIN pg_catalog.pg_language l ON l.oid = f.prolang
            WHERE r.ev_class = c.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
              AND l.lanname NOT IN ('internal', 'c')) AS calls
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        UNION ALL
        SELECT c.relname, '', p.relname, false FROM pg_catalog.pg_inherits i
        JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
        WHERE c.relkind IN ('r', 'p', 'f')""",
    "mysql": """
        SELECT table_name AS name, view_definition AS definition, '' AS parent FROM information_schema.views
        WHERE table_schema NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')""",
    "sqlite": """
        SELECT name, sql AS definition, '' AS parent FROM sqlite_schema
        WHERE type = 'view' OR (type = 'table' AND sql LIKE 'CREATE VIRTUAL%')
        UNION ALL
        SELECT s.name, '', v.name FROM pragma_table_list s JOIN pragma_table_list v ON v.type = 'virtual'
            AND s.type = 'shadow' AND substr(s.name, 1, length(v.name) + 1) = v.name || '_'""",
    "duckdb": "SELECT view_name AS name, sql AS definition, '' AS parent FROM duckdb_views() WHERE NOT internal",
}
"""What each database says of its views (`definition`) and of tables that have the columns of another one (`parent`)."""


GENERATED: dict[Dialect, str] = {
    "postgresql": """
        SELECT c.relname AS name, a.attname AS column, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression
        FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE to_jsonb(a) ->> 'attgenerated' <> ''""",
    "mysql": """
        SELECT table_name AS name, column_name AS `column`, generation_expression AS expression
        FROM information_schema.columns WHERE generation_expression <> ''""",
    "sqlite": """
        SELECT m.name AS name, x.name AS column, m.sql AS expression
        FROM sqlite_schema m, pragma_table_xinfo(m.name) x WHERE m.type = 'table' AND x.hidden IN (2, 3)""",
    "duckdb": """
        SELECT c.table_name AS name, c.column_name AS column, t.sql AS expression
        FROM duckdb_columns() c JOIN duckdb_tables() t ON t.table_oid = c.table_oid AND t.database_oid = c.database_oid
        WHERE NOT c.internal AND t.sql LIKE '% GENERATED %'""",
}
"""Columns that are computed from others; for SQLite and DuckDB the `expression` is the text that made the table."""
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\s+TABLE\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def widened(
    dialect: Dialect,
    hidden: Hidden,
    found: Sequence[Mapping[str, Any]],
    generated: Sequence[Mapping[str, Any]] = (),
) -> Hidden:
    """What is hidden, with all that would give it; what cannot be read counts as giving it.

    Args:
        dialect: of the database.
        hidden: what people hid.
        found: the answer to `VIEWS`.
        generated: the answer to `GENERATED`.
    """
    while True:
        tables, columns = set(hidden.tables), set(hidden.columns)
        for row in found:
            name, parent = str(row["name"]).lower(), str(row["parent"] or "").lower()
            if parent:
                # The rows of either stand in the other one.
                tables |= {name, parent} if hidden.tables & {name, parent} else set()
                for owner, column in hidden.columns:
                    columns |= {(name, column), (parent, column)} if owner in (name, parent) else set()
            elif name not in tables and (
                row.get("calls") or _gives(dialect, name, str(row["definition"] or ""), hidden)
            ):
                tables.add(name)
        for row in generated:
            columns |= _computed(dialect, row, hidden)
        wider = Hidden(frozenset(tables), frozenset(columns))
        if wider == hidden:
            return hidden
        hidden = wider


def _gives(dialect: Dialect, name: str, definition: str, hidden: Hidden) -> bool:
    from sqlglot import exp  # noqa: PLC0415 - the SQL parser loads when one is used

    from interlace.resources.databases.guarded import check_hidden  # noqa: PLC0415 - the same
    from interlace.resources.databases.policy import check_function, parsed  # noqa: PLC0415 - the same

    if _VIRTUAL.match(definition):
        # Its columns can be searched for without being named, and it may keep the text of another table.
        owners = hidden.tables | {owner for owner, _ in hidden.columns}
        return name in owners or bool(owners & set(_WORD.findall(definition.lower())))
    try:
        tree = parsed(dialect, definition)
        check_hidden(tree, hidden)
        for function in tree.find_all(exp.Func):
            check_function(dialect, function, "read")
    except NodeError:
        return True
    return False


def _computed(dialect: Dialect, row: Mapping[str, Any], hidden: Hidden) -> set[tuple[str, str]]:
    """The generated column, where a hidden one of its table stands in its expression."""
    name, column = str(row["name"]).lower(), str(row["column"]).lower()
    own = {entry for owner, entry in hidden.columns if owner == name}
    if not own or column in own:
        return set()
    expression = str(row["expression"] or "")
    if dialect in ("sqlite", "duckdb"):
        expression = _expression(dialect, expression, column)
    text = expression.lower()
    return {(name, column)} if any(entry in text for entry in own) else set()


def _expression(dialect: Dialect, statement: str, column: str) -> str:
    """What the text of a CREATE TABLE says of one column; all of it where it cannot be read."""
    from sqlglot import exp  # noqa: PLC0415 - see _gives

    from interlace.resources.databases.policy import parsed  # noqa: PLC0415 - the same

    try:
        tree = parsed(dialect, statement)
    except NodeError:
        return statement
    found = [entry for entry in tree.find_all(exp.ColumnDef) if entry.name.lower() == column]
    return (
        " ".join(str(part) for part in found[0].args.get("constraints") or ())
        if len(found) == 1
        else statement
    )
