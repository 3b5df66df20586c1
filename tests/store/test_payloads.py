from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from interlace.engine.errors import StoreError
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.payloads import FilePayloads

from .conftest import begin, commit

BIG = "x" * 20_000


def files(store: Store) -> list[str]:
    return [path.name for path in store.payloads.root.glob("*/*/*")]


@pytest.fixture
def payloads(tmp_path: Path) -> FilePayloads:
    return FilePayloads(tmp_path / "payloads", fsync=True)


async def test_content_is_kept_once_in_two_levels_of_folders(payloads: FilePayloads) -> None:
    first, second = payloads.put_bytes(b"abc"), payloads.put_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert first.ref == second.ref == f"sha256-{digest}"
    assert [path for path in payloads.root.rglob("*") if path.is_file()] == [
        payloads.root / "ba" / "78" / digest
    ]
    first.secure()
    assert await payloads.get(first.ref) == b"abc"


async def test_large_values_come_back(payloads: FilePayloads) -> None:
    for value in ("é\n" * 500_000, [2**70] * 20_000, {"a": [None] * 100_000}):
        assert await payloads.load(payloads.put_json(value).ref) == value


@pytest.mark.parametrize(
    "ref", ["sha256-" + "0" * 64, "", "sha256-xyz", "sha256-../../etc/passwd", "md5-" + "0" * 64]
)
async def test_what_is_not_there_is_not_found(payloads: FilePayloads, ref: str) -> None:
    with pytest.raises(NotFoundError, match="no payload"):
        await payloads.get(ref)


async def test_a_damaged_payload_is_noticed(payloads: FilePayloads) -> None:
    ref = payloads.put_json(BIG).ref
    next(path for path in payloads.root.rglob("*") if path.is_file()).write_bytes(b"")
    with pytest.raises(StoreError, match="is damaged"):
        await payloads.load(ref)


def test_a_refused_value_leaves_no_file(payloads: FilePayloads) -> None:
    with pytest.raises(StoreError, match="surrogate"):
        payloads.put_json("x" * 100_000 + "\ud800")
    assert not [path for path in payloads.root.rglob("*") if path.is_file()]


async def test_a_payload_that_cannot_be_written_fails_the_append(sqlite_store: Store) -> None:
    journal = await begin(sqlite_store)
    root = sqlite_store.payloads.root
    root.rmdir()
    root.write_text("a file where the folder was")
    with pytest.raises(StoreError, match="could not be written to"):
        journal.append("node.succeeded", "n", 1, {"outputs": {"text": BIG}})
    journal.append("node.failed", "n", 1, {"error": {"type": "store"}})
    await commit(journal)
    assert await sqlite_store.events.last_seq(journal.run_id) == 2


async def finished_with(store: Store, text: str) -> str:
    journal = await begin(store)
    journal.append("node.succeeded", "n", 1, {"outputs": {"text": text}})
    journal.append("run.succeeded", "", 0, {"outputs": {"text": text}})
    await commit(journal)
    return journal.run_id


async def test_deleting_a_run_deletes_its_payloads_but_no_one_elses(store: Store) -> None:
    shared, own = BIG, BIG + "own"
    first = await begin(store, inputs={"text": BIG + "input"})
    first.append("node.succeeded", "n", 1, {"outputs": {"a": shared, "b": own}})
    first.append("run.succeeded", "", 0, {"outputs": {"a": shared}})
    await commit(first)
    second = await finished_with(store, shared)
    assert len(files(store)) == 3
    await store.runs.delete(first.run_id)
    assert len(files(store)) == 1
    assert await store.events.read(first.run_id) == []
    with pytest.raises(NotFoundError):
        await store.runs.get(first.run_id)
    (event,) = await store.events.read(second, after_seq=1, limit=1)
    assert (await store.events.resolve(event)).data == {"outputs": {"text": shared}}
    await store.runs.delete(second)
    assert files(store) == []


async def test_a_running_run_is_not_deleted(store: Store) -> None:
    journal = await begin(store)
    with pytest.raises(ConflictError, match=r"is queued; cancel it"):
        await store.runs.delete(journal.run_id)


async def test_a_payload_that_vanishes_before_the_commit_is_written_again(store: Store) -> None:
    other = await finished_with(store, BIG)
    journal = await begin(store)
    journal.append("node.succeeded", "n", 1, {"outputs": {"text": BIG}})
    await store.runs.delete(other)  # submitted first, so it is in the same or an earlier commit
    await commit(journal)
    (event,) = await store.events.read(journal.run_id, after_seq=1)
    assert (await store.events.resolve(event)).data["outputs"]["text"] == BIG


async def test_what_a_dead_process_left_is_swept_and_the_rest_stays(store: Store) -> None:
    used = await begin(store)
    used.append("node.succeeded", "n", 1, {"outputs": {"text": BIG}})
    await commit(used)
    orphan = store.payloads.put_json(BIG + "orphan")
    upload = await store.files.save(b"upload" * 1000, name="u", media_type="text/plain")
    left = store.payloads.root / ".1-dead"
    left.write_bytes(b"half")
    assert await store.sweep() == 0, "everything is recent"
    past = time.time() - 7200
    for path in [left, *store.payloads.root.glob("*/*/*")]:
        os.utime(path, (past, past))
    assert await store.sweep() == 1
    assert not left.exists()
    with pytest.raises(NotFoundError):
        await store.payloads.get(orphan.ref)
    assert await store.files.load(upload.ref) == b"upload" * 1000
    assert len(files(store)) == 2
