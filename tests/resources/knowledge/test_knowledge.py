"""Knowledge bases from adding a document to finding what it says, with the real model."""

from __future__ import annotations

import pytest

from interlace.engine.chat import CallSite
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL, Principal
from interlace.flows.platform import Platform
from interlace.resources.documents.source import Source
from interlace.resources.knowledge import Query
from interlace.resources.knowledge.grounding import check_quotes, is_verbatim
from interlace.resources.knowledge.result import Found, Retrieved
from interlace.store.errors import ForbiddenError, NotFoundError

LEAVE = "# Leave\n\nEmployees have 25 days of paid leave in a year. Five unused days carry over to the next year.\n"
TRAVEL = (
    "# Travel\n\nTravel costs are paid back within ten working days. Receipts are needed for each claim.\n"
)
JAPANESE = "# 休暇\n\n従業員は年に25日の有給休暇を取得できます。未使用の5日は翌年に繰り越されます。\n"
CHINESE = "# 报销\n\n差旅费用在提交收据后十个工作日内报销。\n"
SITE = CallSite(principal=LOCAL)


def file(text: str, name: str) -> Source:
    return Source(content=text.encode(), name=name, media_type="text/markdown")


async def base(platform: Platform, **texts: str) -> None:
    await platform.knowledge.add("handbook", {}, by=LOCAL)
    for name, text in texts.items():
        await platform.knowledge.put("handbook", file(text, f"{name}.md"), by=LOCAL)
    await platform.ingestion.drain()


async def find(platform: Platform, text: str, **options: object) -> Retrieved:
    return await platform.knowledge.search(["handbook"], Query(text=text, **options), site=SITE)  # type: ignore[arg-type]


async def test_a_question_finds_its_document_in_three_languages(platform: Platform) -> None:
    await base(platform, leave=LEAVE, travel=TRAVEL, kyuuka=JAPANESE, baoxiao=CHINESE)
    for question, source in (
        ("How many unused days carry over?", "leave.md"),
        ("When are travel costs paid back?", "travel.md"),
        ("有給休暇は何日ですか", "kyuuka.md"),
        ("差旅费用什么时候报销", "baoxiao.md"),
    ):
        for mode in ("hybrid", "dense", "text"):
            found = await find(platform, question, mode=mode)
            assert found.chunks[0].source == source, (question, mode)
            assert 0 < found.chunks[0].score <= 1
        assert [chunk.n for chunk in found.chunks] == list(range(1, len(found.chunks) + 1))
    assert found.context.startswith("[1] baoxiao.md")
    assert found.citations[0]["source"] == "baoxiao.md"


async def test_a_base_by_ranks_is_ordered_by_them(platform: Platform) -> None:
    """Not by the scores, which tell how well something fits; also beside another base."""
    texts = {
        "leave": LEAVE, "travel": TRAVEL, "days": "Days, days, and paid days.", "holiday": "Vacation of the staff.",
    }  # fmt: skip
    await platform.knowledge.add("ranks", {"fusion": {"method": "rrf", "dense": 1.0, "text": 0.1}}, by=LOCAL)
    for name, text in texts.items():
        await platform.knowledge.put("ranks", file(text, f"{name}.md"), by=LOCAL)
    await base(platform, leave=JAPANESE)
    query = Query(text="paid days", top_k=10)
    found = (await platform.knowledge.search(["ranks"], query, site=SITE)).chunks
    dense = sorted((chunk for chunk in found if chunk.dense > 0), key=lambda chunk: -chunk.dense)
    words = sorted((chunk for chunk in found if chunk.words > 0), key=lambda chunk: -chunk.words)

    def place(chunk: Found) -> float:
        by = ((dense, 1.0), (words, 0.1))
        return -sum(weight / (11 + ranked.index(chunk)) for ranked, weight in by if chunk in ranked)

    assert found == sorted(found, key=place)
    assert found != sorted(found, key=lambda chunk: -chunk.score)
    both = (await platform.knowledge.search(["handbook", "ranks"], query, site=SITE)).chunks
    of_ranks = [chunk.source for chunk in both if chunk.metadata["knowledge_base"] == "ranks"]
    assert of_ranks == [chunk.source for chunk in found]


async def test_text_is_as_it_stands_in_the_document_with_its_place(platform: Platform) -> None:
    await base(platform, leave=LEAVE)
    chunk = (await find(platform, "carry over")).chunks[0]
    assert "Five unused days carry over to the next year." in chunk.text
    assert chunk.position["line"] == 1
    assert chunk.metadata["knowledge_base"] == "handbook"
    assert chunk.metadata["language"] == "en"


async def test_what_is_unchanged_is_skipped_and_what_changed_replaces(platform: Platform) -> None:
    await base(platform, leave=LEAVE)
    before, changed = await platform.knowledge.put("handbook", file(LEAVE, "leave.md"), by=LOCAL)
    assert changed is False
    assert await platform.store.knowledge.work() == []
    _, changed = await platform.knowledge.put(
        "handbook", file(LEAVE.replace("25", "30"), "leave.md"), by=LOCAL
    )
    assert changed is True
    assert "25 days" in (await find(platform, "paid leave")).chunks[0].text
    await platform.ingestion.drain()
    found = await find(platform, "paid leave")
    assert [chunk.metadata["document_id"] for chunk in found.chunks] == [before.id]
    assert "30 days" in found.chunks[0].text


async def test_a_removed_document_is_not_found(platform: Platform) -> None:
    await base(platform, leave=LEAVE, travel=TRAVEL)
    await find(platform, "leave")
    await platform.knowledge.drop("handbook", "leave.md", by=LOCAL)
    assert [chunk.source for chunk in (await find(platform, "paid leave")).chunks] == ["travel.md"]
    with pytest.raises(NotFoundError, match=r"no document 'leave\.md'"):
        await platform.knowledge.drop("handbook", "leave.md", by=LOCAL)


async def test_filters_and_least_score(platform: Platform) -> None:
    await platform.knowledge.add("handbook", {}, by=LOCAL)
    for name, text, year in (("leave", LEAVE, 2020), ("travel", TRAVEL, 2024)):
        await platform.knowledge.put("handbook", file(text, f"{name}.md"), by=LOCAL, metadata={"year": year})
    await platform.ingestion.drain()
    new = await find(platform, "paid leave", filter={"year": {"gte": 2022}})
    assert [chunk.source for chunk in new.chunks] == ["travel.md"]
    assert (await find(platform, "paid leave", filter={"year": 1999})).chunks == []
    assert [c.source for c in (await find(platform, "paid leave", min_score=0.4)).chunks] == ["leave.md"]


async def test_the_same_text_is_given_once(platform: Platform) -> None:
    await base(platform, one=LEAVE, two=LEAVE, three=TRAVEL)
    assert sorted(chunk.source for chunk in (await find(platform, "paid leave")).chunks)[0:1] == ["one.md"]
    assert len((await find(platform, "paid leave")).chunks) == 2


async def test_a_document_that_cannot_be_read_says_why_and_stops_nobody(platform: Platform) -> None:
    await platform.knowledge.add("handbook", {}, by=LOCAL)
    await platform.knowledge.put("handbook", Source(content=b"%PDF-1.4 broken", name="a.pdf"), by=LOCAL)
    await platform.knowledge.put("handbook", file(LEAVE, "leave.md"), by=LOCAL)
    await platform.ingestion.drain()
    page = await platform.knowledge.documents("handbook", by=LOCAL)
    states = {document.source: entry and (entry.state, entry.error) for document, entry in page.items}
    assert states["leave.md"] == ("ready", None)
    state, error = states["a.pdf"] or ("", {})
    assert (state, error and error["type"]) == ("failed", "document_damaged")
    progress = await platform.knowledge.progress("handbook", by=LOCAL)
    assert (progress["ready"], progress["failed"], progress["waiting"]) == (1, 1, 0)


async def test_grounded_answers_quote_word_for_word_and_name_conflicts(platform: Platform) -> None:
    other = "# Rules\n\nEmployees have 20 days of paid leave in a year. Dogs are welcome.\n"
    await base(platform, leave=LEAVE, rules=other, travel=TRAVEL)
    found = await find(platform, "How many days of paid leave do employees have in a year?", grounded=True)
    assert found.refused is None
    assert found.quotes[0].text in {
        "Employees have 25 days of paid leave in a year.",
        "Employees have 20 days of paid leave in a year.",
    }
    texts = {chunk.n: chunk.text for chunk in found.chunks}
    assert all(quote.text in texts[quote.n] for quote in found.quotes)
    assert [conflict.reason for conflict in found.conflicts] == [found.conflicts[0].reason]
    assert {"20", "25"} <= set(found.conflicts[0].reason.replace(",", " ").split())
    assert Retrieved.from_json(found.as_json()) == found


async def test_grounded_refuses_what_the_documents_do_not_know(platform: Platform) -> None:
    await base(platform, leave=LEAVE, travel=TRAVEL)
    found = await find(platform, "Which enzyme repairs the double helix?", grounded=True)
    assert (found.chunks, found.context) == ([], "")
    assert found.refused is not None
    assert "confidence" in found.refused or "nothing" in found.refused


def test_quotes_of_an_answer_are_checked() -> None:
    chunk = Found(text="Five unused days\ncarry over.", score=1, source="a", position={}, metadata={}, n=1)
    assert is_verbatim("Five unused  days carry over", chunk.text)
    assert check_quotes('It says "Five unused days carry over." and "All days carry over."', [chunk]) == [
        "All days carry over."
    ]


async def test_a_new_index_is_built_beside_the_old_one(platform: Platform) -> None:
    long = LEAVE + "Ask the office about all other kinds of leave, as it knows them best.\n" * 3
    await base(platform, leave=long, travel=TRAVEL)
    old = await find(platform, "paid leave")
    await platform.knowledge.update("handbook", {"chunking": {"size": 32, "overlap": 0}}, by=LOCAL)
    assert await find(platform, "paid leave") == old
    progress = await platform.knowledge.progress("handbook", by=LOCAL)
    assert (progress["ready"], progress["building"]["waiting"]) == (2, 2)
    await platform.ingestion.drain()
    progress = await platform.knowledge.progress("handbook", by=LOCAL)
    assert (progress["building"], progress["ready"]) == (None, 2)
    assert progress["chunks"] > 2
    assert (await find(platform, "paid leave")).chunks[0].source == "leave.md"
    assert (
        len(
            await platform.store.knowledge.generations(
                (await platform.store.resources.find("knowledge_base", "handbook", by=LOCAL)).id
            )
        )
        == 1
    )


async def test_others_neither_see_nor_change_it(platform: Platform) -> None:
    await base(platform, leave=LEAVE)
    stranger = Principal("stranger")
    with pytest.raises(NodeError) as caught:
        await platform.knowledge.search(["handbook"], Query(text="x"), site=CallSite(principal=stranger))
    assert caught.value.kind == "resource_not_found"
    with pytest.raises((NotFoundError, ForbiddenError)):
        await platform.knowledge.put("handbook", file("x", "x.md"), by=stranger)


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ({"chunking": {"size": 1}}, "chunking.size"),
        ({"chunking": {"size": 64, "overlap": 60}}, "half of size"),
        ({"fusion": {"dense": 0, "text": 0}}, "weight"),
        ({"nothing": 1}, "nothing"),
    ],
)
async def test_a_definition_that_is_none_names_the_field(
    platform: Platform, definition: dict[str, object], said: str
) -> None:
    with pytest.raises(NodeError, match=said) as raised:
        await platform.knowledge.add("x", definition, by=LOCAL)
    assert raised.value.kind == "knowledge_definition"


async def test_an_empty_query_and_an_empty_base(platform: Platform) -> None:
    await platform.knowledge.add("handbook", {}, by=LOCAL)
    found = await find(platform, "anything", grounded=True)
    assert (found.chunks, found.confidence) == ([], 0.0)
    with pytest.raises(NodeError, match="empty"):
        await find(platform, " ")


async def test_removing_it_removes_everything(platform: Platform) -> None:
    await base(platform, leave=LEAVE)
    resource = await platform.store.resources.find("knowledge_base", "handbook", by=LOCAL)
    document = await platform.store.knowledge.find(resource.id, "leave.md")
    assert document is not None
    await platform.knowledge.remove("handbook", by=LOCAL)
    assert await platform.store.knowledge.generations(resource.id) == []
    assert await platform.store.knowledge.find(resource.id, "leave.md") is None
    with pytest.raises(NotFoundError):
        await platform.store.payloads.get(document.ref)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Employees have 25 days of annual leave. Unused days expire on 31 March.",
            "Employees have 30 days of annual leave. Unused days expire on 31 March.",
        ),
        (
            "Employees may take annual leave in their first month. Ask for it two weeks before.",
            "Employees may not take annual leave in their first month. Ask for it two weeks before.",
        ),
        (
            "Annual leave of employees is granted by the head of sales, in writing, within five days.",
            "Annual leave of employees is granted by the head of legal, in writing, within five days.",
        ),
    ],
)
async def test_a_document_that_contradicts_is_no_duplicate(platform: Platform, one: str, other: str) -> None:
    await base(platform, a=one, b=other, c=one.replace(". ", ".\n"))
    for grounded in (False, True):
        found = await find(platform, "Annual leave of employees?", grounded=grounded, top_k=10)
        sources = {chunk.source for chunk in found.chunks}
        assert "b.md" in sources
        assert len(sources) == 2, "what says the same in other lines is given once"


async def test_a_contradiction_between_near_copies_is_named(platform: Platform) -> None:
    text = "Employees have {} days of annual leave. Unused days expire on 31 March."
    await base(platform, a=text.format(25), b=text.format(30))
    found = await find(platform, "How many days of annual leave?", grounded=True, top_k=10)
    assert {"25", "30"} <= set(found.conflicts[0].reason.replace(",", " ").split())
    assert {found.citations[n - 1]["source"] for n in found.conflicts[0].between} == {"a.md", "b.md"}
