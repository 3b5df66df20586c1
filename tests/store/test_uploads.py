"""Uploads that nothing has used go; what somebody uses, or is about to, stays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from interlace.engine.protocols import FileValue
from interlace.engine.waits import Answer
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.run_row import NewRun

from .conftest import begin

LATER = 4_000_000_000.0
DOCUMENT = '{"name": "d", "nodes": []}'


async def _upload(store: Store, content: bytes = b"bytes") -> dict[str, Any]:
    value = await store.files.of_owner("ana").save(content, name="a.txt", media_type="text/plain")
    return {"name": value.name, "media_type": value.media_type, "size": value.size, "sha256": value.sha256, "ref": value.ref}  # fmt: skip


async def _prune(store: Store) -> int:
    return sum([await store.uploads.remove(upload) for upload in await store.uploads.unused(LATER)])


async def test_one_that_nothing_has_used_goes_with_its_bytes(store: Store) -> None:
    file = await _upload(store)
    assert await store.uploads.unused(0.0) == []
    assert await _prune(store) == 1
    with pytest.raises(NotFoundError):
        await store.files.of_owner("ana").find(file["ref"])
    with pytest.raises(NotFoundError):
        await store.payloads.get(file["ref"])
    assert await _prune(store) == 0


async def test_bytes_that_others_have_stay(store: Store) -> None:
    journal = await begin(store)
    file = await _upload(store)
    await store.files.of_run(journal.run_id, owner="ana").save(b"bytes", name="b", media_type="text/plain")
    assert await _prune(store) == 1
    assert await store.files.of_owner("ana").load(file["ref"]) == b"bytes"


async def _in_inputs(store: Store, file: dict[str, Any]) -> None:
    await store.runs.create(NewRun(name="d", document=DOCUMENT, inputs={"file": file}, owner="ana"))


async def _among_many(store: Store, file: dict[str, Any]) -> None:
    """Inputs too large for the row."""
    inputs = {"files": [{**file, "note": "x" * 9_000}, file]}
    await store.runs.create(NewRun(name="d", document=DOCUMENT, inputs=inputs, owner="ana"))


async def _as_an_object(store: Store, file: dict[str, Any]) -> None:
    """As a node hands it to a child's run."""
    inputs = {"files": [{"first": FileValue(**file)}]}
    await store.runs.create(NewRun(name="d", document=DOCUMENT, inputs=inputs, owner="ana"))


async def _read(store: Store, file: dict[str, Any]) -> None:
    await store.files.of_run("some-run", owner="ana").load(file["ref"])


async def _pinned(store: Store, file: dict[str, Any]) -> None:
    await store.pins.set("w", "node", {"file": file})


async def _answered(store: Store, file: dict[str, Any]) -> None:
    journal = await begin(store)
    data = {"id": "w1", "kind": "human", "phase": "node", "request": {"actions": ["ok"]}, "hash": "h"}
    journal.append("node.suspended", "ask", 1, data)
    commit = journal.commit()
    assert commit is not None
    await commit
    answer = Answer(action="ok", form={"proof": file}, by="ana", at=1.0)
    assert await store.waits.settle(await store.waits.get("w1"), "answered", answer)


@pytest.mark.parametrize("use", [_in_inputs, _among_many, _as_an_object, _read, _pinned, _answered])
async def test_what_is_used_stays(
    store: Store, use: Callable[[Store, dict[str, Any]], Awaitable[None]]
) -> None:
    file = await _upload(store)
    await use(store, file)
    assert await store.uploads.unused(LATER) == []
    assert await store.files.of_owner("ana").load(file["ref"]) == b"bytes"


async def test_one_that_comes_into_use_meanwhile_stays(store: Store) -> None:
    file = await _upload(store)
    [found] = await store.uploads.unused(LATER)
    await _in_inputs(store, file)
    assert not await store.uploads.remove(found)
    assert await store.files.of_owner("ana").load(file["ref"]) == b"bytes"
