"""KB_RETRIEVAL in a run: with the rights of whoever started it, and with what it declares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.documents.source import Source
from tests.nodes.runs import NodeRun, run_node

TEXT = b"# Leave\n\nEmployees have 25 days of paid leave in a year. Five unused days carry over.\n"


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home"))
    await opened.knowledge.add("handbook", {}, by=LOCAL)
    await opened.knowledge.put(
        "handbook", Source(content=TEXT, name="leave.md"), by=LOCAL, metadata={"year": 2024}
    )
    await opened.ingestion.drain()
    yield opened
    await opened.close()


async def ask(platform: Platform, question: str, **config: Any) -> NodeRun:
    given = {"knowledge_bases": "handbook", "query": "{{ inputs.q }}", **config}
    return await run_node("KB_RETRIEVAL", given, {"q": question}, services=platform.services)


async def test_chunks_context_citations_and_confidence(platform: Platform) -> None:
    run = await ask(platform, "How many days of leave are there?")
    chunk = run["chunks"][0]
    assert set(chunk) == {"n", "text", "score", "source", "position", "metadata"}
    assert (chunk["n"], chunk["source"], chunk["metadata"]["year"]) == (1, "leave.md", 2024)
    assert run["context"].startswith("[1] leave.md")
    assert run["citations"][0]["n"] == 1
    assert run["confidence"] > 0.25
    assert run["refused"] is None


async def test_grounded_quotes_or_refuses(platform: Platform) -> None:
    run = await ask(platform, "How many days of paid leave in a year?", grounded=True)
    assert run["citations"][0]["quotes"][0] == "Employees have 25 days of paid leave in a year."
    refused = await ask(platform, "Who painted the ceiling of the chapel?", grounded=True)
    assert refused["chunks"] == []
    assert refused["refused"]


async def test_filters_and_limits_may_be_computed(platform: Platform) -> None:
    run = await ask(platform, "leave", filter={"year": "{{ 2000 + 23 }}"}, top_k="{{ 1 + 1 }}")
    assert run["chunks"] == []


async def test_what_is_wrong_is_said(platform: Platform) -> None:
    assert (await ask(platform, " ")).kind == "knowledge_query"
    assert (await ask(platform, "x", filter={"year": {"like": 1}})).kind == "knowledge_filter"
    missing = await ask(platform, "x", knowledge_bases=["nowhere"])
    assert "nowhere" in missing.message
