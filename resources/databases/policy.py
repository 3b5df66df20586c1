"""The first wall: what a statement is, decided by its syntax tree before any server sees it.

The second wall is the read-only transaction, the third the cursor and the limits of each server.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Grammar
from sqlglot.errors import SqlglotError

from interlace.engine.errors import NodeError
from interlace.resources.databases import grammar
from interlace.resources.databases.guarded import check_hidden
from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.text import refused, skeleton
from interlace.resources.databases.url import Dialect
from interlace.resources.databases.written import check_written

Purpose = Literal["read", "write", "ddl"]

# The parser's warnings repeat the statement.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_WRITTEN = "written"
_GRAMMARS: dict[Dialect, str] = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
_REPLACE = re.compile(r"\A\s*REPLACE\b(?=\s)", re.IGNORECASE)
_UPDATE_OR = re.compile(r"\bUPDATE\s+OR\s+(?:ABORT|FAIL|IGNORE|REPLACE)\b", re.IGNORECASE)
_DUCK_NAME = re.compile(r"[^\W\d][\w $-]*")
_READ_HINT = "Use the operation 'execute' for a statement that changes data."
_NAMING = (exp.TableAlias, exp.Table, exp.Schema, exp.Column, exp.Dot, exp.Identifier, exp.CTE)
_HINTS = {
    "Into": "INTO writes; select the columns and use the rows.",
    "Lock": "Locking reads (FOR UPDATE, FOR SHARE) belong to a transaction; this one only reads.",
    "Insert": _READ_HINT,
    "Update": _READ_HINT,
    "Delete": _READ_HINT,
    "Merge": _READ_HINT,
    "Describe": "Use the list of tables and columns; plans are not shown here.",
    "Show": "Use the list of tables and columns.",
    "Pragma": "Settings are made by the platform; use the list of tables and columns.",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What the policy found: the purpose, and whether rows come back."""

    purpose: Purpose
    returns_rows: bool


@lru_cache(maxsize=256)
def check(
    dialect: Dialect,
    sql: str,
    purpose: Purpose = "read",
    tables: frozenset[str] | None = None,
    hidden: Hidden | None = None,
) -> Statement:
    """Decide whether `sql` is one statement of the given purpose made only of allowed parts.

    `ddl` allows writes too. With `tables` (lower case, `name` or `schema.name`) only those may be named; what is
    `hidden` may not be named, nor given unnamed.

    Raises:
        NodeError: kind `sql_refused`, saying what is not allowed and what to use.
    """
    text = readable(dialect, sql)
    tree = parsed(dialect, text)
    kind = type(tree).__name__
    found: Purpose
    if kind in grammar.READ_ROOTS and not _writes(tree):
        found = "read"
    elif kind in grammar.WRITE_ROOTS or (dialect == "postgresql" and kind == "Select"):
        found = "write"
    elif kind in grammar.DDL_ROOTS:
        found = "ddl"
    else:
        raise _not_allowed(tree, purpose)
    _fits(found, purpose, tree)
    for node in tree.walk():
        _check_node(dialect, node, found)
        if tables is not None and isinstance(node, exp.Table):
            _check_visible(node, tables)
    check_written(dialect, tree, text)
    if hidden:
        check_hidden(tree, hidden)
    returns = found == "read" or kind == "Select" or tree.args.get("returning") is not None
    return Statement(found, returns)


def writes(dialect: Dialect, sql: str) -> bool:
    """Whether a statement changes something, so that a person is asked before a model may run it.

    Raises:
        NodeError: kind `sql_refused`: it is no statement that is allowed for any purpose.
    """
    try:
        return check(dialect, sql, "read").purpose != "read"
    except NodeError:
        return check(dialect, sql, "ddl").purpose != "read"


def readable(dialect: Dialect, sql: str) -> str:
    """The text that is parsed: that of `skeleton`, as long, with what the parser does not know replaced by what it does.

    Raises:
        NodeError: kind `sql_refused`, see `skeleton`.
    """
    text = skeleton(dialect, sql)
    if dialect in ("sqlite", "mysql"):
        text = _REPLACE.sub(lambda found: found[0][: -len("REPLACE")] + "INSERT ", text)
        text = _UPDATE_OR.sub(lambda found: "UPDATE".ljust(len(found[0])), text)
    return text


def parsed(dialect: Dialect, text: str) -> exp.Expr:
    """The tree of one statement.

    Raises:
        NodeError: kind `sql_refused`: it cannot be read, is empty, or is more than one.
    """
    reader = Grammar.get_or_raise(_GRAMMARS[dialect])
    reader.ORIGINAL_NAME_META_KEY = _WRITTEN
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=reader) if tree is not None]
    except RecursionError:
        raise refused("it is nested too deeply to be read") from None
    except (SqlglotError, ValueError) as error:
        reason = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()[0][:200]
        raise refused(
            f"it cannot be read as {dialect} SQL ({reason})", "Write one plain statement."
        ) from None
    if not trees:
        raise refused("it is empty")
    if len(trees) > 1:
        raise refused(f"it holds {len(trees)} statements", "Use one node for each statement.")
    return trees[0]


def _writes(tree: exp.Expr) -> bool:
    return any(type(node).__name__ in grammar.WRITE_ROOTS for node in tree.walk())


def _fits(found: Purpose, purpose: Purpose, tree: exp.Expr) -> None:
    if purpose == "read" and found != "read":
        what = "it changes tables or other objects" if found == "ddl" else f"it holds {_writer(tree)}"
        raise refused(what, f"{_READ_HINT}")
    if purpose != "read" and found == "read":
        raise refused("it only reads", "Use the operation 'query'.")
    if purpose == "write" and found == "ddl":
        raise refused(f"it is {type(tree).__name__.upper()} (DDL)", "Allow it with 'allow_ddl'.")


def _writer(tree: exp.Expr) -> str:
    return next(
        (type(node).__name__.upper() for node in tree.walk() if type(node).__name__ in grammar.WRITE_ROOTS),
        "a write",
    )


def _not_allowed(tree: exp.Expr, purpose: Purpose) -> NodeError:
    kind = type(tree).__name__
    word = tree.name.upper() if isinstance(tree, exp.Command) else kind.upper()
    allowed = {
        "read": "SELECT, VALUES or WITH … SELECT",
        "write": "INSERT, UPDATE, DELETE or MERGE",
        "ddl": "INSERT, UPDATE, DELETE, MERGE, CREATE, ALTER, DROP or TRUNCATE",
    }[purpose]
    return refused(f"{word[:40]} is no statement for this operation", _HINTS.get(kind, f"Use {allowed}."))


def _check_node(dialect: Dialect, node: exp.Expr, purpose: Purpose) -> None:
    kind = type(node).__name__
    if isinstance(node, exp.Func):
        check_function(dialect, node, purpose)
        return
    allowed = {"read": grammar.READ_NODES, "write": grammar.WRITE_NODES, "ddl": grammar.DDL_NODES}[purpose]
    if kind not in allowed:
        raise refused(f"{kind} is not allowed here", _HINTS.get(kind, ""))
    if isinstance(node, exp.Placeholder):
        _check_placeholder(node)
    if isinstance(node, exp.Table):
        _check_table(dialect, node, purpose)
    elif isinstance(node, exp.Update) and not node.expressions and not isinstance(node.parent, exp.When):
        raise refused("an UPDATE that sets nothing")
    elif isinstance(node, (exp.Create, exp.Drop, exp.Alter)):
        if str(node.args.get("kind", "")).upper() not in grammar.DDL_KINDS:
            raise refused(
                f"{kind.upper()} {node.args.get('kind')} is not allowed", "Tables, views and indexes are."
            )
    elif isinstance(node, exp.EngineProperty) and node.name.lower() not in grammar.ENGINES:
        raise refused(
            f"the engine {node.name!r} is not allowed", f"Use {', '.join(sorted(grammar.ENGINES))}."
        )


def _check_placeholder(node: exp.Placeholder) -> None:
    if isinstance(node.parent, (exp.Ordered, exp.Group)):
        raise refused(
            "a parameter in ORDER BY or GROUP BY, which would be a constant",
            "Write the column, or a CASE over it.",
        )
    if isinstance(node.parent, _NAMING) or node.arg_key == "alias":
        raise refused("a parameter in place of a name", "Names of tables and columns are written out.")


def written_name(node: exp.Func) -> str:
    """The name of a function as it stands in the statement; empty where only syntax calls it."""
    return node.name if isinstance(node, exp.Anonymous) else str(node.meta.get(_WRITTEN) or "")


def check_function(dialect: Dialect, node: exp.Func, purpose: Purpose) -> None:
    """Refuse a function that is not on the list; raises NodeError of kind `sql_refused`."""
    written = written_name(node)
    kind = type(node).__name__
    if not written:
        if kind not in grammar.NAMELESS:
            raise refused(f"{kind} is not allowed")
        return
    name = written.lower()
    known = name in grammar.FUNCTIONS[dialect]
    if not known and (purpose == "read" or name not in grammar.WRITE_FUNCTIONS[dialect]):
        raise refused(f"the function {written!r} is not on the list of allowed functions for {dialect}")
    parent = node.parent
    schema = ""
    if isinstance(parent, exp.Dot) and parent.expression is node:
        schema = parent.this.sql()
    elif isinstance(parent, exp.Table):
        schema = parent.db
    if schema and not (dialect == "postgresql" and schema.lower() == "pg_catalog"):
        raise refused(f"the function {schema}.{written} is not one of the server's own")


def _check_table(dialect: Dialect, table: exp.Table, purpose: Purpose) -> None:
    name, schema = table.name.lower(), table.db.lower()
    if isinstance(table.this, exp.Func):
        return
    if not isinstance(table.this, exp.Identifier) and table.args.get("this") is not None:
        raise refused(f"{type(table.this).__name__} in place of a table")
    if dialect == "duckdb" and not _DUCK_NAME.fullmatch(name):
        # A name that is no name of a table is looked for as a file, or as an address.
        raise refused(f"{name!r} in place of a table", "Name a table of the database; files are not read.")
    if schema in grammar.SYSTEM_SCHEMAS[dialect] or table.catalog:
        raise refused(
            f"the table {schema}.{name} belongs to the server", "Use information_schema or the table list."
        )
    readable = purpose == "read" and name in grammar.SYSTEM_TABLES
    if name.startswith(grammar.SYSTEM_PREFIXES[dialect]) and not readable:
        raise refused(
            f"the table {name!r} belongs to the server", "Use information_schema or the table list."
        )


def _check_visible(table: exp.Table, tables: frozenset[str]) -> None:
    if not isinstance(table.this, exp.Identifier) or (not table.db and names_cte(table)):
        return
    name = f"{table.db}.{table.name}".lower().lstrip(".")
    if name not in tables:
        known = ", ".join(sorted(tables)[:10]) or "none"
        raise refused(f"the table {name!r} is not visible here", f"Visible: {known}.")


def names_cte(table: exp.Table) -> bool:
    """Whether the name is that of a WITH query in scope; its own text and later ones are not in scope."""
    name = table.name.lower()
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        if isinstance(parent, exp.With):
            recursive = bool(parent.args.get("recursive"))
            earlier = parent.expressions[: parent.expressions.index(node) + (1 if recursive else 0)]
            if any(cte.alias.lower() == name for cte in earlier):
                return True
        else:
            with_ = parent.args.get("with_")
            if (
                with_ is not None
                and with_ is not node
                and any(c.alias.lower() == name for c in with_.expressions)
            ):
                return True
        node = parent
    return False
