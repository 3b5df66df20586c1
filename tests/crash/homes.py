"""Homes to be killed in: made once, copied for each case, and read afterwards without the product."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings

DOCUMENTS = Path(__file__).parent / "documents"
_SAVED = "CREATE TABLE saved (id INTEGER PRIMARY KEY, text TEXT, times INTEGER NOT NULL DEFAULT 1)"


@dataclass(frozen=True)
class Event:
    """A row of a journal."""

    run: str
    seq: int
    type: str
    path: str
    attempt: int
    data: dict[str, Any]


@dataclass(frozen=True)
class Home:
    """A home and the database of its DATABASE nodes; `url` is None for SQLite in the home."""

    folder: Path
    url: str | None = None

    @property
    def path(self) -> Path:
        return self.folder / "home"

    @property
    def outside(self) -> Path:
        """The folder of the SQLite file that DATABASE nodes write to."""
        return self.folder / "data"

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Read the platform's tables; values stand as `?`."""
        if self.url is not None:
            with psycopg.connect(self.url, autocommit=True) as server:
                return server.execute(sql.replace("?", "%s").encode(), values).fetchall()
        with contextlib.closing(sqlite3.connect(self.path / "interlace.db")) as file:
            return file.execute(sql, values).fetchall()

    def runs(self, key: str) -> dict[str, dict[str, Any]]:
        """The run of an idempotency key and its children, by id."""
        columns = "id, name, status, lease_owner, outputs, error, parent_run_id"
        own = "SELECT id FROM runs WHERE idempotency_key = ?"
        found = self.rows(
            f"SELECT {columns} FROM runs WHERE id IN ({own}) OR parent_run_id IN ({own})", key, key
        )
        return {row[0]: dict(zip(columns.split(", "), row, strict=True)) for row in found}

    def events(self, key: str) -> list[Event]:
        """The journals of these runs, in order."""
        found: list[Event] = []
        for run in self.runs(key):
            sql = "SELECT run_id, seq, type, path, attempt, data FROM events WHERE run_id = ? ORDER BY seq"
            found += [Event(*row[:5], json.loads(row[5])) for row in self.rows(sql, run)]
        return found

    def saved(self) -> int:
        """How often the DATABASE node has written its row."""
        with contextlib.closing(sqlite3.connect(self.outside / "out.db")) as file:
            row = file.execute("SELECT times FROM saved").fetchone()
        return 0 if row is None else int(row[0])

    def copy(self, folder: Path) -> Home:
        """The same home elsewhere; a PostgreSQL database is shared."""
        shutil.copytree(self.folder, folder)
        return Home(folder, self.url)

    def clear_outside(self) -> None:
        """Forget what the DATABASE node has written."""
        with contextlib.closing(sqlite3.connect(self.outside / "out.db")) as file:
            file.execute("DELETE FROM saved")
            file.commit()


async def make_home(folder: Path, url: str | None = None, *documents: str) -> Home:
    """A home with its tables and the documents of this folder (or the texts given) published."""
    home = Home(folder, url)
    home.outside.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(home.outside / "out.db")) as file:
        file.execute(_SAVED)
    platform = await Platform.open(Settings(home=home.path, database_url=url, prefect="off"))  # type: ignore[arg-type]
    for text in documents or [(DOCUMENTS / f"{name}.yaml").read_text() for name in ("child", "every_node")]:
        pinned = await platform.documents.from_text(text)
        pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
        await platform.store.workflows.publish(pushed.workflow_id)
    await platform.close()
    return home


@contextlib.contextmanager
def postgres_database(server: str, name: str) -> Iterator[str]:
    """A database of our own on a server, dropped afterwards; gives its URL."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
        admin.execute(f'CREATE DATABASE "{name}"'.encode())
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
