from __future__ import annotations

import pytest
from tests.store.people import make_people

from interlace.engine.errors import StoreError
from interlace.engine.principal import LOCAL, Principal
from interlace.store import Store
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.statements import Operation


async def test_principals_have_their_organisations(store: Store) -> None:
    people = await make_people(store)
    assert people.ann.roles == {people.acme: "owner"}
    assert people.ann.is_admin(people.acme)
    assert not people.ben.is_admin(people.acme)
    assert not people.ann.is_admin(None)
    assert not people.ann.operator
    local = await store.users.principal("local")
    assert (local.operator, local.org_ids) == (True, frozenset({people.other}))
    assert await store.users.principal("nobody") == Principal("nobody")


async def test_the_local_owner_needs_no_row(store: Store) -> None:
    assert await store.users.principal("local") == LOCAL


async def test_only_operators_make_users_and_organisations(store: Store) -> None:
    people = await make_people(store)
    with pytest.raises(ForbiddenError, match="only an operator of this installation may make users"):
        await store.users.create("eve", by=people.ann)
    with pytest.raises(ForbiddenError):
        await store.organisations.create("mine", by=people.ann)
    with pytest.raises(ConflictError, match="a user 'ann' already"):
        await store.users.create("ann", by=LOCAL)


async def test_a_disabled_user_has_no_rights(store: Store) -> None:
    people = await make_people(store)
    await store.users.disable(people.ben.user_id, by=LOCAL)
    assert await store.users.principal(people.ben.user_id) == Principal(people.ben.user_id)
    made = await store.users.create("op", by=LOCAL, operator=True)
    operator = await store.users.principal(made.id)
    with pytest.raises(ConflictError, match="needs an operator"):
        await store.users.disable(made.id, by=operator)


async def test_admins_decide_who_belongs(store: Store) -> None:
    people = await make_people(store)
    with pytest.raises(NotFoundError):
        await store.organisations.add(people.acme, people.dee.user_id, by=people.cid)
    with pytest.raises(ForbiddenError, match="only admins of 'acme'"):
        await store.organisations.add(people.acme, people.dee.user_id, by=people.ben)
    await store.organisations.add(people.acme, people.dee.user_id, by=people.ann)
    members = await store.organisations.members(people.acme, by=people.ben)
    assert [(member.name, member.role) for member in members] == [
        ("ann", "owner"), ("ben", "member"), ("dee", "member"),
    ]  # fmt: skip


async def test_an_organisation_keeps_an_owner(store: Store) -> None:
    people = await make_people(store)
    with pytest.raises(ConflictError, match="'acme' needs an owner"):
        await store.organisations.remove(people.acme, people.ann.user_id, by=people.ann)
    with pytest.raises(ConflictError, match="needs an owner"):
        await store.organisations.add(people.acme, people.ann.user_id, "member", by=people.ann)
    await store.organisations.add(people.acme, people.ben.user_id, "admin", by=people.ann)
    ben = await store.users.principal(people.ben.user_id)
    with pytest.raises(ForbiddenError, match="only owners of 'acme'"):
        await store.organisations.add(people.acme, ben.user_id, "owner", by=ben)


async def test_what_a_leaver_made_stays_with_the_organisation(store: Store) -> None:
    people = await make_people(store)
    made = await store.resources.add("skill", "s", {}, by=people.ben, org_id=people.acme, visibility="org")
    await store.organisations.remove(people.acme, people.ben.user_id, by=people.ben)
    with pytest.raises(NotFoundError):
        await store.resources.get(made.id, by=await store.users.principal(people.ben.user_id))
    assert (await store.resources.get(made.id, by=people.ann)).owner == people.ann.user_id


async def test_the_audit_is_never_rewritten(store: Store) -> None:
    await store.audit.record(LOCAL, "test.it", "thing", "1", detail={"a": 1})
    for statement in ("UPDATE audit SET user_id = 'x'", "DELETE FROM audit"):
        with pytest.raises(StoreError, match="append-only"):
            await store.database.write(Operation(statement, {}, returns=False))
    (line,) = (await store.audit.list(by=LOCAL, action="test")).items
    assert (line.user_id, line.action, line.source, line.detail) == ("local", "test.it", "local", {"a": 1})
