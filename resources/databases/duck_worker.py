"""DuckDB in a process of its own: `python -m interlace.resources.databases.duck_worker`.

DuckDB runs inside the process that uses it, its memory limit does not count the values that a single function makes, and
such a function cannot be interrupted. Here the process is the limit: it confines itself before it opens anything, and
whoever asked kills it when the time is over.

Frames on standard input and output: four bytes of length, then JSON. A job opens one file and ends with a frame that
has `over` or `error`; the process then waits for the next one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from interlace.resources.databases.values import json_value, parsed_json

if TYPE_CHECKING:
    import duckdb

MEMORY_MB = 512
"""What DuckDB gives to sorting, grouping and joining."""
PROCESS_MB = 2500
"""What the process may take all in all; a third of it is taken by addresses alone."""
MAX_FRAME = 48_000_000
_AT_ONCE = 10
_FRAME = 4_000_000
_PAUSE_S = 0.05
_PR_SET_PDEATHSIG = 1
_SETTINGS = {
    "enable_external_access": "false", "lock_configuration": "true", "memory_limit": f"{MEMORY_MB}MB", "threads": "2",
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
    "allow_community_extensions": "false", "temp_directory": "", "python_enable_replacements": "false",
}  # fmt: skip
# What the driver gives as JSON; the rest is looked at.
_SURE = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "VARCHAR"}
)
_COUNTED = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE_INTO"})


class _Refused(Exception):  # noqa: N818 - ends a job
    """The statement is none that this job does."""


def main() -> None:
    """Do jobs until standard input ends."""
    confine()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not damage a frame
    import duckdb  # noqa: PLC0415 - after the limits are set

    talk = _Talk(sys.stdin.buffer, out)
    talk.send({"ready": duckdb.__version__})
    while (job := talk.receive()) is not None:
        try:
            _Job(job, talk).do()
        except _Refused as refusal:
            talk.send({"error": "Refused", "message": str(refusal)})
        except (duckdb.Error, MemoryError, ValueError, OverflowError) as error:
            talk.send({"error": type(error).__name__, "message": str(error)})


def confine() -> None:
    """Limit this process: memory, no core files, no life after whoever started it."""
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415 - Windows has none

        resource.setrlimit(resource.RLIMIT_AS, (PROCESS_MB * 1_000_000, PROCESS_MB * 1_000_000))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:  # it has ended already
            os._exit(1)


class _Talk:
    """Frames to and from the other side."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink

    def send(self, message: dict[str, Any]) -> None:
        """Write a frame."""
        self.raw(orjson.dumps(message))

    def raw(self, content: bytes) -> None:
        """Write a frame of JSON that is text already."""
        self._sink.write(struct.pack(">I", len(content)) + content)
        self._sink.flush()

    def receive(self) -> dict[str, Any] | None:
        """Read a frame; None at the end."""
        head = self._source.read(4)
        if len(head) < 4:  # noqa: PLR2004 - the length
            return None
        found: dict[str, Any] = orjson.loads(self._source.read(struct.unpack(">I", head)[0]))
        return found


class _Job:
    def __init__(self, job: dict[str, Any], talk: _Talk) -> None:
        self._job, self._talk = job, talk

    def do(self) -> None:
        """Open the file, work, close it."""
        connection = self._connect()
        try:
            {"read": self._read, "look": self._look, "write": self._write}[self._job["kind"]](connection)
        finally:
            connection.close()
        self._talk.send({"over": True})

    def _connect(self) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415 - see main

        path, reads = Path(self._job["path"]), self._job["mode"] == "ro"
        if self._job["mode"] != "rwc" and not path.exists():
            raise _Refused("missing")
        if path.resolve() != path:  # it may have been exchanged for a link since it was checked
            raise _Refused("moved")
        until = time.monotonic() + self._job["busy"]
        while True:
            try:
                return duckdb.connect(str(path), read_only=reads, config=dict(_SETTINGS))
            except duckdb.Error as error:
                if not isinstance(error, duckdb.IOException) or "lock" not in str(error):
                    raise _Refused("unreadable") from None
                if time.monotonic() > until:  # another process has had it all the time
                    raise
                time.sleep(_PAUSE_S)

    def _read(self, connection: duckdb.DuckDBPyConnection) -> None:
        (sql, values) = self._job["statements"][0]
        self._check(connection, sql, {"SELECT"})
        connection.execute(sql, values)
        columns = _columns(connection)
        self._talk.send({"columns": columns})
        while (asked := self._talk.receive()) is not None and (wanted := asked.get("more")):
            self._send_rows(connection, [kind for _, kind in columns], wanted)

    def _send_rows(self, connection: duckdb.DuckDBPyConnection, kinds: Sequence[str], wanted: int) -> None:
        """As many rows as are wanted, fewer where they are large: a frame ends after some megabytes."""
        parts: list[bytes] = []
        count, size, done, cut = 0, 0, False, False
        while count < wanted and size < _FRAME and not done:
            fitting = _AT_ONCE if not count else max(1, (_FRAME - size) * count // max(size, 1))
            asked = min(fitting, wanted - count)
            rows = _plain(connection.fetchmany(asked), kinds)
            done = len(rows) < asked
            while rows:
                content = orjson.dumps(rows)[1:-1]
                if size + len(content) <= MAX_FRAME:
                    parts.append(content)
                    count, size = count + len(rows), size + len(content)
                    break
                done = cut = True
                rows = rows[: len(rows) // 2]
        flags = b'"done":%s,"cut":%s' % (b"true" if done else b"false", b"true" if cut else b"false")
        self._talk.raw(b'{"rows":[' + b",".join(parts) + b"]," + flags + b"}")

    def _look(self, connection: duckdb.DuckDBPyConnection) -> None:
        (sql, values) = self._job["statements"][0]
        names = [column[0] for column in connection.execute(sql, values).description or ()]
        rows = connection.fetchall()
        self._talk.send({"found": [dict(zip(names, row, strict=True)) for row in rows]})

    def _write(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("BEGIN")
        count, columns, rows = 0, list[list[str]](), list[list[Any]]()
        for sql, values in self._job["statements"]:
            kind = self._check(connection, sql, set(self._job["allowed"]))
            connection.execute(sql, values)
            if self._job["returns"]:
                columns = _columns(connection)
                changed = connection.fetchall()
                count += len(changed)
                rows += _plain(changed[: self._job["max_rows"] + 1], [entry[1] for entry in columns])
            elif kind in _COUNTED:
                count += sum(int(row[0]) for row in connection.fetchall())
        kept = orjson.dumps(rows)
        if len(kept) > MAX_FRAME:
            rows = []
        self._talk.send(
            {
                "columns": columns,
                "rows": rows,
                "count": count,
                "cut": len(rows) < min(count, 1) and bool(columns),
            }
        )
        if self._talk.receive() == {"commit": True}:
            connection.execute("COMMIT")

    def _check(self, connection: duckdb.DuckDBPyConnection, sql: str, allowed: set[str]) -> str:
        """What DuckDB itself takes the text for: one statement of an allowed kind."""
        kinds = [statement.type.name for statement in connection.extract_statements(sql)]
        if len(kinds) != 1 or kinds[0] not in allowed:
            raise _Refused(f"it is {', '.join(kinds) or 'empty'}")
        return str(kinds[0])


def _columns(connection: duckdb.DuckDBPyConnection) -> list[list[str]]:
    return [[str(entry[0]), str(entry[1])] for entry in connection.description or ()]


def _plain(rows: Sequence[Sequence[Any]], kinds: Sequence[str]) -> list[list[Any]]:
    """Rows with JSON values."""
    result = [list(row) for row in rows]
    for index, kind in enumerate(kinds):
        if kind in _SURE:
            continue
        convert = _json_text if kind == "JSON" else json_value
        for row in result:
            row[index] = convert(row[index])
    return result


def _json_text(value: str | None) -> object:
    return None if value is None else parsed_json(value)


if __name__ == "__main__":
    main()
