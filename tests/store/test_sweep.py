"""Payloads that nothing refers to go, and none that somebody is about to refer to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from interlace.store import Store
from interlace.store.journal import RunJournal

from .conftest import begin, commit

VALUE = "v" * 20_000
_SECONDS = 20.0


@pytest.fixture
async def postgres_store(postgres_url: str, tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(postgres_url, tmp_path / "home")
    yield opened
    await opened.close()


@pytest.fixture
async def stores(url: str | None, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    """Two processes' stores of one home."""
    first = await Store.open(url, tmp_path / "home")
    second = await Store.open(url, tmp_path / "home")
    yield first, second
    await first.close()
    await second.close()


def of(journal: RunJournal) -> None:
    journal.append("node.succeeded", "n", 1, {"outputs": {"text": VALUE}})
    journal.append("run.succeeded", "", 0, {"outputs": {"text": VALUE}})


async def holds(store: Store, run_id: str) -> bool:
    event = (await store.events.read(run_id, after_seq=1, limit=1))[0]
    return bool((await store.events.resolve(event)).data["outputs"]["text"] == VALUE)


async def waits_for_lock(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        ).fetchone()
    return row is not None and row[0] > 0


async def test_a_reference_that_is_not_committed_yet_keeps_an_orphan(
    postgres_store: Store, postgres_url: str
) -> None:
    """The file lies there from a process that died; another one is in the middle of referring to it."""
    store = postgres_store
    stored = store.payloads.put_json(VALUE)
    with psycopg.connect(postgres_url) as other:
        other.execute("INSERT INTO payloads (ref, size, created_at) VALUES (%s, 1, 0)", (stored.ref,))
        other.execute("INSERT INTO run_payloads (run_id, ref) VALUES ('somebody', %s)", (stored.ref,))
        stored.secure()
        sweeping = asyncio.create_task(store.sweep(older_than=0))
        async with asyncio.timeout(_SECONDS):
            while not sweeping.done() and not await waits_for_lock(postgres_url):  # noqa: ASYNC110 - another process' state
                await asyncio.sleep(0.01)
        other.commit()
    await sweeping
    assert await store.payloads.load(stored.ref) == VALUE
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("DELETE FROM run_payloads")
    assert await store.sweep(older_than=0) == 0, "a row knows it"


async def test_sweeping_and_deleting_while_runs_write_the_same_value(stores: tuple[Store, Store]) -> None:
    """Two processes write one value over and over, while it is deleted with earlier runs and swept without mercy."""
    writer, other = stores
    done = asyncio.Event()

    async def sweep() -> None:
        while not done.is_set():
            await other.sweep(older_than=0)
            await asyncio.sleep(0)

    async def write(store: Store, remover: Store) -> None:
        before: str | None = None
        for _ in range(40):
            journal = await begin(store)
            of(journal)
            both = [commit(journal)] if before is None else [commit(journal), remover.runs.delete(before)]
            await asyncio.gather(*both)
            assert await holds(store, journal.run_id)
            before = journal.run_id
        assert before is not None
        assert await holds(store, before)

    sweeping = asyncio.create_task(sweep())
    try:
        async with asyncio.timeout(60):
            await asyncio.gather(write(writer, other), write(other, writer))
    finally:
        done.set()
        await sweeping
