from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from interlace.engine.errors import StoreError
from interlace.store import Store
from interlace.store.database import locate
from interlace.store.errors import SchemaError
from interlace.store.migration import HEAD, exclusive, revision
from interlace.store.tables import metadata


async def test_the_migrations_make_the_tables(url: str | None, tmp_path: Path) -> None:
    await (await Store.open(url, tmp_path)).close()
    location = locate(url, tmp_path)
    engine = create_engine(
        location.url.set(drivername="sqlite") if location.kind == "sqlite" else location.url
    )
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_server_default": location.kind == "postgresql"}
        )
        assert compare_metadata(context, metadata) == []
        assert revision(connection) == HEAD
    engine.dispose()


def test_head_is_the_newest_migration() -> None:
    import interlace.store.migration as module

    config = Config()
    config.set_main_option("script_location", str(Path(module.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_journals_need_no_row_ids(sqlite_store: Store) -> None:
    connection = sqlite3.connect(sqlite_store.database.location.path)
    tables: dict[str, Any] = dict(
        connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    )
    connection.close()
    assert [name for name, text in tables.items() if "WITHOUT ROWID" in text] == ["events", "run_payloads"]


async def test_a_database_of_a_newer_version_is_refused(url: str | None, tmp_path: Path) -> None:
    await (await Store.open(url, tmp_path)).close()
    location = locate(url, tmp_path)
    for number in ("9999", HEAD):
        with exclusive(
            location.url.set(drivername="sqlite") if location.kind == "sqlite" else location.url, lock=True
        ) as at:
            at.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{number}'")
        if number != HEAD:
            with pytest.raises(SchemaError, match=r"version '9999'.* install the newer version"):
                await Store.open(url, tmp_path)
    await (await Store.open(url, tmp_path)).close()


OPEN = """
import asyncio, sys
from pathlib import Path
from interlace.store import Store

async def main():
    await (await Store.open(sys.argv[1] or None, Path(sys.argv[2]))).close()

asyncio.run(main())
"""


def test_processes_that_open_a_new_home_at_once_migrate_it_once(url: str | None, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN, url or "", str(tmp_path / "home")]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 3, errors


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "is not a database URL; write sqlite:///"),
        ("mysql://root@localhost/x", r"kind 'mysql' .*cannot be used"),
        ("sqlite://", "cannot be used"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "cannot be opened"),
    ],
)
async def test_what_cannot_be_opened_says_why_without_the_password(
    url: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        await Store.open(url, tmp_path)
    assert "secret" not in str(caught.value)


async def test_what_is_no_database_says_why(tmp_path: Path) -> None:
    (tmp_path / "interlace.db").write_text("this is a text, not a database " * 100)
    with pytest.raises(StoreError, match="cannot be opened: file is not a database"):
        await Store.open(None, tmp_path)


async def test_a_url_names_a_file(tmp_path: Path) -> None:
    store = await Store.open(f"sqlite:///{tmp_path}/sub/other.db", tmp_path)
    assert (tmp_path / "sub" / "other.db").exists()
    await store.close()
