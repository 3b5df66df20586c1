"""What the repository of knowledge bases promises, on both databases."""

from __future__ import annotations

import asyncio

from interlace.store import Store
from interlace.store.knowledge_rows import ChunkRow, Work

ROW = ChunkRow(text="text", position={"page": 1}, length=1, vector=b"\0" * 8, terms=b"\0" * 8)


async def filled(store: Store) -> tuple[str, Work]:
    generation = await store.knowledge.begin("kb", {"size": 1}, current=True)
    document, _ = await store.knowledge.put(
        "kb", "a.md", b"content", name="a.md", media_type="", metadata={"year": 2024}, by="local"
    )
    return generation, Work(document.id, "kb", generation)


async def test_work_is_what_no_generation_holds(store: Store) -> None:
    generation, work = await filled(store)
    assert await store.knowledge.work() == [work]
    document = await store.knowledge.find("kb", "a.md")
    assert document is not None
    await store.knowledge.hold(work, document, [ROW, ROW], error=None, properties={"language": "en"})
    assert await store.knowledge.work() == []
    assert await store.knowledge.counts("kb", generation) == {
        "documents": 1, "ready": 1, "failed": 0, "waiting": 0, "chunks": 2,
    }  # fmt: skip
    changed, is_new = await store.knowledge.put(
        "kb", "a.md", b"content", name="a.md", media_type="", metadata={"year": 2025}, by="local"
    )
    assert (changed.id, changed.version, is_new) == (document.id, 2, True)
    assert await store.knowledge.work() == [work]


async def test_a_lease_is_held_by_one_and_ends_by_itself(store: Store) -> None:
    _, work = await filled(store)
    claims = await asyncio.gather(*(store.knowledge.claim(work.document_id, f"h{n}", 30) for n in range(5)))
    assert sum(claims) == 1
    assert await store.knowledge.work() == []
    assert await store.knowledge.work(held=True) == [work]
    holder = f"h{claims.index(True)}"
    assert await store.knowledge.claim(work.document_id, holder, -1)
    assert await store.knowledge.claim(work.document_id, "other", 30)


async def test_a_generation_takes_over_when_it_holds_everything(store: Store) -> None:
    old, work = await filled(store)
    document = await store.knowledge.find("kb", "a.md")
    assert document is not None
    await store.knowledge.hold(work, document, [ROW], error=None, properties={})
    new = await store.knowledge.begin("kb", {"size": 2}, current=False)
    assert await store.knowledge.building() == ["kb"]
    assert await store.knowledge.switch("kb") is False
    await store.knowledge.hold(work._replace(generation=new), document, [ROW], error=None, properties={})
    assert await store.knowledge.switch("kb") is True
    assert [(g.id, g.status) for g in await store.knowledge.generations("kb")] == [(new, "current")]
    assert await store.knowledge.segments(old, [document.id]) == []
    assert await store.knowledge.texts(new, [(document.id, 0)]) == {(document.id, 0): ("text", {"page": 1})}


async def test_what_was_removed_meanwhile_is_not_held(store: Store) -> None:
    generation, work = await filled(store)
    document = await store.knowledge.remove("kb", "a.md")
    await store.knowledge.hold(work, document, [ROW], error=None, properties={})
    assert await store.knowledge.held("kb", generation) == {}
    assert await store.knowledge.segments(generation, [document.id]) == []


async def test_documents_come_in_pages(store: Store) -> None:
    generation, _ = await filled(store)
    for name in ("b", "c", "d"):
        await store.knowledge.put("kb", name, b"x", name=name, media_type="", metadata={}, by="local")
    first = await store.knowledge.documents("kb", generation=generation, limit=3)
    assert [document.source for document, _ in first.items] == ["a.md", "b", "c"]
    rest = await store.knowledge.documents("kb", generation=generation, limit=3, after=first.cursor)
    assert ([document.source for document, _ in rest.items], rest.cursor) == (["d"], None)


async def test_an_older_version_is_not_held_over_a_newer_one(store: Store) -> None:
    generation, work = await filled(store)
    first = await store.knowledge.find("kb", "a.md")
    assert first is not None
    newer, _ = await store.knowledge.put(
        "kb", "a.md", b"more", name="a.md", media_type="", metadata={}, by="local"
    )
    await store.knowledge.hold(work, newer, [ROW, ROW], error=None, properties={"language": "en"})
    await store.knowledge.hold(work, first, [ROW], error=None, properties={"language": "ja"})
    assert await store.knowledge.work() == []
    assert len(await store.knowledge.segments(generation, [newer.id])) == 2
    found = await store.knowledge.find("kb", "a.md")
    assert found is not None
    assert found.properties == {"language": "en"}


async def test_what_is_removed_at_that_moment_is_not_held(store: Store) -> None:
    for _ in range(20):
        generation, work = await filled(store)
        document = await store.knowledge.find("kb", "a.md")
        assert document is not None
        await asyncio.gather(
            store.knowledge.remove("kb", "a.md"),
            store.knowledge.hold(work, document, [ROW], error=None, properties={}),
        )
        assert await store.knowledge.segments(generation, [document.id]) == []
        assert await store.knowledge.held("kb", generation) == {}


async def test_what_is_held_at_once_has_a_revision_each(store: Store) -> None:
    generation = await store.knowledge.begin("kb", {}, current=True)
    documents = [
        (await store.knowledge.put("kb", name, b"x", name=name, media_type="", metadata={}, by="local"))[0]
        for name in "abcd"
    ]
    await asyncio.gather(
        *(
            store.knowledge.hold(
                Work(document.id, "kb", generation), document, [ROW], error=None, properties={}
            )
            for document in documents
        )
    )
    held = await store.knowledge.held("kb", generation)
    assert sorted(revision for revision, _ in held.values()) == [1, 2, 3, 4]
    (now,) = await store.knowledge.generations("kb")
    assert now.revision == 4
