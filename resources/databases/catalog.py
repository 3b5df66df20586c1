"""What a database holds, and what its user may do: the questions of the platform itself, each with fixed text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from interlace.resources.databases.url import Dialect

Facts = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of a connection test. `warnings` say what the user may do beyond what a workflow needs."""

    reachable: bool
    version: str = ""
    error: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """A table or view; `schema` is empty for SQLite and for DuckDB's `main`, `kind` is `table` or `view`."""

    schema: str
    name: str
    kind: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnInfo:
    """A column; `key` is `primary`, `foreign`, `unique` or empty."""

    name: str
    type: str
    nullable: bool
    key: str = ""
    description: str = ""


TABLES: dict[Dialect, str] = {
    "postgresql": """
        SELECT n.nspname AS schema, c.relname AS name,
               CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END AS kind,
               coalesce(obj_description(c.oid, 'pg_class'), '') AS description
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
          AND ($1 = '' OR n.nspname = $1) AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
          AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
        ORDER BY 1, 2""",
    "mysql": """
        SELECT table_schema AS `schema`, table_name AS name,
               CASE WHEN table_type LIKE '%%VIEW' THEN 'view' ELSE 'table' END AS kind,
               CASE WHEN table_type LIKE '%%VIEW' THEN '' ELSE table_comment END AS description
        FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1, 2""",
    "sqlite": """
        SELECT '' AS schema, name, type AS kind, '' AS description FROM sqlite_schema
        WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          AND name NOT IN (SELECT s.name FROM pragma_table_list s WHERE s.type = 'shadow') ORDER BY 2""",
    "duckdb": """
        SELECT CASE WHEN schema_name = 'main' THEN '' ELSE schema_name END AS schema, name, kind, coalesce(note, '') AS description
        FROM (SELECT schema_name, table_name AS name, 'table' AS kind, comment AS note, database_name, internal FROM duckdb_tables()
              UNION ALL
              SELECT schema_name, view_name, 'view', comment, database_name, internal FROM duckdb_views()) AS found
        WHERE NOT internal AND database_name = current_database() ORDER BY 1, 2""",
}

COLUMNS: dict[Dialect, str] = {
    "postgresql": """
        SELECT a.attname AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
               coalesce((SELECT CASE min(CASE k.contype WHEN 'p' THEN 1 WHEN 'f' THEN 2 ELSE 3 END)
                                WHEN 1 THEN 'primary' WHEN 2 THEN 'foreign' ELSE 'unique' END
                         FROM pg_catalog.pg_constraint k WHERE k.conrelid = a.attrelid AND a.attnum = ANY (k.conkey)
                           AND k.contype IN ('p', 'f', 'u') HAVING count(*) > 0), '') AS key,
               coalesce(col_description(a.attrelid, a.attnum), '') AS description
        FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""",
    "mysql": """
        SELECT column_name AS name, column_type AS type, is_nullable = 'YES' AS nullable,
               CASE WHEN column_key = 'PRI' THEN 'primary'
                    WHEN EXISTS (SELECT 1 FROM information_schema.key_column_usage u
                                 WHERE u.table_schema = c.table_schema AND u.table_name = c.table_name
                                   AND u.column_name = c.column_name AND u.referenced_table_name IS NOT NULL)
                    THEN 'foreign' WHEN column_key = 'UNI' THEN 'unique' ELSE '' END AS `key`,
               column_comment AS description
        FROM information_schema.columns c
        WHERE table_schema = DATABASE() AND table_name = %s ORDER BY ordinal_position""",
    "sqlite": """
        SELECT t.name AS name, t.type AS type, NOT t."notnull" AND NOT t.pk AS nullable,
               CASE WHEN t.pk THEN 'primary' WHEN f."from" IS NOT NULL THEN 'foreign' ELSE '' END AS key,
               '' AS description
        FROM pragma_table_xinfo(?1) t LEFT JOIN pragma_foreign_key_list(?1) f ON f."from" = t.name
        WHERE t.hidden <> 1 GROUP BY t.cid ORDER BY t.cid""",
    "duckdb": """
        SELECT c.column_name AS name, c.data_type AS type, c.is_nullable AS nullable,
               coalesce((SELECT CASE min(CASE k.constraint_type WHEN 'PRIMARY KEY' THEN 1 WHEN 'FOREIGN KEY' THEN 2 ELSE 3 END)
                                WHEN 1 THEN 'primary' WHEN 2 THEN 'foreign' ELSE 'unique' END
                         FROM duckdb_constraints() k
                         WHERE k.table_oid = c.table_oid AND k.database_oid = c.database_oid
                           AND k.constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY', 'UNIQUE')
                           AND list_contains(k.constraint_column_names, c.column_name)
                         HAVING count(*) > 0), '') AS key,
               coalesce(c.comment, '') AS description
        FROM duckdb_columns() c
        WHERE c.database_name = current_database() AND NOT c.internal
          AND $1 IN (c.schema_name || '.' || c.table_name, CASE WHEN c.schema_name = 'main' THEN c.table_name END)
        ORDER BY c.column_index""",
}

RIGHTS: dict[Dialect, str] = {
    "postgresql": """
        SELECT current_setting('server_version') AS version, r.rolsuper AS super, r.rolcreaterole AS makes_roles,
               pg_has_role(current_user, 'pg_read_server_files', 'USAGE') AS reads_files,
               pg_has_role(current_user, 'pg_write_server_files', 'USAGE') AS writes_files,
               pg_has_role(current_user, 'pg_execute_server_program', 'USAGE') AS runs_programs,
               (SELECT count(*) FROM pg_catalog.pg_class c WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p')
                  AND c.oid >= 16384) AS owned  -- those below are the server's own catalogues
        FROM pg_catalog.pg_roles r WHERE r.rolname = current_user""",
    "mysql": """
        SELECT version() AS version, privilege_type AS privilege FROM information_schema.user_privileges
        WHERE grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')""",
    "sqlite": "SELECT sqlite_version() AS version",
    "duckdb": "SELECT version() AS version",
}

_POSTGRES_WARNINGS = {
    "super": "The role is a superuser: it reads and writes every table and the server's files.",
    "makes_roles": "The role may create roles.",
    "reads_files": "The role may read files of the server (pg_read_server_files).",
    "writes_files": "The role may write files of the server (pg_write_server_files).",
    "runs_programs": "The role may run programs on the server (pg_execute_server_program).",
}
_MYSQL_WARNINGS = {
    "SUPER": "The user has SUPER: it changes settings of the whole server.",
    "FILE": "The user has FILE: it reads and writes files of the server.",
    "CREATE USER": "The user may create users.",
    "GRANT OPTION": "The user may hand on its rights.",
    "PROCESS": "The user sees the statements of other users (PROCESS).",
    "SHUTDOWN": "The user may stop the server.",
    "DROP": "The user may drop tables of every database.",
}
_ADVICE = "Use a role of its own that only has SELECT on what workflows need."


def report(dialect: Dialect, facts: Facts) -> Report:
    """The report of a reachable database from the answer to `RIGHTS`."""
    if not facts:
        return Report(reachable=True, warnings=["What the user may do could not be read."])
    warnings: list[str] = []
    if dialect == "postgresql":
        warnings = [text for name, text in _POSTGRES_WARNINGS.items() if facts[0][name]]
        if facts[0]["owned"]:
            warnings.append(f"The role owns {facts[0]['owned']} tables, so it may alter and drop them.")
    elif dialect == "mysql":
        held = {str(fact["privilege"]).upper() for fact in facts}
        warnings = [text for name, text in _MYSQL_WARNINGS.items() if name in held]
    if warnings:
        warnings.append(_ADVICE)
    return Report(reachable=True, version=str(facts[0]["version"]), warnings=warnings)
