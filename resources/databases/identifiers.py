"""Names of tables and columns as quoted identifiers, never as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from interlace.engine.errors import NodeError
from interlace.resources.databases.url import Dialect

_BAD = re.compile(r"[\x00-\x1f\x7f\"`\[\]]")
_MAX_NAME = 63
_MAX_COLUMNS = 1000


def quoted(dialect: Dialect, name: str) -> str:
    """One name, quoted for the dialect.

    Raises:
        NodeError: kind `identifier`, for an empty, overlong or control-character name.
    """
    if not name or len(name) > _MAX_NAME or _BAD.search(name):
        raise NodeError(
            f"{name[:80]!r} cannot be the name of a table or column: 1 to {_MAX_NAME} characters without quotes.",
            kind="identifier",
            retryable=False,
        )
    return f"`{name}`" if dialect == "mysql" else f'"{name}"'


def quoted_table(dialect: Dialect, table: str) -> str:
    """`name` or `schema.name`, each part quoted."""
    parts = table.split(".")
    if len(parts) > 2:  # noqa: PLR2004 - schema and name
        raise NodeError(
            f"The table {table!r} must be 'name' or 'schema.name'.", kind="identifier", retryable=False
        )
    return ".".join(quoted(dialect, part) for part in parts)


def common_columns(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The columns of rows that are to be inserted: those of the first row, which each row must have.

    Raises:
        NodeError: kind `parameters`, naming the row (from 0) and the column that differ.
    """
    columns = list(rows[0])
    if not 0 < len(columns) <= _MAX_COLUMNS:
        raise NodeError(
            f"The rows must have 1 to {_MAX_COLUMNS} columns.", kind="parameters", retryable=False
        )
    expected = set(columns)
    for index, row in enumerate(rows):
        if row.keys() != expected:
            odd = ", ".join(repr(name) for name in sorted(row.keys() ^ expected)[:5])
            raise NodeError(
                f"Row {index} does not have the columns of row 0; they differ in {odd}. Give null where a value is "
                "unknown.",
                kind="parameters",
                retryable=False,
            )
    return columns
