"""Real databases that others made, read through the same door."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.resources.databases.services import fresh_name, need

from interlace.resources.databases import Databases


def script(name: str) -> str:
    for root in Path(__file__).resolve().parents:
        path = root / "shared" / "corpus" / "sql" / name
        if path.is_file():
            return gzip.decompress(path.read_bytes()).decode("utf-8-sig")
    pytest.skip(f"no corpus file {name}")


def sqlite_file(folder: Path, name: str) -> str:
    path = folder / name.replace(".sql.gz", ".db")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script(name))
    return f"sqlite:///{path.name}"


TOP = """
    SELECT ar.{name} AS artist, count(*) AS tracks, round(sum(il.{price} * il.{quantity}), 2) AS sold
    FROM {line} il JOIN {track} t ON t.{track_id} = il.{track_id} JOIN {album} al ON al.{album_id} = t.{album_id}
    JOIN {artist} ar ON ar.{artist_id} = al.{artist_id}
    GROUP BY ar.{name} HAVING count(*) > :least ORDER BY sold DESC, artist LIMIT :most
"""
CAMEL = {
    "name": "Name", "price": "UnitPrice", "quantity": "Quantity", "line": "InvoiceLine", "track": "Track", "album": "Album",
    "artist": "Artist", "track_id": "TrackId", "album_id": "AlbumId", "artist_id": "ArtistId",
}  # fmt: skip
SNAKE = {
    "name": "name", "price": "unit_price", "quantity": "quantity", "line": "invoice_line", "track": "track", "album": "album",
    "artist": "artist", "track_id": "track_id", "album_id": "album_id", "artist_id": "artist_id",
}  # fmt: skip


@pytest.fixture
def chinook_postgres() -> Iterator[str]:
    text = script("chinook_postgres.sql.gz")
    need(5432, "PostgreSQL")
    name = fresh_name()
    settings = "host=127.0.0.1 user=postgres password=root dbname="
    with psycopg.connect(settings + "postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        lines = [
            line for line in text.splitlines() if not line.startswith("\\") and "DATABASE" not in line.upper()
        ]
        with psycopg.connect(settings + name, autocommit=True) as connection:
            connection.execute("\n".join(lines))
        yield f"postgresql://postgres:root@127.0.0.1/{name}"
    finally:
        with psycopg.connect(settings + "postgres", autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


async def test_chinook_is_the_same_in_both_databases(
    databases: Databases, tmp_path: Path, chinook_postgres: str
) -> None:
    lite = sqlite_file(tmp_path, "chinook_sqlite.sql.gz")
    given = {"least": 5, "most": 20}
    first = await databases.query(lite, TOP.format(**CAMEL), given)
    second = await databases.query(chinook_postgres, TOP.format(**SNAKE), given)
    assert first.row_count == second.row_count == 20
    assert first.rows == second.rows
    names = {info.name.replace("_", "").lower() for info in await databases.tables(lite)}
    others = {info.name.replace("_", "").lower() for info in await databases.tables(chinook_postgres)}
    assert names == others
    keys = {c.name: c.key for c in await databases.columns(chinook_postgres, "track")}
    assert (keys["track_id"], keys["album_id"], keys["name"]) == ("primary", "foreign", "")


async def test_northwind_reads_every_table(databases: Databases, tmp_path: Path) -> None:
    url = sqlite_file(tmp_path, "northwind_sqlite.sql.gz")
    tables = await databases.tables(url)
    assert len(tables) > 10
    for info in tables:
        found = await databases.query(url, f'SELECT * FROM "{info.name}"', max_rows=200)
        names = {column.name for column in await databases.columns(url, info.name)}
        assert found.row_count == 0 or {column.name for column in found.columns} == names
