"""Requests that somebody may answer, filtered by the database: the same as each request says of itself, in full pages."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest
from tests.store.conftest import begin, commit

from interlace.engine.principal import Principal
from interlace.flows.people import Person
from interlace.store import Store
from interlace.store.asked import Asked
from interlace.store.wait_row import Wait

ODD = ['a"b', "ada ", "a\\b", "ada\u0000", "'; --", "%", "role", "ADA", "ädä", "[]"]
LISTS: list[list[str]] = [
    [], ["ada"], ["bob"], ["bob", "ada"], ["role:owner"], ["role:member"], ["role:admin"], ["group:ada"],
    *([name] for name in ODD),
]  # fmt: skip


async def _ask(
    store: Store, assignees: Sequence[str], *, owner: str, starter: str | None = None, allow_self: bool = True
) -> None:
    journal = await begin(store, owner=owner, document=json.dumps({"a": len(assignees)}))
    rules = {"assignees": list(assignees), "allow_self": allow_self}
    data = {
        "id": f"w{next(_NUMBERS):05}", "kind": "human", "phase": "ask", "at": 1.0, "rules": rules, "hash": "h",
        "request": {"title": "t", "actions": ["approve"]}, "starter": starter,
    }  # fmt: skip
    journal.append("node.suspended", "ask", 1, data)
    await commit(journal)


_NUMBERS = itertools.count()


def _by_rows(waits: Sequence[Wait], asked: Asked) -> list[str]:
    """What each request says: the rule in Python, of which the condition in SQL is the other form."""
    found = []
    for wait in waits:
        elsewhere = asked.own_role if wait.owner == asked.user_id else "member"
        person = Person(name=asked.name, roles=frozenset({asked.roles.get(wait.org_id or "", elsewhere)}))
        barred = not wait.allow_self and wait.starter == asked.name
        if person.is_asked(wait) and not barred:
            found.append(wait.id)
    return found


@pytest.mark.parametrize("own_role", ["owner", "member"])
async def test_the_database_and_the_rows_agree(store: Store, own_role: str) -> None:
    for owner, names in itertools.product(("u1", "u2"), LISTS):
        await _ask(store, names, owner=owner)
    for starter, allow in itertools.product(("ada", "bob", None), (True, False)):
        await _ask(store, ["ada", "bob"], owner="u1", starter=starter, allow_self=allow)
    every = (await store.waits.list(limit=500)).items
    assert len(every) == 2 * len(LISTS) + 6
    for name in ("ada", "bob", "nobody", *(n for n in ODD if "\u0000" not in n)):
        asked = Asked(name=name, user_id="u1", own_role=own_role, roles={"o1": "admin"})
        found = (await store.waits.list(asked=asked, limit=500)).items
        assert [wait.id for wait in found] == _by_rows(every, asked), name
        assert 0 < len(found) < len(every)


async def test_pages_are_full_and_none_is_left_out(store: Store) -> None:
    for number in range(40):
        await _ask(store, ["ada"] if number % 4 == 0 else ["bob"], owner="u1")
    asked, seen, cursor = Asked(name="ada", user_id="u1"), [], None
    sizes = []
    while True:
        page = await store.waits.list(owner=Principal("u1"), asked=asked, limit=4, cursor=cursor)
        sizes.append(len(page.items))
        seen += [wait.id for wait in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert sizes == [4, 4, 2]
    assert len(set(seen)) == 10
    assert all(wait.assignees == ["ada"] for wait in [await store.waits.get(each) for each in seen])
