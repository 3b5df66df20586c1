"""Results that go to a file: what is in it, what limits it, and that memory holds a batch at a time."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.databases import Databases
from interlace.store import Store
from interlace.store.files import FileStore

MILLION = {
    "sqlite": "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {n}) SELECT i, 'row ' || i AS s FROM r",
    "postgresql": "SELECT i, 'row ' || i AS s FROM generate_series(1, {n}) AS r(i)",
    "duckdb": "SELECT i, 'row ' || i AS s FROM range(1, {n} + 1) AS r(i)",
    "mysql": "WITH RECURSIVE d(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM d WHERE i < 1000)"
    " SELECT (a.i - 1) * 1000 + b.i AS i, concat('row ', (a.i - 1) * 1000 + b.i) AS s FROM d a CROSS JOIN d b"
    " WHERE a.i <= {n} / 1000",
}


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[FileStore]:
    store = await Store.open(None, tmp_path / "home")
    yield store.files
    await store.close()


@pytest.fixture
async def made(url: str, databases: Databases) -> str:
    await databases.execute(url, "DROP TABLE IF EXISTS e", allow_ddl=True)
    await databases.execute(url, "CREATE TABLE e (n int, s varchar(200))", allow_ddl=True)
    rows: list[dict[str, Any]] = [{"n": n, "s": f'it\'s "{n}", é\n😀'} for n in range(2500)]
    await databases.insert_many(url, "e", [*rows, {"n": None, "s": None}])
    return url


def lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]


async def test_json_lines_and_csv(made: str, databases: Databases, files: FileStore) -> None:
    sql = "SELECT n, s FROM e WHERE n IS NOT NULL ORDER BY n"
    plain = await databases.query(made, sql, max_rows=5000)
    found = await databases.export(made, sql, files=files, name="orders")
    assert (found.row_count, found.truncated, found.columns) == (2500, False, plain.columns)
    assert (found.file.name, found.file.media_type) == ("orders.jsonl", "application/x-ndjson")
    content = await files.load(found.file.ref)
    assert lines(content) == plain.rows
    assert len(content) == found.file.size

    table = await databases.export(made, sql, files=files, name="orders", how="csv")
    assert (table.file.name, table.file.media_type) == ("orders.csv", "text/csv")
    read = list(csv.reader(io.StringIO((await files.load(table.file.ref)).decode(), newline="")))
    assert read[0] == ["n", "s"]
    assert [{"n": int(n), "s": s} for n, s in read[1:]] == plain.rows
    none = await databases.export(
        made, "SELECT n, s FROM e WHERE n IS NULL", files=files, name="x", how="csv"
    )
    assert await files.load(none.file.ref) == b"n,s\r\n,\r\n"


async def test_no_rows_and_limits(made: str, databases: Databases, files: FileStore) -> None:
    empty = "SELECT n, s FROM e WHERE n < 0"
    found = await databases.export(made, empty, files=files, name="x", how="csv")
    assert await files.load(found.file.ref) == b"n,s\r\n"
    found = await databases.export(made, empty, files=files, name="x")
    assert (found.file.size, found.row_count) == (0, 0)
    cut = await databases.export(
        made, "SELECT n FROM e ORDER BY n DESC", files=files, name="x", max_rows=1200
    )
    assert (cut.row_count, cut.truncated) == (1200, True)
    assert len(lines(await files.load(cut.file.ref))) == 1200
    small = await databases.export(made, "SELECT n FROM e", files=files, name="x", max_bytes=3000)
    assert small.truncated
    assert small.row_count == len(lines(await files.load(small.file.ref))) < 400


async def test_a_failing_query_leaves_no_file(
    made: str, databases: Databases, files: FileStore, tmp_path: Path
) -> None:
    for sql in ("SELECT nope FROM e", "DELETE FROM e"):
        with pytest.raises(NodeError):
            await databases.export(made, sql, files=files, name="x")
    assert [path for path in (tmp_path / "home" / "payloads").rglob("*") if path.is_file()] == []


PROGRAM = """
import asyncio, json, resource, sys
from pathlib import Path
from interlace.resources.databases import Databases
from interlace.store import Store

async def main(url, sql, folder):
    databases = Databases(allow=["127.0.0.1", folder], base_dir=Path(folder))
    store = await Store.open(None, Path(folder) / "home2")
    await databases.export(url, sql.format(n=10000), files=store.files, name="warm")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = await databases.export(url, sql.format(n=100000), files=store.files, name="rows")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([found.row_count, found.file.size, (after - before) // 1024]))
    await databases.close()
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_memory_holds_a_batch_at_a_time(made: str, tmp_path: Path) -> None:
    sql = MILLION[made.partition(":")[0]]
    out = subprocess.run(  # noqa: ASYNC221 - a process of its own, whose memory is measured
        [sys.executable, "-c", PROGRAM, made, sql, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert out.returncode == 0, out.stderr
    rows, size, grown = json.loads(out.stdout)
    assert rows == 100_000
    assert size > 2_500_000
    assert grown < 20, "megabytes for a hundred thousand rows"
