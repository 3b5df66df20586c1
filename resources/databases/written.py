"""Names that are not written as names: a text in quotes, or a table on the right of IN, which some servers take for one."""

from __future__ import annotations

from sqlglot import exp

from interlace.resources.databases.text import refused
from interlace.resources.databases.url import Dialect

_AS_NAMES = 'Write names plainly or in double quotes ("name"), texts in single ones.'


def check_written(dialect: Dialect, tree: exp.Expr, text: str) -> None:
    """Refuse what a server could resolve to a table or column although it is not written as the name of one.

    Args:
        dialect: whose rules of writing count.
        tree: the parsed statement.
        text: what it was parsed from, with every text in it as `'1'`.

    Raises:
        NodeError: kind `sql_refused`.
    """
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            _check_identifier(node, text)
        elif isinstance(node, exp.Column) and not isinstance(node.this, (exp.Identifier, exp.Star)):
            raise refused(f"{type(node.this).__name__} in place of the name of a column", _AS_NAMES)
        elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Literal):
            raise refused("a text in place of the name of a column", _AS_NAMES)
        elif isinstance(node, exp.In):
            _check_in(dialect, node)


def _check_identifier(node: exp.Identifier, text: str) -> None:
    start = node.meta.get("start")
    if start is None or text[start : start + 1] != "'":
        return
    # Only what a column of the result is called is a text in every dialect.
    if not (isinstance(node.parent, exp.Alias) and node.arg_key == "alias"):
        raise refused("a text in quotes in place of the name of a table or column", _AS_NAMES)


def _check_in(dialect: Dialect, node: exp.In) -> None:
    right = node.args.get("field")
    if right is None or isinstance(right, exp.Placeholder):
        return
    # DuckDB knows columns of lists there; for SQLite it is a table, a function that gives one, or a text that names one.
    if dialect == "duckdb" and isinstance(right, (exp.Column, exp.Func, exp.Paren, exp.Array, exp.Bracket)):
        return
    raise refused(
        "IN with something other than a list or a query on its right",
        "Write 'IN (SELECT column FROM table)', or 'IN (1, 2)'.",
    )
