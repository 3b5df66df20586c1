"""Rows on their way into a file: JSON lines or CSV, a batch at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from interlace.engine.protocols import FileStream, FileValue
from interlace.resources.databases.result import Column, Row

Format = Literal["jsonl", "csv"]

MEDIA_TYPES: Final[dict[Format, str]] = {"jsonl": "application/x-ndjson", "csv": "text/csv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """Rows that were written to a file. `row_count` counts those in it."""

    file: FileValue
    columns: list[Column]
    row_count: int
    truncated: bool = False


class RowWriter:
    """Writes batches of rows; the first line of a CSV file holds the names of the columns."""

    def __init__(self, stream: FileStream, how: Format) -> None:
        self._stream, self._how = stream, how
        self._begun = False

    async def take(self, rows: list[Row]) -> None:
        """Write a batch."""
        if self._how == "jsonl":
            await self._stream.write(
                b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
            )
            return
        lines = [] if self._begun else [list(rows[0])]
        self._begun = True
        await self._stream.write(_csv([*lines, *(list(row.values()) for row in rows)]))

    async def end(self, columns: Sequence[Column]) -> None:
        """Write what is due without any row."""
        if self._how == "csv" and not self._begun:
            await self._stream.write(_csv([[column.name for column in columns]]))


def _csv(lines: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([[_cell(value) for value in line] for line in lines])
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    """Objects and lists as JSON, true and false as JSON has them, null as nothing."""
    if isinstance(value, bool | dict | list):
        return orjson.dumps(value).decode()
    return value
