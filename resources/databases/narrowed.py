"""The wall that does not depend on understanding a statement: a table with hidden columns is read without them.

Each such table is replaced, in the text that is sent, by a query of its visible columns, so the server itself has no
name, row, position or join by which the others could come out. Every other table must be one that is known.
"""

from __future__ import annotations

from sqlglot import exp

from interlace.resources.databases.policy import names_cte, parsed, readable, written_name
from interlace.resources.databases.relations import Known, Relation, folded
from interlace.resources.databases.text import originals, refused
from interlace.resources.databases.url import Dialect

_SOURCES = (exp.From, exp.Join, exp.Subquery)
_TARGETS = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Drop, exp.TruncateTable)
_PLAIN_PARTS = frozenset({"this", "db", "alias", "joins"})


def narrowed(dialect: Dialect, sql: str, known: Known) -> str:
    """The statement to send: it has passed the policy, which refuses what is hidden by its name.

    Raises:
        NodeError: kind `sql_refused`: a table is not known, or one with hidden columns stands where it cannot be narrowed.
    """
    text = readable(dialect, sql)
    tree = parsed(dialect, text)
    owners = {owner for owner, _ in known.hidden.columns}
    for cte in tree.find_all(exp.CTE):
        if cte.alias.lower() in owners | known.hidden.tables:
            raise refused(f"a WITH query named {cte.alias!r}, like a table that is not visible as a whole",
                          "Give the WITH query another name.")  # fmt: skip
    for function in tree.find_all(exp.Func):
        if written_name(function).lower() in known.functions:
            raise refused(
                f"the function {written_name(function)!r} was made in this database, and may read what is not visible",
                "Use the server's own functions.",
            )
    changes: list[tuple[int, int, str]] = []
    places = originals(dialect, sql)
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or (not table.db and names_cte(table)):
            continue
        made = isinstance(_statement(table), exp.Create) and table.name.lower() not in owners
        relation = _relation(dialect, table, known)
        if relation is None and not made:
            shown = ", ".join(sorted({entry.name for entry in known.plain.values()})[:10]) or "none"
            raise refused(f"the table {table.name!r} is not visible here", f"Visible: {shown}.")
        if table.name.lower() in owners and relation is not None and not _is_target(table):
            changes.append(_change(dialect, sql, table, relation, places))
    for start, end, instead in sorted(changes, reverse=True):
        sql = sql[:start] + instead + sql[end:]
    return sql


def _statement(table: exp.Table) -> exp.Expr | None:
    """What makes or changes the table, where it stands in the head of a statement."""
    parent = table.parent
    return parent.parent if isinstance(parent, exp.Schema) else parent


def _relation(dialect: Dialect, table: exp.Table, known: Known) -> Relation | None:
    space = table.args.get("db")
    schema = folded(dialect, space.name, quoted=bool(space.args.get("quoted"))) if space is not None else ""
    return known.find(schema, folded(dialect, table.name, quoted=bool(table.this.args.get("quoted"))))


def _is_target(table: exp.Table) -> bool:
    head = _statement(table)
    return isinstance(head, _TARGETS) and table.arg_key in ("this", "tables")


def _change(
    dialect: Dialect, sql: str, table: exp.Table, relation: Relation, places: list[tuple[int, int]]
) -> tuple[int, int, str]:
    odd = sorted(part for part, value in table.args.items() if value and part not in _PLAIN_PARTS)
    using = isinstance(table.parent, (exp.Delete, exp.Merge)) and table.arg_key == "using"
    if odd or not (using or (isinstance(table.parent, _SOURCES) and table.arg_key == "this")):
        what = f"{', '.join(odd)} of" if odd else "this place for"
        raise refused(
            f"{what} the table {table.name!r}, which has hidden columns",
            "Name it plainly after FROM or JOIN.",
        )
    first = table.args.get("db") or table.this
    start, name, end = (
        _original(places, node, edge)
        for node, edge in ((first, "start"), (table.this, "start"), (table.this, "end"))
    )
    written = sql[start : end + 1]
    if sql[name : end + 1].strip('"`[]').lower() != table.name.lower():
        raise refused(f"the table {table.name!r} in this writing", "Write its name plainly.")
    columns = ", ".join(_quoted(dialect, column) for column in relation.columns) or "NULL"
    alias = "" if table.args.get("alias") else f" AS {sql[name : end + 1]}"
    return start, end + 1, f"(SELECT {columns} FROM {written}){alias}"  # noqa: S608 - quoted names


def _original(places: list[tuple[int, int]], node: exp.Expr, edge: str) -> int:
    at = node.meta.get(edge)
    if at is None:
        raise refused(f"the table {node.name!r} in this place", "Name it plainly after FROM or JOIN.")
    read, original = max((entry for entry in places if entry[0] <= at), default=(0, 0))
    return int(at) - read + original


def _quoted(dialect: Dialect, name: str) -> str:
    mark = "`" if dialect == "mysql" else '"'
    return mark + name.replace(mark, mark * 2) + mark
