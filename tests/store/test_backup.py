"""Backups: complete, consistent while others write, checked, and restored on either kind of database."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import io
import json
import sqlite3
import tarfile
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Select, func, select

from interlace.engine.principal import LOCAL
from interlace.store import Store
from interlace.store.backup import check_backup, make_backup, restore_backup
from interlace.store.backup.archive import MANIFEST, BackupError
from interlace.store.backup.rows import NOT_KEPT
from interlace.store.errors import SchemaError
from interlace.store.migration import HEAD
from interlace.store.runs import NewRun
from interlace.store.tables import metadata, runs

Filled = tuple[Store, dict[str, str], contextlib.AsyncExitStack]
DOCUMENT = '{"name": "w", "nodes": [], "edges": []}'
BIG = "x" * 50_000


async def fill(store: Store) -> dict[str, str]:
    """One of many things."""
    ann = await store.users.create("ann", by=LOCAL, email="ann@example.com")
    org = await store.organisations.create("acme ✓ 漢字", by=LOCAL, owner=ann.id)
    pushed = await store.workflows.push("w", DOCUMENT)
    new = NewRun(
        name="w", document=DOCUMENT, inputs={"n": BIG, "f": 0.1}, owner=ann.id, lease_owner="gone",
        lease_seconds=60,
    )  # fmt: skip
    created = await store.runs.create(new)
    key, plain = await store.keys.create("k", owner=ann.id)
    await store.logins.create(ann.id, "password", lasts=60)
    file = await store.files.of_owner(ann.id).save(
        b"\x00\xff" * 2000, name="f.bin", media_type="application/octet-stream"
    )
    return {
        "user": ann.id,
        "org": org.id,
        "workflow": pushed.workflow_id,
        "run": created.run_id,
        "key": plain,
        "file": file.ref,
        "key_id": key.id,
    }


@pytest.fixture
async def filled(url: str | None, tmp_path: Path) -> AsyncIterator[Filled]:
    store = await Store.open(url, tmp_path / "home")
    async with contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(store.close)
        ids = await fill(store)
        (tmp_path / "home" / "secret.key").write_text("master-key-of-this-home")
        yield store, ids, closing


async def rows(store: Store) -> dict[str, Any]:
    found = {}
    for name, table in metadata.tables.items():
        if name not in NOT_KEPT:
            statement: Select[Any] = select(table)
            columns = [
                c.name for c in table.columns if not c.name.startswith("lease_o") and c.name != "lease_until"
            ]
            found[name] = sorted(
                str([getattr(row, column) for column in columns])
                for row in await store.database.rows(statement)
            )
    return found


async def check(home: Path, url: str | None, ids: dict[str, str], wanted: dict[str, Any]) -> None:
    """The home holds all that was saved, and works."""
    store = await Store.open(url, home)
    try:
        assert await rows(store) == wanted
        run = await store.runs.resolve(await store.runs.get(ids["run"]))
        assert (run.inputs, run.lease_owner) == ({"n": BIG, "f": 0.1}, None)
        assert await store.files.of_owner(ids["user"]).load(ids["file"]) == b"\x00\xff" * 2000
        assert await store.keys.verify(ids["key"]) is not None
        assert await store.logins.list(ids["user"]) == []
        assert await store.runs.claim(ids["run"], "me", 15) is not None, "nobody holds it any more"
        await store.users.create("new", by=LOCAL)
    finally:
        await store.close()


async def test_there_and_back(url: str | None, tmp_path: Path, filled: Filled) -> None:
    store, ids, closing = filled
    file, wanted = tmp_path / "b.tar.gz", await rows(store)
    made = await asyncio.to_thread(make_backup, file, url=url, home=tmp_path / "home")
    assert file.stat().st_mode & 0o777 == 0o600
    assert (made.revision, made.keys, made.missing) == (HEAD, False, [])
    assert made.payloads >= 2
    assert "logins" not in made.tables
    assert asdict(check_backup(file)) == asdict(made)
    await closing.aclose()
    home = tmp_path / "elsewhere"
    if url is not None:
        with pytest.raises(BackupError, match="is there already; give --force"):
            restore_backup(file, url=url, home=home)
    restored = await asyncio.to_thread(restore_backup, file, url=url, home=home, force=url is not None)
    assert restored.tables == made.tables
    assert not (home / "secret.key").exists(), "keys are not in it unless they are asked for"
    await check(home, url, ids, wanted)


async def test_from_one_kind_of_database_to_the_other(
    url: str | None, postgres_url: str, tmp_path: Path, filled: Filled
) -> None:
    store, ids, closing = filled
    file, wanted = tmp_path / "b.tar.gz", await rows(store)
    await asyncio.to_thread(make_backup, file, url=url, home=tmp_path / "home")
    await closing.aclose()
    target = None if url is not None else postgres_url
    try:
        await asyncio.to_thread(restore_backup, file, url=target, home=tmp_path / "other", force=True)
        await check(tmp_path / "other", target, ids, wanted)
    finally:
        if target is not None:  # the other tests find it as empty as they expect it
            with psycopg.connect(target, autocommit=True) as connection:
                names = [sql.Identifier(name) for name in metadata.tables]
                connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)))


async def test_while_others_write(url: str | None, tmp_path: Path, filled: Filled) -> None:
    """What is in it was there at one moment: of what is written together it has all or nothing."""
    store, _, _ = filled
    stop = asyncio.Event()

    async def write() -> int:
        count = 0
        while not stop.is_set():
            await store.users.create(f"u{count}", by=LOCAL)
            count += 1
        return count

    writing = asyncio.create_task(write())
    made = await asyncio.to_thread(make_backup, tmp_path / "b.tar.gz", url=url, home=tmp_path / "home")
    stop.set()
    assert await writing > 0
    found = {name: file.read() for name, file in parts(tmp_path / "b.tar.gz").items()}
    users = [json.loads(line) for line in found["tables/users.jsonl"].splitlines()]
    audit = [json.loads(line) for line in found["tables/audit.jsonl"].splitlines()]
    named = {user["id"] for user in users if user["name"].startswith("u")}
    noted = {
        line["object_id"]
        for line in audit
        if line["action"] == "user.create" and line["name"].startswith("u")
    }
    assert noted <= named
    assert len(named) - len(noted) <= 1
    assert made.tables["users"] == len(users)


def parts(path: Path) -> dict[str, io.BytesIO]:
    with tarfile.open(path) as tar:
        return {entry.name: io.BytesIO(tar.extractfile(entry).read()) for entry in tar}  # type: ignore[union-attr]


def without(row: dict[str, Any], column: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != column}


def pack(path: Path, found: dict[str, io.BytesIO]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, file in found.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(file.getvalue())
            tar.addfile(entry, io.BytesIO(file.getvalue()))
    return path


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup with keys of a filled SQLite home."""
    folder = tmp_path_factory.mktemp("backup")

    async def make() -> None:
        store = await Store.open(None, folder / "home")
        await fill(store)
        (folder / "home" / "secret.key").write_text("master-key-of-this-home")
        await store.close()

    asyncio.run(make())
    make_backup(folder / "b.tar.gz", url=None, home=folder / "home", keys=True)
    return folder / "b.tar.gz"


def test_keys(good: Path, tmp_path: Path) -> None:
    restore_backup(good, url=None, home=tmp_path / "h")
    key = tmp_path / "h" / "secret.key"
    assert key.read_text() == "master-key-of-this-home"
    assert key.stat().st_mode & 0o777 == 0o600


def test_another_key_is_not_lost(good: Path, tmp_path: Path) -> None:
    home = tmp_path / "h"
    home.mkdir()
    (home / "secret.key").write_text("another")
    with pytest.raises(BackupError, match="another key"):
        restore_backup(good, url=None, home=home)
    assert (home / "secret.key").read_text() == "another"
    assert not (home / "interlace.db").exists()
    restore_backup(good, url=None, home=home, force=True)
    assert (home / "secret.key.before-restore").read_text() == "another"


def test_what_is_there_stays_without_force_and_beside_with_it(good: Path, tmp_path: Path) -> None:
    home = tmp_path / "h"
    home.mkdir()
    (home / "interlace.db").write_bytes(b"")
    with pytest.raises(BackupError, match="give --force"):
        restore_backup(good, url=None, home=home)
    sqlite3.connect(home / "interlace.db").executescript(
        "CREATE TABLE mine (x); INSERT INTO mine VALUES (7)"
    ).close()
    restore_backup(good, url=None, home=home, force=True)
    before = sqlite3.connect(home / "interlace.db.before-restore")
    assert before.execute("SELECT x FROM mine").fetchone() == (7,)
    before.close()
    assert sorted(path.name for path in home.glob("interlace.db*")) == [
        "interlace.db",
        "interlace.db.before-restore",
    ]


@pytest.mark.parametrize("cut", [10, 1000, -30])
def test_cut_off(good: Path, tmp_path: Path, cut: int) -> None:
    content = good.read_bytes()
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(content[:cut])
    refused(broken, tmp_path, r"cannot be read|cut off|ends before")


def test_no_backup_at_all(tmp_path: Path) -> None:
    for content in (b"", b"hello", gzip.compress(b"hello")):
        (tmp_path / "x").write_bytes(content)
        refused(tmp_path / "x", tmp_path, r"cannot be read|cut off")


def refused(path: Path, folder: Path, why: str, error: type[Exception] = BackupError) -> None:
    home = folder / "refused"
    with pytest.raises(error, match=why):
        restore_backup(path, url=None, home=home)
    assert not home.exists(), "nothing was changed"


def test_damaged(good: Path, tmp_path: Path) -> None:
    found = parts(good)
    name = next(name for name in found if name.startswith("payloads/"))
    refused(
        pack(tmp_path / "a", found | {name: io.BytesIO(found[name].getvalue()[:-1] + b"!")}),
        tmp_path,
        "damaged",
    )
    without = {n: f for n, f in found.items() if n != "tables/users.jsonl"}
    refused(pack(tmp_path / "b", without), tmp_path, r"damaged: tables/users\.jsonl")
    refused(pack(tmp_path / "c", {"extra": io.BytesIO(b"x")} | found), tmp_path, "damaged: extra")
    refused(pack(tmp_path / "d", {"../evil": io.BytesIO(b"x")} | found), tmp_path, "which no backup does")
    refused(pack(tmp_path / "e", {n: f for n, f in found.items() if n != MANIFEST}), tmp_path, "cut off")
    refused(pack(tmp_path / "f", found | {MANIFEST: io.BytesIO(b"{}")}), tmp_path, "manifest")


def test_of_a_newer_version(good: Path, tmp_path: Path) -> None:
    found = parts(good)
    manifest = json.loads(found[MANIFEST].getvalue())

    def told(**changes: Any) -> Path:
        return pack(tmp_path / "n", found | {MANIFEST: io.BytesIO(json.dumps(manifest | changes).encode())})

    refused(told(format=9, version="7.0"), tmp_path, r"made by Interlace 7\.0 .*install that version")
    refused(told(revision="9999"), tmp_path, r"'9999'.*install that version", SchemaError)


def test_of_an_older_version(good: Path, tmp_path: Path) -> None:
    """Rows of earlier tables are brought up to date by the migrations that came since."""
    found = parts(good)
    manifest = json.loads(found[MANIFEST].getvalue()) | {"revision": "0013"}
    gone = [f"tables/{name}.jsonl" for name in ("identities", "invitations")]
    for name in gone:
        del found[name], manifest["parts"][name]
    rows = [json.loads(line) for line in found["tables/files.jsonl"]]
    files = b"".join(json.dumps(without(row, "used_at")).encode() + b"\n" for row in rows)
    found["tables/files.jsonl"] = io.BytesIO(files)
    manifest["parts"]["tables/files.jsonl"] = hashlib.sha256(files).hexdigest()
    old = pack(tmp_path / "old", found | {MANIFEST: io.BytesIO(json.dumps(manifest).encode())})
    restore_backup(old, url=None, home=tmp_path / "h")

    async def look() -> None:
        store = await Store.open(None, tmp_path / "h")
        assert [user.name for user in await store.users.list()] == ["ann", "owner"]
        assert await store.identities.find("x", "y") is None
        await store.close()

    asyncio.run(look())


def test_the_file_is_never_half_written(good: Path, tmp_path: Path) -> None:
    home = good.parent / "home"
    with pytest.raises(BackupError, match="there already"):
        make_backup(good, url=None, home=home)
    with pytest.raises(BackupError, match="cannot be written"):
        make_backup(tmp_path / "none" / "b", url=None, home=home)
    with pytest.raises(BackupError, match="nothing to back up"):
        make_backup(tmp_path / "b", url=None, home=tmp_path / "empty")
    assert not list(tmp_path.iterdir())


async def test_a_payload_that_goes_meanwhile_is_named(tmp_path: Path) -> None:
    store = await Store.open(None, tmp_path / "home")
    ids = await fill(store)
    store.payloads.path_of(ids["file"]).unlink()
    made = make_backup(tmp_path / "b", url=None, home=tmp_path / "home")
    assert made.missing == [ids["file"]]
    check_backup(tmp_path / "b")
    await store.close()


async def test_not_under_the_feet_of_a_host(
    url: str | None, good: Path, tmp_path: Path, filled: Filled
) -> None:
    store, _, _ = filled
    await store.hosts.beat("me", "the-host", ["interlace"], 30.0)
    before = await store.database.first(select(func.count()).select_from(runs))
    with pytest.raises(BackupError, match=r"the-host work with this database now"):
        await asyncio.to_thread(restore_backup, good, url=url, home=tmp_path / "home", force=True)
    assert await store.database.first(select(func.count()).select_from(runs)) == before


def test_keys_follow_the_database(good: Path, tmp_path: Path) -> None:
    """Where the new database cannot take the old one's place, the old one still has its key."""
    home = tmp_path / "h"
    restore_backup(good, url=None, home=home)
    (home / "secret.key").write_text("another")
    (database,) = home.glob("*.db")
    before, blocked = database.read_bytes(), database.with_name(database.name + ".before-restore")
    blocked.mkdir()
    with pytest.raises(OSError, match="before-restore"):
        restore_backup(good, url=None, home=home, force=True)
    assert (home / "secret.key").read_text() == "another"
    assert database.read_bytes() == before
    blocked.rmdir()
    restore_backup(good, url=None, home=home, force=True)
    assert (home / "secret.key").read_text() == "master-key-of-this-home"
    assert not list(home.glob("*.restoring*"))
