"""Tables and columns that an operator hides from workflows and agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden names in lower case: tables, and `(table, column)` pairs."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    @classmethod
    def of(cls, tables: Iterable[str], columns: Mapping[str, Iterable[str]]) -> Hidden:
        """From names as people write them, `table` or `schema.table`."""
        return cls(
            frozenset(_bare(name) for name in tables),
            frozenset((_bare(table), name.lower()) for table, names in columns.items() for name in names),
        )

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns)

    @property
    def names(self) -> frozenset[str]:
        """Every hidden name, of tables and columns."""
        return self.tables | {column for _, column in self.columns}

    def hides(self, table: str, column: str | None = None) -> bool:
        """Whether a table, or a column of it, is hidden."""
        name = _bare(table)
        return name in self.tables or (column is not None and (name, column.lower()) in self.columns)


def _bare(table: str) -> str:
    return table.rpartition(".")[2].strip('"`').lower()
