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
