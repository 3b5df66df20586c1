from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.store.people import make_people

from interlace.engine.principal import LOCAL
from interlace.store import Store
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.secrets import SecretRow

D = {"base_url": "https://api.example.com"}


async def test_a_resource_is_found_by_name_and_id_and_removed(store: Store) -> None:
    made = await store.resources.add("connector", "shop", D, by=LOCAL)
    assert made == await store.resources.find("connector", "shop", by=LOCAL)
    assert made == await store.resources.find("connector", made.id, by=LOCAL)
    assert (made.owner, made.version, made.visibility, made.active) == ("local", 1, "private", True)
    with pytest.raises(NotFoundError, match="no database 'shop'"):
        await store.resources.find("database", "shop", by=LOCAL)
    await store.resources.remove(made.id, by=LOCAL)
    with pytest.raises(NotFoundError, match="no connector 'shop'"):
        await store.resources.find("connector", "shop", by=LOCAL)
    await store.resources.add("connector", "shop", D, by=LOCAL)


async def test_names_are_unique_in_a_scope_and_a_kind(store: Store) -> None:
    people = await make_people(store)
    await store.resources.add("skill", "refunds", {}, by=people.ann)
    with pytest.raises(ConflictError, match="there is a skill 'refunds' already"):
        await store.resources.add("skill", "refunds", {}, by=people.ann)
    await store.resources.add("agent", "refunds", {}, by=people.ann)
    await store.resources.add("skill", "refunds", {}, by=people.dee)
    await store.resources.add("skill", "refunds", {}, by=people.ann, org_id=people.acme, visibility="org")
    with pytest.raises(ConflictError):
        await store.resources.add("skill", "refunds", {}, by=people.ben, org_id=people.acme)


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "x" * 201])
async def test_names_that_cannot_be_used(store: Store, name: str) -> None:
    with pytest.raises(ConflictError, match="cannot be the name of a knowledge base"):
        await store.resources.add("knowledge_base", name, {}, by=LOCAL)


async def test_kinds_are_known(store: Store) -> None:
    with pytest.raises(ConflictError, match="no kind of resource 'thing'"):
        await store.resources.add("thing", "a", {}, by=LOCAL)


async def test_what_is_shared_in_an_organisation(store: Store) -> None:
    people = await make_people(store)
    made = await store.resources.add(
        "connector", "crm", D, by=people.ann, org_id=people.acme, visibility="org"
    )
    assert made.publish_status is None
    assert (await store.resources.find("connector", "crm", by=people.ben)).id == made.id
    for stranger in (people.cid, people.dee, LOCAL):
        with pytest.raises(NotFoundError):
            await store.resources.find("connector", made.id, by=stranger)
        assert (await store.resources.list("connector", by=stranger)).items == []
        for change in (store.resources.remove, store.resources.update):
            with pytest.raises(NotFoundError):
                await change(made.id, by=stranger)
    with pytest.raises(ForbiddenError, match="connector 'crm' is shared with you"):
        await store.resources.update(made.id, by=people.ben, name="mine")
    with pytest.raises(ForbiddenError):
        await store.resources.remove(made.id, by=people.ben)
    await store.resources.remove(made.id, by=people.ann)


async def test_a_members_contribution_waits_for_review(store: Store) -> None:
    people = await make_people(store)
    made = await store.resources.add(
        "connector", "crm", D, by=people.ben, org_id=people.acme, visibility="org"
    )
    assert made.publish_status == "pending"
    with pytest.raises(NotFoundError):
        await store.resources.find("connector", "crm", by=people.ann)
    assert (await store.resources.find("connector", "crm", by=people.ben)).id == made.id


async def test_nobody_adds_to_an_organisation_of_others(store: Store) -> None:
    people = await make_people(store)
    with pytest.raises(NotFoundError, match="no organisation"):
        await store.resources.add("agent", "a", {}, by=people.dee, org_id=people.acme)
    with pytest.raises(ConflictError, match="needs the organisation"):
        await store.resources.add("agent", "a", {}, by=people.ann, visibility="org")


async def test_ones_own_comes_before_what_is_shared(store: Store) -> None:
    people = await make_people(store)
    shared = await store.resources.add(
        "skill", "mail", {"n": 1}, by=people.ann, org_id=people.acme, visibility="org"
    )
    assert (await store.resources.find("skill", "mail", by=people.ben)).id == shared.id
    own = await store.resources.add("skill", "mail", {"n": 2}, by=people.ben)
    assert (await store.resources.find("skill", "mail", by=people.ben)).id == own.id
    assert (await store.resources.find("skill", shared.id, by=people.ben)).id == shared.id


async def test_changes_count_versions(store: Store) -> None:
    made = await store.resources.add("agent", "a", {"x": 1}, by=LOCAL)
    changed = await store.resources.update(made.id, by=LOCAL, definition={"x": 2}, expected_version=1)
    assert (changed.definition, changed.version, changed.name) == ({"x": 2}, 2, "a")
    with pytest.raises(ConflictError, match="at version 2, not 1"):
        await store.resources.update(made.id, by=LOCAL, active=False, expected_version=1)
    off = await store.resources.update(made.id, by=LOCAL, active=False)
    assert (off.active, off.definition) == (False, {"x": 2})
    assert (await store.resources.list("agent", by=LOCAL, active=True)).items == []
    await store.resources.add("agent", "b", {}, by=LOCAL)
    with pytest.raises(ConflictError, match="the name 'b' is taken"):
        await store.resources.update(made.id, by=LOCAL, name="b")


async def test_pages(store: Store) -> None:
    ids = [(await store.resources.add("skill", f"s{n}", {}, by=LOCAL)).id for n in range(5)]
    first = await store.resources.list("skill", by=LOCAL, limit=3)
    rest = await store.resources.list("skill", by=LOCAL, limit=3, after=first.cursor)
    assert [entry.id for entry in [*first.items, *rest.items]] == ids
    assert rest.cursor is None


async def test_changes_stand_in_the_audit(store: Store) -> None:
    people = await make_people(store)
    made = await store.resources.add("skill", "s", {}, by=people.ann, org_id=people.acme, visibility="org")
    await store.resources.update(made.id, by=people.ann, name="t")
    await store.resources.remove(made.id, by=people.ann)
    lines = (await store.audit.list(by=people.ann, object_id=made.id)).items
    assert [(line.action, line.name) for line in lines] == [
        ("resource.remove", "t"), ("resource.update", "t"), ("resource.add", "s"),
    ]  # fmt: skip
    assert {(line.user_id, line.org_id) for line in lines} == {(people.ann.user_id, people.acme)}
    assert (await store.audit.list(by=people.ben, object_id=made.id)).items == []
    assert len((await store.audit.list(by=LOCAL, object_id=made.id)).items) == 3


def sealed(name: str, content: str, *, resource_id: str) -> SecretRow:
    return SecretRow(
        scope="user:local", name=name, resource_id=resource_id, key_id="k", ciphertext=content, created_by="local",
        created_at=1.0, updated_at=1.0,
    )  # fmt: skip


async def test_secrets_are_stored_with_the_change_that_names_them_or_not_at_all(store: Store) -> None:
    async def kept(resource_id: str) -> dict[str, str]:
        return {row.name: row.ciphertext for row in await store.secrets.of_resource(resource_id)}

    made = await store.resources.add(
        "connector", "c", {"n": 1}, by=LOCAL, resource_id="r1", secret_rows=[sealed("a", "1", resource_id="r1")]
    )  # fmt: skip
    with pytest.raises(ConflictError):
        await store.resources.add(
            "connector", "c", {"n": 2}, by=LOCAL, resource_id="r2", secret_rows=[sealed("b", "1", resource_id="r2")]
        )  # fmt: skip
    assert (await kept("r1"), await kept("r2")) == ({"a": "1"}, {})

    new = [sealed("a", "2", resource_id="r1"), sealed("c", "2", resource_id="r1")]
    await store.resources.add("connector", "taken", {}, by=LOCAL)
    refusals: list[dict[str, Any]] = [{"expected_version": 7}, {"name": "taken"}]
    for refused in refusals:
        with pytest.raises(ConflictError):
            await store.resources.update(made.id, definition={"n": 2}, by=LOCAL, secret_rows=new, **refused)
        assert await kept("r1") == {"a": "1"}
    both = [
        store.resources.update(
            made.id, definition={"n": content}, by=LOCAL, secret_rows=[sealed("a", content, resource_id="r1")]
        )
        for content in ("x", "y")
    ]
    await asyncio.gather(*both, return_exceptions=True)  # one may find that the other was quicker
    after = await store.resources.get(made.id, by=LOCAL)
    assert await kept("r1") == {"a": after.definition["n"]}
    await store.resources.update(made.id, definition={"n": 2}, by=LOCAL, secret_rows=new)
    assert await kept("r1") == {"a": "2", "c": "2"}
    noted = (await store.audit.list(by=LOCAL, action="secret.set")).items
    assert len(noted) == 1 + (after.version - made.version) + 2
