"""Users, organisations and principals for tests."""

from __future__ import annotations

from dataclasses import dataclass

from interlace.engine.principal import LOCAL, Principal, Role
from interlace.store import Store


@dataclass(frozen=True)
class People:
    """Ann owns `acme`, Ben is a member of it, Cid is an admin of `other`, Dee belongs to nothing."""

    ann: Principal
    ben: Principal
    cid: Principal
    dee: Principal
    acme: str
    other: str


async def make_people(store: Store) -> People:
    made = {name: (await store.users.create(name, by=LOCAL)).id for name in ("ann", "ben", "cid", "dee")}
    acme = (await store.organisations.create("acme", by=LOCAL, owner=made["ann"])).id
    other = (await store.organisations.create("other", by=LOCAL)).id
    roles: list[tuple[str, str, Role]] = [(acme, "ben", "member"), (other, "cid", "admin")]
    for org, name, role in roles:
        await store.organisations.add(org, made[name], role, by=LOCAL)
    found = {name: await store.users.principal(user) for name, user in made.items()}
    return People(**found, acme=acme, other=other)
