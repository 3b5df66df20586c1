from __future__ import annotations

import asyncio

import pytest

from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError


async def test_a_push_makes_a_version_only_when_the_document_changed(store: Store) -> None:
    first = await store.workflows.push("invoice", "{1}", note="begin")
    again = await store.workflows.push("invoice", "{1}")
    second = await store.workflows.push("invoice", "{2}")
    back = await store.workflows.push("invoice", "{1}")
    assert {each.workflow_id for each in (first, again, second, back)} == {first.workflow_id}
    assert [(each.number, each.created) for each in (first, again, second, back)] == [
        (1, True), (1, False), (2, True), (3, True),
    ]  # fmt: skip
    versions = await store.workflows.versions("invoice")
    assert [(version.number, version.note) for version in versions] == [(3, ""), (2, ""), (1, "begin")]
    assert versions[0].document_hash == versions[2].document_hash


async def test_pushes_at_once_get_numbers_of_their_own(store: Store) -> None:
    pushed = await asyncio.gather(*(store.workflows.push("w", f"{{{n}}}") for n in range(10)))
    assert sorted(each.number for each in pushed) == list(range(1, 11))
    assert len({each.workflow_id for each in pushed}) == 1


async def test_nothing_is_published_until_it_is(store: Store) -> None:
    await store.workflows.push("w", "{1}")
    await store.workflows.push("w", "{2}")
    with pytest.raises(ConflictError, match="no published version; publish one"):
        await store.workflows.document("w", "published")
    assert await store.workflows.publish("w", 1) == 1
    assert await store.workflows.document("w", "published") == (await store.workflows.version("w", 1), "{1}")
    assert (await store.workflows.document("w", "latest"))[1] == "{2}"
    assert await store.workflows.publish("w") == 2
    assert (await store.workflows.document("w", "published"))[1] == "{2}"
    with pytest.raises(NotFoundError, match="no version 9"):
        await store.workflows.publish("w", 9)


async def test_a_workflow_is_found_by_id_and_name_by_its_owner_only(store: Store) -> None:
    pushed = await store.workflows.push("w", "{}", owner="ana")
    by_name, by_id = [await store.workflows.get(key, owner="ana") for key in ("w", pushed.workflow_id)]
    assert by_name == by_id
    for key in ("w", pushed.workflow_id):
        with pytest.raises(NotFoundError, match="no workflow"):
            await store.workflows.get(key, owner="bob")
    assert (await store.workflows.push("w", "{}", owner="bob")).workflow_id != pushed.workflow_id


async def test_workflows_are_listed_in_pages_by_name(store: Store) -> None:
    for name in "dbac":
        await store.workflows.push(name, "{}")
    await store.workflows.push("other", "{}", owner="ana")
    first = await store.workflows.list(limit=3)
    second = await store.workflows.list(limit=3, cursor=first.cursor)
    assert [workflow.name for workflow in first.items + second.items] == ["a", "b", "c", "d"]
    assert second.cursor is None


async def test_a_deleted_name_is_free_again(store: Store) -> None:
    old = await store.workflows.push("w", "{1}")
    await store.workflows.delete("w")
    assert (await store.workflows.list()).items == []
    with pytest.raises(NotFoundError):
        await store.workflows.get(old.workflow_id)
    with pytest.raises(NotFoundError):
        await store.workflows.delete("w")
    new = await store.workflows.push("w", "{1}")
    assert (new.number, new.created) == (1, True)
    assert new.workflow_id != old.workflow_id
