"""What an operation gives back, and the collecting of rows under the caps of rows and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from interlace.resources.databases.values import json_rows, unique_names

Row = dict[str, object]

FIRST_BATCH = 100
MAX_BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a result: its name in the rows and the database's own type name."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """Rows of a query. `rows` is empty where they were streamed; `row_count` counts what was delivered."""

    rows: list[Row]
    columns: list[Column]
    row_count: int
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What a write did: rows affected and the rows of RETURNING, if any."""

    row_count: int
    rows: list[Row] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    truncated: bool = False


@dataclass(slots=True, kw_only=True)
class Collector:
    """Takes driver rows in batches and stops at `max_rows` rows or `max_bytes` bytes of JSON.

    The driver asks `wanted()` for the size of the next batch (0 = stop) and hands the rows to `take()`, which returns
    the JSON rows that still fit.
    """

    max_rows: int
    max_bytes: int
    keep: bool = True
    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    count: int = 0
    size: int = 0
    truncated: bool = False
    done: bool = False
    _names: list[str] = field(default_factory=list)
    _unsure: list[int] = field(default_factory=list)

    def describe(
        self, names: Sequence[str], types: Sequence[str], sure: frozenset[str] = frozenset()
    ) -> None:
        """Set the columns; repeated names get a number. Values of the types in `sure` are JSON as the driver gives them."""
        self._unsure = [index for index, kind in enumerate(types) if kind not in sure]
        self._names = unique_names(names)
        self.columns = [Column(name=name, type=kind) for name, kind in zip(self._names, types, strict=True)]

    def wanted(self) -> int:
        """How many rows to fetch next: one more than may be kept at the end, fewer where rows are large."""
        if self.done:
            return 0
        left = self.max_rows - self.count + 1
        if not self.count:
            return min(FIRST_BATCH, left)
        average = max(1, self.size // self.count)
        return max(1, min(MAX_BATCH, left, (self.max_bytes - self.size) // average + 1))

    def take(self, rows: Sequence[Sequence[object]], asked: int) -> list[Row]:
        """Keep what fits of a batch that was fetched with `asked` rows wanted."""
        if len(rows) < asked:
            self.done = True
        fitting = json_rows(self._names, rows, self._unsure)
        if self.count + len(fitting) > self.max_rows:
            fitting = fitting[: self.max_rows - self.count]
            self.truncated = self.done = True
        fitting = self._within_bytes(fitting)
        self.count += len(fitting)
        if self.keep:
            self.rows.extend(fitting)
        return fitting

    def result(self) -> QueryResult:
        """The result so far."""
        return QueryResult(
            rows=self.rows, columns=self.columns, row_count=self.count, truncated=self.truncated
        )

    def _within_bytes(self, rows: list[Row]) -> list[Row]:
        size = len(orjson.dumps(rows)) if rows else 0
        if self.size + size <= self.max_bytes:
            self.size += size
            return rows
        for index, row in enumerate(rows):
            self.size += len(orjson.dumps(row))
            if self.size > self.max_bytes:
                self.truncated = self.done = True
                return rows[:index]
        return rows
