from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.errors import StoreError
from interlace.engine.variables import Written
from interlace.store import Store
from interlace.store.changing import file_key
from interlace.store.errors import CommitError, FencedError, NotFoundError, NotJsonError, TooLargeError

from .conftest import begin, commit
from .test_writer import holder, path_of

FILE = file_key("local", "test")


class Change:
    """Adds to what it finds."""

    def __init__(self, amount: Any = 1, name: str = "n") -> None:
        self.names = (name,)
        self.path, self.attempt = "count", 1
        self.written: Written | None = None
        self.found: list[Mapping[str, Any] | None] = []
        self.refused: StoreError | None = None
        self._amount = amount

    def compute(self, latest: Mapping[str, Any] | None) -> Written:
        self.found.append(latest)
        if latest is None:
            return Written(kind="node.log", data={"message": "gone"})
        values = {self.names[0]: latest.get(self.names[0], 0) + self._amount}
        return Written(kind="node.succeeded", data={"outputs": values, "variables": values}, values=values)

    def refuse(self, error: StoreError) -> Written:
        self.refused = error
        return Written(kind="node.log", data={"message": str(error)})


async def journal_of(store: Store, keeps: str = FILE, **fields: object) -> Any:
    journal = await begin(store, **fields)
    return store.journal(journal.run_id, journal.epoch, 2, keeps=keeps)


async def test_people_set_and_forget_variables(store: Store) -> None:
    assert await store.variables.of("w") == {}
    await store.variables.write("w", {"seen": [1, None, 2**70], "n": 1})
    await store.variables.write("w", {"seen": {"a": "ü"}})
    kept = await store.variables.of("w")
    assert {name: (entry.value, entry.version) for name, entry in kept.items()} == {
        "n": (1, 1),
        "seen": ({"a": "ü"}, 2),
    }
    assert await store.variables.values("other") == {}
    await store.variables.write("w", {"m": 2}, forget=["n", "never"])
    assert await store.variables.values("w") == {"m": 2, "seen": {"a": "ü"}}
    with pytest.raises(NotJsonError):
        await store.variables.write("w", {"n": float("nan")})
    with pytest.raises(TooLargeError, match="1,000,000 are allowed"):
        await store.variables.write("w", {"n": "x" * 1_000_000, "m": 3})
    assert await store.variables.values("w") == {"m": 2, "seen": {"a": "ü"}}


async def test_changes_of_many_runs_in_one_commit_see_each_other(store: Store) -> None:
    journals = await asyncio.gather(*(journal_of(store) for _ in range(40)))
    changes = [Change() for _ in journals]
    await asyncio.gather(*(journal.change(change) for journal, change in zip(journals, changes, strict=True)))
    (kept,) = (await store.variables.of(FILE)).values()
    assert (kept.value, kept.version) == (40, 40)
    events = [(await store.events.read(journal.run_id))[-1] for journal in journals]
    assert sorted(event.data["outputs"]["n"] for event in events) == list(range(1, 41))
    assert all(event.data["kept"] == event.data["outputs"] for event in events), "versions count the writes"
    assert {(event.type, event.path, event.seq) for event in events} == {("node.succeeded", "count", 2)}


async def test_events_keep_their_order_around_a_change(store: Store) -> None:
    journal = await journal_of(store)
    journal.append("node.started", "count", 1)
    waiting = journal.change(Change())
    journal.append("node.log", "other", 1, {"message": "after"})
    await waiting
    await commit(journal)
    events = await store.events.read(journal.run_id)
    assert [(event.seq, event.type) for event in events] == [
        (1, "run.queued"), (2, "node.started"), (3, "node.succeeded"), (4, "node.log"),
    ]  # fmt: skip


async def test_one_that_owns_the_run_no_more_changes_nothing(store: Store) -> None:
    journal = await journal_of(store, lease_seconds=-1.0)
    other = await journal_of(store)
    assert await store.runs.claim(journal.run_id, "another", 15.0) is not None
    change = Change()
    results = await asyncio.gather(journal.change(change), other.change(Change(10)), return_exceptions=True)
    assert [type(result) for result in results] == [FencedError, type(None)]
    assert change.found == []
    assert await store.variables.values(FILE) == {"n": 10}
    assert await store.events.last_seq(journal.run_id) == 1


async def test_what_cannot_be_kept_leaves_everything_as_it_was(store: Store) -> None:
    await store.variables.write(FILE, {"n": 1e308, "text": "x" * 999_000})
    for change, kind in ((Change(1e308), NotJsonError), (Change("y" * 2000, "text"), TooLargeError)):
        journal = await journal_of(store)
        await journal.change(change)
        assert type(change.refused) is kind
        assert (await store.events.read(journal.run_id))[-1].type == "node.log"
    assert {entry.version for entry in (await store.variables.of(FILE)).values()} == {1}


async def test_values_above_8_kb_stand_in_the_event_by_reference(store: Store) -> None:
    await store.variables.write(FILE, {"text": "x" * 20_000})
    journal = await journal_of(store)
    await journal.change(Change("y", "text"))
    event = (await store.events.read(journal.run_id))[-1]
    assert event.data["outputs"]["text"]["size"] == 20_003
    assert (await store.events.resolve(event)).data["variables"] == {"text": "x" * 20_000 + "y"}
    assert await store.payload_of(journal.run_id, event.data["outputs"]["text"]["$payload"])


async def test_a_deleted_workflow_takes_its_variables_along(store: Store) -> None:
    pushed = await store.workflows.push("counting", "{}")
    journal = await journal_of(store, pushed.workflow_id)
    await journal.change(Change())
    assert await store.variables.values(pushed.workflow_id) == {"n": 1}
    await store.workflows.delete("counting")
    assert await store.variables.of(pushed.workflow_id) == {}
    late = Change()
    await journal.change(late)
    assert late.found == [None]
    assert await store.variables.of(pushed.workflow_id) == {}
    again = await store.workflows.push("counting", "{}")
    assert await store.variables.of(again.workflow_id) == {}
    with pytest.raises(NotFoundError):
        await store.workflows.get(pushed.workflow_id)


async def test_a_run_that_may_keep_nothing_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="changes no kept variables"):
        await (await begin(store)).change(Change())


async def test_a_busy_database_is_waited_for_and_the_change_is_made_on_the_loop(sqlite_store: Store) -> None:
    import threading

    threads = []

    class Watched(Change):
        def compute(self, latest: Mapping[str, Any] | None) -> Written:
            threads.append(threading.get_ident())
            return super().compute(latest)

    journal = await journal_of(sqlite_store)
    with holder(path_of(sqlite_store.database)) as other:
        waiting = asyncio.ensure_future(journal.change(Watched()))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not waiting.done()
        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()
        await waiting
    assert threads == [threading.get_ident()]
    assert await sqlite_store.variables.values(FILE) == {"n": 1}


async def test_a_commit_that_fails_changes_nothing(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlace.store.sqlite_writer.BUSY_MILLISECONDS", 20)
    journal = await journal_of(sqlite_store)
    with holder(path_of(sqlite_store.database)), pytest.raises(CommitError):
        await journal.change(Change())
    assert await sqlite_store.variables.of(FILE) == {}


async def test_stores_of_two_processes_lose_no_change(url: str | None, tmp_path: Path) -> None:
    one, other = [await Store.open(url, tmp_path / "home") for _ in range(2)]
    try:
        journals = [await journal_of(store) for store in (one, other) for _ in range(4)]
        for _ in range(15):
            await asyncio.gather(*(journal.change(Change()) for journal in journals))
        assert await one.variables.values(FILE) == {"n": 120}
    finally:
        await other.close()
        await one.close()
