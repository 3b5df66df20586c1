"""Searching: by names, parameters and meaning, in several languages, with vectors that are made once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from interlace.agents.search import Entry, Finder, Vectors, entry_of
from interlace.agents.search.words import parts
from interlace.resources.knowledge.embedding import EmbeddedModel

ENTRIES = [
    Entry(key="sendEmail", name="sendEmail", description="Send a message to a mailbox"),
    Entry(key="create_issue", name="create_issue", owner="tracker", description="Report a bug"),
    Entry(key="list_invoices", name="list_invoices", description="Bills of a customer"),
    Entry(key="getWeather", name="getWeather", description="Forecast for a place"),
    Entry(
        key="注文を取り消す",
        name="注文を取り消す",
        description="まだ発送されていない注文をキャンセルします。",
    ),
    Entry(key="refund", name="refund", description="Give money back", parameters=("iban", "amount")),
]


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return EmbeddedModel()


@pytest.fixture
async def finder(model: EmbeddedModel) -> AsyncIterator[Finder]:
    vectors = Vectors(model)
    yield Finder(vectors)
    await vectors.close()


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("sendEmail", "sendEmail"),
        ("email somebody", "sendEmail"),
        ("open a ticket about a defect in the tracker", "create_issue"),
        ("will it rain tomorrow in Osaka", "getWeather"),
        ("IBAN", "refund"),
        ("注文をキャンセルしたい", "注文を取り消す"),
        ("show the invoces", "list_invoices"),
    ],
)
async def test_what_is_meant_comes_first(finder: Finder, request_: str, wanted: str) -> None:
    found = await finder.find(ENTRIES, request_, limit=3)
    assert found[0].entry.key == wanted


async def test_each_step_of_a_task_finds_its_tool(finder: Finder) -> None:
    task = "Look up the bills of customer 7. Then give her the money back for the last one. Finally send her a mail."
    assert len(parts(task)) == 3
    found = {hit.entry.key for hit in await finder.find(ENTRIES, task, limit=3)}
    assert found == {"list_invoices", "refund", "sendEmail"}


async def test_parameters_within_parameters_are_found_by_name_and_text(finder: Finder) -> None:
    schema = {
        "type": "object",
        "properties": {"where": {"$ref": "#/$defs/Place"}, "tags": {"items": {"enum": ["urgent", "later"]}}},
        "$defs": {"Place": {"properties": {"zip": {"description": "postal code of the warehouse"}}}},
    }
    entry = entry_of("x", "x", schema)
    assert entry.parameters == ("where", "tags", "zip")
    assert (await finder.find([*ENTRIES, entry], "warehouse", limit=1))[0].entry is entry


async def test_a_schema_that_refers_to_itself_ends(finder: Finder) -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/Node"}}}
    assert "next" in entry_of("x", "x", {**node, "$defs": {"Node": node}}).parameters


async def test_a_query_costs_one_vector_and_tools_theirs_once(model: EmbeddedModel, tmp_path: Path) -> None:
    first = Vectors(model, tmp_path)
    await Finder(first).find(ENTRIES, "weather")
    assert first.made == len(ENTRIES) + 1
    await Finder(first).find(ENTRIES, "rain")
    assert first.made == len(ENTRIES) + 2
    after_a_restart = Vectors(model, tmp_path)
    found = await Finder(after_a_restart).find(ENTRIES, "weather")
    assert after_a_restart.made == 1
    assert found[0].entry.key == "getWeather"


async def test_a_torn_file_costs_its_last_record_and_no_error(model: EmbeddedModel, tmp_path: Path) -> None:
    await Vectors(model, tmp_path).of(["one", "two"])
    file = tmp_path / "tool-vectors-1.bin"
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes()[:-5])
    again = Vectors(model, tmp_path)
    await again.of(["one", "two"])
    assert again.made == 1
    assert file.stat().st_size % (16 + 1024) == 0


async def test_many_new_tools_do_not_hold_a_turn_up(model: EmbeddedModel, tmp_path: Path) -> None:
    vectors = Vectors(model, tmp_path)
    many = [Entry(key=f"tool{n}", name=f"tool{n}", description=f"Number {n}") for n in range(300)]
    finder = Finder(vectors)
    found = await finder.find([*ENTRIES, *many], "refund", limit=1, wait=False)
    assert found[0].entry.key == "refund"
    assert vectors.made == 0
    async with asyncio.timeout(60):
        while await vectors.of([entry.meaning for entry in many], wait=False) is None:
            await asyncio.gather(*vectors._working)
    assert vectors.made >= 300
    await vectors.close()


async def test_nothing_fits_nothing(finder: Finder) -> None:
    assert await finder.find([], "weather") == []
    assert await finder.find(ENTRIES, "  ") == []
