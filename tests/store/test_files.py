from __future__ import annotations

import hashlib
from collections.abc import Awaitable

import pytest

from interlace.engine.protocols import Files
from interlace.store import Store
from interlace.store.errors import NotFoundError

from .conftest import begin, commit


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 10, b"x" * 600_000])
async def test_files_come_back(store: Store, content: bytes) -> None:
    files: Files = store.files
    value = await files.save(content, name="a ü.bin", media_type="application/x")
    digest = hashlib.sha256(content).hexdigest()
    assert (value.name, value.media_type, value.size) == ("a ü.bin", "application/x", len(content))
    assert (value.sha256, value.ref) == (digest, f"sha256-{digest}")
    assert await files.load(value.ref) == content
    assert await store.files.find(value.ref) == value


async def test_a_file_is_found_by_its_owner_only(store: Store) -> None:
    value = await store.files.of_owner("ana").save(b"secret", name="a", media_type="text/plain")
    assert (await store.files.of_owner("ana").find(value.ref)).name == "a"
    with pytest.raises(NotFoundError, match="upload it first"):
        await store.files.find(value.ref)
    with pytest.raises(NotFoundError):
        await store.files.load("sha256-" + "0" * 64)


async def test_a_runs_files_go_with_it_and_uploads_stay(store: Store) -> None:
    upload = await store.files.save(b"both", name="upload", media_type="text/plain")
    journal = await begin(store)
    files = store.files.of_run(journal.run_id)
    own = await files.save(b"own", name="own", media_type="text/plain")
    await files.save(b"both", name="both", media_type="text/plain")
    ending = journal.append("run.cancelled"), journal.commit()
    assert isinstance(ending[1], Awaitable)
    await ending[1]
    await commit(journal)
    await store.runs.delete(journal.run_id)
    assert await store.files.load(upload.ref) == b"both"
    assert (await store.files.find(upload.ref)).name == "upload"
    with pytest.raises(NotFoundError):
        await store.files.load(own.ref)


async def test_what_others_have_is_not_there(store: Store):
    """Who knows the hash of another's file has not read it: the reference may come from a log or a screen."""
    theirs = await store.files.of_owner("ann").save(b"secret", name="a.txt", media_type="text/plain")
    made = await store.files.of_run("r1", owner="ann").save(b"result", name="b.txt", media_type="text/plain")
    for reader in (store.files.of_owner("ben"), store.files.of_run("r2", owner="ben")):
        for ref in (theirs.ref, made.ref):
            with pytest.raises(NotFoundError):
                await reader.load(ref)
    assert await store.files.of_run("r3", owner="ann").load(theirs.ref) == b"secret"
    assert await store.files.of_owner("ann").load(made.ref) == b"result"


@pytest.mark.parametrize("pieces", [[], [b"one"], [b"x" * 700_000] * 5])
async def test_a_file_is_written_piece_by_piece(store: Store, pieces: list[bytes]) -> None:
    files: Files = store.files
    async with files.stream(name="rows.jsonl", media_type="application/x-ndjson") as stream:
        for piece in pieces:
            await stream.write(piece)
        assert stream.value is None
    content = b"".join(pieces)
    assert stream.value is not None
    assert (stream.value.size, stream.value.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert await files.load(stream.value.ref) == content
    assert await store.files.find(stream.value.ref) == stream.value
    again = await files.save(content, name="same", media_type="text/plain")
    assert again.ref == stream.value.ref
    assert not list(store.payloads.root.glob(".*"))


async def test_a_file_that_fails_leaves_nothing(store: Store) -> None:
    async def fail() -> None:
        async with store.files.stream(name="a", media_type="text/plain") as stream:
            await stream.write(b"x" * 3_000_000)
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert [path for path in store.payloads.root.rglob("*") if path.is_file()] == []


async def test_a_streamed_file_is_put_back_when_it_was_removed_before_its_commit(store: Store) -> None:
    writer = store.payloads.open()
    writer.write(b"gone and back")
    stored = writer.finish()
    store.payloads.remove(stored.ref)
    stored.secure()
    writer.close()
    assert await store.payloads.get(stored.ref) == b"gone and back"
