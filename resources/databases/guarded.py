"""Statements on databases with hidden tables and columns.

The rules are by name, whatever the schema, the letter case or the quotes, and refuse more than they must: what a hidden
name could stand for is not worked out.
"""

from __future__ import annotations

from sqlglot import exp

from interlace.resources.databases.hiding import Hidden
from interlace.resources.databases.text import refused

_CATALOGUES = frozenset({"information_schema", "pg_catalog", "mysql"})
_OF_CATALOGUES = ("pg_", "sqlite_", "duckdb_", "pragma_")
_OF_WRITES = frozenset({"old", "new", "excluded"})
"""Whole rows in PostgreSQL's RETURNING and ON CONFLICT."""
_ABOUT = frozenset({"to_regclass", "col_description", "obj_description", "format_type"})


def check_hidden(tree: exp.Expr, hidden: Hidden) -> None:
    """Refuse a statement that could give or change what is hidden.

    Raises:
        NodeError: kind `sql_refused`.
    """
    guarded: set[str] = set()
    names: set[str] = set()
    for table in tree.find_all(exp.Table):
        name, schema = table.name.lower(), table.db.lower()
        if name in hidden.tables:
            raise refused(f"the table {table.name!r} is not visible here")
        if schema in _CATALOGUES or name.startswith(_OF_CATALOGUES):
            raise refused(
                "the server's own tables are not visible here", "Use the list of tables and columns."
            )
        own = {column for owner, column in hidden.columns if owner == name}
        if own:
            guarded |= {name, table.alias.lower()} - {""}
            names |= own
    _check_types(tree, {owner for owner, _ in hidden.columns} | hidden.tables)
    if guarded:
        writes = tree.find(exp.Insert, exp.Update, exp.Delete, exp.Merge) is not None
        guarded |= _check_sources(tree) | (_OF_WRITES if writes else frozenset())
        _check_names(tree, guarded, names)


def _check_types(tree: exp.Expr, owners: set[str]) -> None:
    """In PostgreSQL a table is a type, whose fields have its columns' names."""
    for node in tree.find_all(exp.DataType, exp.Anonymous):
        name = str(node.args.get("kind") or "") if isinstance(node, exp.DataType) else node.name
        bare = name.rpartition(".")[2].strip('"').removesuffix("[]").lower()
        if isinstance(node, exp.DataType) and bare in owners:
            raise refused(f"the type {name!r} of a table that is not visible as a whole")
        if isinstance(node, exp.Anonymous) and bare in _ABOUT:
            raise refused(
                f"the function {name!r}, which tells of tables", "Use the list of tables and columns."
            )


def _check_sources(tree: exp.Expr) -> set[str]:
    """Refuse other names for columns and joins over columns that are not named; gives the names of whole rows.

    A guarded table may stand deep in parentheses and joins, whose alias then names its columns: so every join in
    parentheses counts as one of guarded tables.
    """
    rows: set[str] = set()
    for alias in tree.find_all(exp.TableAlias):
        source = alias.parent
        joined = isinstance(source, exp.Subquery) and not isinstance(source.this, (exp.Query, exp.Values))
        named = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
        if not (joined or named):
            continue
        if alias.args.get("columns"):
            raise refused(
                f"it names the columns of {alias.name or 'a table'!r} anew, and one of its tables has hidden ones",
                "Give tables alone a name, or put '(SELECT columns FROM table)' in place of the table.",
            )
        if joined:
            rows.add(alias.name.lower())
    for join in tree.find_all(exp.Join):
        if str(join.args.get("method") or "").upper() == "NATURAL":
            raise refused("a NATURAL JOIN where a table has hidden columns", "Write ON with the columns.")
    return rows - {""}


def _check_names(tree: exp.Expr, guarded: set[str], names: set[str]) -> None:
    for node in tree.walk():
        if isinstance(node, exp.Alter):
            raise refused("ALTER with a table that has hidden columns")
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            raise refused("'*' of a table with hidden columns", "Name the columns that you need.")
        if isinstance(node, exp.Identifier) and node.name.lower() in names:
            raise refused(f"the column {node.name!r} is not visible here")
        # In PostgreSQL the name of a table in place of a value is its whole row.
        if isinstance(node, exp.Column) and node.name.lower() in guarded:
            raise refused(
                f"the whole row {node.name!r} of a table with hidden columns",
                "Name the columns that you need.",
            )
        if isinstance(node, exp.Insert) and not isinstance(node.this, exp.Schema):
            raise refused("INSERT without columns in a table with hidden ones", "Name the columns.")
