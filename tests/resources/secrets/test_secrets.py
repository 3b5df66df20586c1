from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import AsyncIterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.store.people import make_people

from interlace.engine.principal import LOCAL, Principal
from interlace.resources.secrets import (
    MasterKeys,
    SecretField,
    SecretKeyError,
    SecretRef,
    Secrets,
    add_resource,
    reveal_in,
    update_resource,
)
from interlace.store import Store
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError

KEY, OTHER = "the first master key", "the second master key"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(None, tmp_path / "home")
    yield opened
    await opened.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def with_key(store: Store, home: Path, key: str | None = KEY, previous: str | None = None) -> Secrets:
    return Secrets(store, MasterKeys(home, key=key, previous=previous))


async def test_what_is_put_is_revealed_to_its_owner_alone(store: Store, home: Path) -> None:
    secrets, people = with_key(store, home), await make_people(store)
    await secrets.put("TOKEN", "välue", by=people.ann)
    assert await secrets.reveal("TOKEN", by=people.ann) == "välue"
    for other in (people.ben, people.dee, LOCAL):
        with pytest.raises(NotFoundError, match="no secret 'TOKEN'"):
            await secrets.reveal("TOKEN", by=other)
        assert await secrets.names(by=other) == []
        with pytest.raises(NotFoundError):
            await secrets.remove("TOKEN", by=other)
    await secrets.put("TOKEN", "new", by=people.ann)
    assert await secrets.reveal("TOKEN", by=people.ann) == "new"
    assert [entry.name for entry in await secrets.names(by=people.ann)] == ["TOKEN"]
    await secrets.remove("TOKEN", by=people.ann)
    assert await secrets.names(by=people.ann) == []


async def test_secrets_of_an_organisation(store: Store, home: Path) -> None:
    secrets, people = with_key(store, home), await make_people(store)
    await secrets.put("CRM", "shared", by=people.ann, org_id=people.acme)
    assert await secrets.reveal("CRM", by=people.ben) == "shared"
    with pytest.raises(ForbiddenError):
        await secrets.put("CRM", "mine", by=people.ben, org_id=people.acme)
    with pytest.raises(ForbiddenError):
        await secrets.remove("CRM", by=people.ben, org_id=people.acme)
    with pytest.raises(NotFoundError):
        await secrets.put("CRM", "mine", by=people.cid, org_id=people.acme)
    await secrets.put("CRM", "own", by=people.ben)
    assert await secrets.reveal("CRM", by=people.ben) == "own"
    assert await secrets.reveal("CRM", by=people.ben, org_id=people.acme) == "shared"
    assert (await secrets.snapshot(people.ben)).get("CRM") == "own"
    assert (await secrets.snapshot(people.ann)).get("crm") == "shared"


async def test_two_organisations_with_one_name_are_told_apart(store: Store, home: Path) -> None:
    secrets, people = with_key(store, home), await make_people(store)
    both = Principal("x", frozenset({people.acme, people.other}))
    await secrets.put("A", "1", by=people.ann, org_id=people.acme)
    await secrets.put("A", "2", by=people.cid, org_id=people.other)
    with pytest.raises(ConflictError, match="several of your organisations"):
        await secrets.reveal("A", by=both)
    assert await secrets.reveal("A", by=both, org_id=people.other) == "2"


async def test_nothing_readable_is_stored(store: Store, home: Path) -> None:
    await with_key(store, home).put("TOKEN", "canary-value", by=LOCAL)
    with sqlite3.connect(store.database.location.path) as database:
        text = "\n".join(database.iterdump())
    database.close()
    assert "canary-value" not in text
    assert "TOKEN" in text


@pytest.mark.parametrize(
    "change",
    [
        "scope = 'user:thief'",
        "name = 'OTHER'",
        "resource_id = 'r'",
        "ciphertext = 'AQ=='",
        "ciphertext = '!'",
    ],
)
async def test_a_row_that_was_moved_or_changed_cannot_be_opened(
    store: Store, home: Path, change: str
) -> None:
    secrets = with_key(store, home)
    await secrets.put("TOKEN", "value", by=LOCAL)
    await secrets.put("TOKEN", "value", by=Principal("thief"))
    await secrets.put("MINE", "value", by=Principal("thief"))
    from interlace.store.statements import Operation

    where = "scope = 'user:local'"
    if change.startswith("scope"):
        # The thief's own row is replaced by the victim's, first with the thief's key id, then with the victim's.
        for key_id in ("key_id", "(SELECT key_id FROM secrets WHERE scope = 'user:local')"):
            await store.database.write(
                Operation(
                    f"UPDATE secrets SET ciphertext = (SELECT ciphertext FROM secrets WHERE {where}),"
                    f" key_id = {key_id} WHERE scope = 'user:thief' AND name = 'TOKEN'", {}, returns=False,
                )
            )  # fmt: skip
            with pytest.raises(SecretKeyError, match="moved from where it belongs"):
                await secrets.reveal("TOKEN", by=Principal("thief"))
        return
    await store.database.write(Operation(f"UPDATE secrets SET {change} WHERE {where}", {}, returns=False))
    name = "OTHER" if change.startswith("name") else "TOKEN"
    expected = NotFoundError if change.startswith("resource") else SecretKeyError
    with pytest.raises(expected):
        await secrets.reveal(name, by=LOCAL)


async def test_another_master_key_opens_nothing_and_says_what_to_do(store: Store, home: Path) -> None:
    await with_key(store, home).put("TOKEN", "value", by=LOCAL)
    wrong = with_key(store, home, OTHER)
    for call in (wrong.reveal("TOKEN", by=LOCAL), wrong.check(), wrong.put("B", "x", by=Principal("new"))):
        with pytest.raises(SecretKeyError, match=r"which is not given; set INTERLACE_SECRET_KEY or"):
            await call


@pytest.mark.parametrize("key", ["", "short", "  fifteen chars  "])
async def test_a_short_master_key_is_refused(store: Store, home: Path, key: str) -> None:
    with pytest.raises(SecretKeyError, match=r"INTERLACE_SECRET_KEY has .* characters"):
        await with_key(store, home, key).put("A", "x", by=LOCAL)


async def test_a_missing_key_file_is_named(store: Store, home: Path) -> None:
    secrets = Secrets(store, MasterKeys(home, file=home / "none"))
    with pytest.raises(SecretKeyError, match="none' is not there; set INTERLACE_SECRET_KEY_FILE"):
        await secrets.put("A", "x", by=LOCAL)


async def test_a_key_is_made_in_the_home_for_its_owner_alone(store: Store, home: Path) -> None:
    secrets = with_key(store, home, None)
    with pytest.raises(NotFoundError):
        await secrets.reveal("A", by=LOCAL)
    assert not (home / "secret.key").exists()
    await secrets.put("A", "x", by=LOCAL)
    assert stat.S_IMODE((home / "secret.key").stat().st_mode) == 0o600
    assert await with_key(store, home, None).reveal("A", by=LOCAL) == "x"
    (home / "secret.key").unlink()
    with pytest.raises(SecretKeyError, match="is not given"):
        await with_key(store, home, None).reveal("A", by=LOCAL)


async def test_rotation_to_a_given_key_without_downtime(store: Store, home: Path) -> None:
    before = with_key(store, home)
    people = await make_people(store)
    owners = (people.ann, people.ben, people.dee)
    for owner in owners:
        await before.put("TOKEN", owner.user_id, by=owner)
    both = with_key(store, home, OTHER, previous=KEY)
    assert await both.reveal("TOKEN", by=people.ann) == people.ann.user_id
    with pytest.raises(ForbiddenError):
        await both.rotate(by=people.ann)
    assert await both.rotate(by=LOCAL) == 3
    assert await both.rotate(by=LOCAL) == 0
    after = with_key(store, home, OTHER)
    for owner in owners:
        assert await after.reveal("TOKEN", by=owner) == owner.user_id
        assert await before.reveal("TOKEN", by=owner) == owner.user_id, "an opened data key goes on working"
    with pytest.raises(SecretKeyError):
        await with_key(store, home).reveal("TOKEN", by=people.ann)


async def test_rotation_under_load(store: Store, home: Path) -> None:
    """Processes with the new key first read and write on while every data key is wrapped anew; nothing is missed or lost."""
    owners = [Principal(f"user-{number}") for number in range(20)]
    old = with_key(store, home)
    for owner in owners:
        await old.put("TOKEN", owner.user_id, by=owner)
    over = asyncio.Event()

    async def busy(worker: int) -> int:
        turns = 0
        while not over.is_set() or turns == 0:
            fresh = with_key(store, home, OTHER, previous=KEY)  # no data key is opened yet
            for owner in owners:
                assert await fresh.reveal("TOKEN", by=owner) == owner.user_id
                await fresh.put(f"OWN_{worker}", f"{owner.user_id} {turns}", by=owner)
            turns += 1
        return turns

    async def rotation() -> int:
        rotated = await with_key(store, home, OTHER, previous=KEY).rotate(by=LOCAL)
        over.set()
        return rotated

    rotated, *turns = await asyncio.gather(rotation(), *(busy(worker) for worker in range(4)))
    assert rotated == len(owners)
    after = with_key(store, home, OTHER)
    for owner in owners:
        assert await after.reveal("TOKEN", by=owner) == owner.user_id
        for worker, count in enumerate(turns):
            assert await after.reveal(f"OWN_{worker}", by=owner) == f"{owner.user_id} {count - 1}"


async def test_rotation_of_the_homes_own_key(store: Store, home: Path) -> None:
    secrets, beside = with_key(store, home, None), with_key(store, home, None)
    await secrets.put("A", "x", by=LOCAL)
    await beside.put("B", "y", by=Principal("other"))
    text = (home / "secret.key").read_text()
    assert await secrets.rotate(by=LOCAL) == 2
    assert (home / "secret.key").read_text() != text
    assert len((home / "secret.key").read_text().split()) == 1
    assert await beside.reveal("A", by=LOCAL) == "x", "another process reads the new key"
    assert await with_key(store, home, None).reveal("B", by=Principal("other")) == "y"


@pytest.mark.parametrize("name", ["", "1a", "a b", "a/b", "é", "x" * 101])
async def test_names_that_cannot_be_used(store: Store, home: Path, name: str) -> None:
    with pytest.raises(ConflictError, match="cannot be the name of a secret"):
        await with_key(store, home).put(name, "x", by=LOCAL)


# -- definitions of resources -----------------------------------------------------------------------------------


class Auth(BaseModel):
    user: str
    password: SecretField | None = None


class Connector(BaseModel):
    url: str
    auth: Auth
    headers: dict[str, SecretField] = {}
    keys: list[SecretField] = []


URL = itemgetter("url")
PLAIN = Connector(
    url="https://x", auth=Auth(user="u", password="pw-1"), headers={"X-Key": "hd-1"}, keys=[SecretRef(secret="OWN"), "k-2"]
)  # fmt: skip


async def test_plain_values_move_into_the_store(store: Store, home: Path) -> None:
    secrets = with_key(store, home)
    await secrets.put("OWN", "own-1", by=LOCAL)
    made = await add_resource(store, secrets, "connector", "c", PLAIN, by=LOCAL)
    assert made.definition["auth"] == {
        "user": "u", "password": {"secret": f"connector/{made.id}/auth.password"},
    }  # fmt: skip
    assert made.definition["keys"][0] == {"secret": "OWN"}
    with sqlite3.connect(store.database.location.path) as database:
        text = "\n".join(database.iterdump())
    database.close()
    assert not any(value in text for value in ("pw-1", "hd-1", "k-2", "own-1"))
    hidden: dict[str, str] = {}
    shown = await reveal_in(
        made.definition, secrets=secrets, by=LOCAL, resource=made, hide=hidden.__setitem__
    )
    assert Connector.model_validate(shown) == PLAIN.model_copy(update={"keys": ["own-1", "k-2"]})
    assert set(hidden.values()) == {"pw-1", "hd-1", "k-2", "own-1"}
    assert [entry.name for entry in await secrets.names(by=LOCAL)] == ["OWN"]

    kept = Connector.model_validate({**made.definition, "auth": {**made.definition["auth"], "user": "v"}})
    changed = await update_resource(store, secrets, made.id, kept, by=LOCAL, reach=URL)
    shown = await reveal_in(changed.definition, secrets=secrets, by=LOCAL, resource=changed)
    assert (shown["auth"]["user"], shown["auth"]["password"]) == ("v", "pw-1")
    kept = Connector.model_validate({**made.definition, "auth": {"user": "u", "password": "pw-2"}})
    changed = await update_resource(store, secrets, made.id, kept, by=LOCAL, reach=URL)
    shown = await reveal_in(changed.definition, secrets=secrets, by=LOCAL, resource=changed)
    assert shown["auth"]["password"] == "pw-2"

    await store.resources.remove(made.id, by=LOCAL)
    assert await store.secrets.of_resource(made.id) == []


async def test_no_secret_follows_an_address(store: Store, home: Path) -> None:
    secrets, people = with_key(store, home), await make_people(store)
    await store.organisations.add(people.acme, people.ben.user_id, "admin", by=LOCAL)
    ben = await store.users.principal(people.ben.user_id)
    await secrets.put("OWN", "anns", by=people.ann)
    plain = Connector(url="https://x", auth=Auth(user="u", password="pw-1"))
    made = await add_resource(
        store, secrets, "connector", "c", plain, by=people.ann, org_id=people.acme, visibility="org"
    )

    async def change(**changes: object) -> str:
        moved = Connector.model_validate({**made.definition, **changes})
        return (await update_resource(store, secrets, made.id, moved, by=ben, reach=URL)).definition["url"]

    for by in (ben, people.ann):
        moved = Connector.model_validate({**made.definition, "url": "https://evil"})
        with pytest.raises(ForbiddenError, match=r"is reached changes.*auth\.password"):
            await update_resource(store, secrets, made.id, moved, by=by, reach=URL)
    with pytest.raises(ForbiddenError, match="not yours to give"):
        await change(keys=[{"secret": f"connector/{made.id}/auth.user"}])
    # in two steps: away without the secret, then the secret's name again
    assert await change(url="https://evil", auth={"user": "u", "password": "other"}) == "https://evil"
    await secrets.put("KEPT", "x", by=ben)
    name = made.definition["auth"]["password"]["secret"]
    with pytest.raises(ForbiddenError, match="not yours to give"):
        await change(
            url="https://evil", auth={"user": "u", "password": "other"}, keys=[{"secret": f"{name}2"}]
        )


async def test_a_shared_resource_uses_its_own_secrets_never_those_of_its_users(
    store: Store, home: Path
) -> None:
    secrets, people = with_key(store, home), await make_people(store)
    await secrets.put("OWN", "bens", by=people.ben)
    made = await add_resource(
        store, secrets, "connector", "c", PLAIN, by=people.ann, org_id=people.acme, visibility="org"
    )
    with pytest.raises(NotFoundError, match="no secret 'OWN'"):
        await reveal_in(made.definition, secrets=secrets, by=people.ben, resource=made)
    await secrets.put("OWN", "acmes", by=people.ann, org_id=people.acme)
    shown = await reveal_in(made.definition, secrets=secrets, by=people.ben, resource=made)
    assert shown["keys"] == ["acmes", "k-2"]
    assert shown["auth"]["password"] == "pw-1"
    with pytest.raises(NotFoundError):
        await reveal_in(made.definition, secrets=secrets, by=people.cid, resource=made)
    name = made.definition["auth"]["password"]["secret"]
    with pytest.raises(NotFoundError):
        await secrets.reveal(name, by=people.ann)
    thief = await add_resource(
        store, secrets, "connector", "t", Connector(url="https://evil", auth=Auth(user="u", password=SecretRef(secret=name))),
        by=people.ben, org_id=people.acme,
    )  # fmt: skip
    with pytest.raises(NotFoundError):
        await reveal_in(thief.definition, secrets=secrets, by=people.ben, resource=thief)


async def test_a_change_that_is_refused_leaves_the_secrets_that_are_there(store: Store, home: Path) -> None:
    secrets = with_key(store, home)
    made = await add_resource(store, secrets, "connector", "c", PLAIN, by=LOCAL)
    await add_resource(store, secrets, "connector", "taken", PLAIN, by=LOCAL)
    moved = Connector(url="https://y", auth=Auth(user="u", password="pw-2"))
    refusals: list[dict[str, Any]] = [{"expected_version": 9}, {"name": "taken"}]
    for refused in refusals:
        with pytest.raises(ConflictError):
            await update_resource(store, secrets, made.id, moved, by=LOCAL, reach=URL, **refused)
        found = await store.resources.get(made.id, by=LOCAL)
        await secrets.put("OWN", "own-1", by=LOCAL)
        shown = await reveal_in(found.definition, secrets=secrets, by=LOCAL, resource=found)
        assert (shown["url"], shown["auth"]["password"]) == ("https://x", "pw-1")
