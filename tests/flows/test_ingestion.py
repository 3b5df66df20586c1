"""Ingestion survives the death of its process, works beside others, and fetches URLs behind the guard."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlace.engine.chat import CallSite
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.documents.source import Source
from interlace.resources.http.testing import Reply, serve
from interlace.resources.knowledge import KIND, Query

DOCUMENTS = 12


async def test_a_killed_process_is_gone_on_from_where_it_was(tmp_path: Path) -> None:
    home = tmp_path / "home"
    program = Path(__file__).with_name("ingesting.py")
    child = subprocess.Popen(  # noqa: ASYNC220 - its lines are read until it is killed
        [sys.executable, str(program), str(home), str(DOCUMENTS)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"}, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    ready = 0
    for line in child.stdout:
        ready += "state=ready" in line
        if ready == 3:
            break
    child.kill()
    child.wait()
    child.stdout.close()
    assert ready == 3
    platform = await Platform.open(Settings(home=home))
    try:
        base = await platform.store.resources.find(KIND, "handbook", by=LOCAL)
        (generation,) = await platform.store.knowledge.generations(base.id)
        before = await platform.store.knowledge.held(base.id, generation.id)
        assert 3 <= len(before) < DOCUMENTS
        async with asyncio.timeout(60):
            await platform.ingestion.drain()
        after = await platform.store.knowledge.held(base.id, generation.id)
        assert len(after) == DOCUMENTS
        assert {name: after[name][0] for name in before} == {name: held[0] for name, held in before.items()}
        progress = await platform.knowledge.progress("handbook", by=LOCAL)
        assert (progress["ready"], progress["chunks"], progress["waiting"]) == (DOCUMENTS, DOCUMENTS, 0)
        query = Query(text="valve number 7", mode="text", top_k=1)
        found = await platform.knowledge.search(["handbook"], query, site=CallSite(principal=LOCAL))
        assert "17 euros" in found.chunks[0].text
    finally:
        await platform.close()


async def test_two_processes_share_the_work(tmp_path: Path) -> None:
    first = await Platform.open(Settings(home=tmp_path / "home"))
    second = await Platform.open(Settings(home=tmp_path / "home"))
    try:
        await first.knowledge.add("handbook", {}, by=LOCAL)
        for number in range(6):
            file = Source(content=f"Valve {number}.".encode(), name=f"{number}.txt")
            await first.knowledge.put("handbook", file, by=LOCAL)
        await asyncio.gather(first.ingestion.drain(), second.ingestion.drain())
        for platform in (first, second):
            progress = await platform.knowledge.progress("handbook", by=LOCAL)
            assert (progress["ready"], progress["chunks"]) == (6, 6)
            query = Query(text="valve 3", mode="text")
            found = await platform.knowledge.search(["handbook"], query, site=CallSite(principal=LOCAL))
            assert found.chunks[0].source == "3.txt"
    finally:
        await second.close()
        await first.close()


async def test_it_works_in_the_background_and_is_woken(tmp_path: Path) -> None:
    platform = await Platform.open(Settings(home=tmp_path / "home"))
    try:
        platform.ingestion.start()
        await platform.knowledge.add("handbook", {}, by=LOCAL)
        await platform.knowledge.put("handbook", Source(content=b"A valve.", name="a.txt"), by=LOCAL)
        async with asyncio.timeout(30):
            while not (await platform.knowledge.progress("handbook", by=LOCAL))["ready"]:  # noqa: ASYNC110 - polled
                await asyncio.sleep(0.02)
    finally:
        await platform.close()


async def test_a_url_is_fetched_behind_the_guard(tmp_path: Path) -> None:
    page = b"<html><head><title>Rules</title></head><body><p>Dogs are welcome here.</p></body></html>"
    async with serve(lambda _: Reply(200, page, [("Content-Type", "text/html")])) as server:
        platform = await Platform.open(
            Settings(home=tmp_path / "home", http_allow=[f"127.0.0.1:{server.port}"])
        )
        try:
            await platform.knowledge.add("handbook", {}, by=LOCAL)
            await platform.knowledge.put("handbook", f"{server.url}/rules", by=LOCAL)
            await platform.ingestion.drain()
            query = Query(text="are dogs allowed")
            found = await platform.knowledge.search(["handbook"], query, site=CallSite(principal=LOCAL))
            assert (found.chunks[0].source, found.citations[0]["title"]) == (f"{server.url}/rules", "Rules")
            with pytest.raises(NodeError) as raised:
                await platform.knowledge.put("handbook", "http://127.0.0.1:1/secret", by=LOCAL)
            assert raised.value.kind == "blocked_address"
        finally:
            await platform.close()


async def test_a_model_that_is_out_of_reach_is_tried_again_and_then_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlace.flows.ingestion.LEASE_SECONDS", 0.05)
    provider = {"name": "p", "base_url": "http://127.0.0.1:9/v1", "models": [{"name": "vectors"}]}
    platform = await Platform.open(
        Settings(home=tmp_path / "home", models={"providers": [provider]})  # type: ignore[arg-type]
    )
    try:
        await platform.knowledge.add("handbook", {"embedding": "vectors"}, by=LOCAL)
        await platform.knowledge.put("handbook", Source(content=b"A valve.", name="a.txt"), by=LOCAL)
        async with asyncio.timeout(60):
            await platform.ingestion.drain()
        page = await platform.knowledge.documents("handbook", by=LOCAL)
        (_, entry) = page.items[0]
        assert entry is not None
        assert (entry.state, entry.error and "127.0.0.1" in entry.error["message"]) == ("failed", True)
    finally:
        await platform.close()
