"""The secret store: put, revealed, listed by name, removed, rotated."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from interlace.engine.principal import Principal
from interlace.resources.secrets import envelope
from interlace.resources.secrets.keys import MasterKey, MasterKeys, SecretKeyError
from interlace.store import Store
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.resources import Resource
from interlace.store.secrets import DataKeyRow, SecretRow, new_key_id
from interlace.store.visibility import scope_of, scopes_of

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
MAX_CHARACTERS: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretName:
    """What is told of a secret: never its value. Times in Unix seconds."""

    name: str
    org_id: str | None
    created_by: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The encrypted secrets of one principal with their keys, for reading by name without waiting."""

    rows: Mapping[str, SecretRow]
    keys: Mapping[str, bytes]

    def get(self, name: str) -> str | None:
        """A value; None when there is no such secret. Upper case serves where the name as written does not."""
        row = self.rows.get(name) or self.rows.get(name.upper())
        return None if row is None else _decrypted(row, self.keys[row.key_id])


class Secrets:
    """Secrets of users and organisations."""

    def __init__(self, store: Store, keys: MasterKeys) -> None:
        self._store = store
        self._keys = keys
        self._opened: dict[str, bytes] = {}

    async def put(
        self,
        name: str,
        value: str,
        *,
        by: Principal,
        org_id: str | None = None,
        resource_id: str | None = None,
        scope: str | None = None,
    ) -> None:
        """Set a secret of `by`, or of an organisation that `by` is an admin of; an earlier value is gone.

        With `resource_id` it belongs to one resource, in whose `scope` it is kept: whoever may change that resource may
        set it, and it is revealed for that resource alone.

        Raises:
            ConflictError: the name or the value cannot be used.
            NotFoundError: `by` does not belong to the organisation.
            ForbiddenError: `by` is no admin of it.
            SecretKeyError: the master key is missing or wrong.
        """
        if resource_id is None and NAME.fullmatch(name) is None:
            raise ConflictError(
                f"{name!r} cannot be the name of a secret: letters, digits and _, not a digit first, at most 100"
            )
        if org_id is not None:
            self._check_org(org_id, by, admin=resource_id is None)
        if scope is None or resource_id is None:
            scope = scope_of(by.user_id, org_id)
        row = await self.sealed(name, value, by=by, scope=scope, resource_id=resource_id)
        await self._store.secrets.put(row, by=by)

    async def sealed(
        self, name: str, value: str, *, by: Principal, scope: str, resource_id: str | None
    ) -> SecretRow:
        """A secret as it is written, by somebody else together with what it belongs to.

        Raises:
            ConflictError: the value cannot be used.
            SecretKeyError: the master key is missing or wrong.
        """
        if not value or len(value) > MAX_CHARACTERS:
            raise ConflictError(f"the value of secret {name!r} must have 1 to {MAX_CHARACTERS:,} characters")
        key_id, key = await self._data_key(scope)
        now = time.time()
        ciphertext = envelope.encrypt(key, value, scope=scope, name=name, resource_id=resource_id)
        return SecretRow(
            scope=scope, name=name, resource_id=resource_id, key_id=key_id, ciphertext=ciphertext, created_by=by.user_id,
            created_at=now, updated_at=now,
        )  # fmt: skip

    async def reveal(
        self, name: str, *, by: Principal, org_id: str | None = None, resource: Resource | None = None
    ) -> str:
        """The value of a secret: the principal's own before those of organisations; with `org_id` that one's.

        With `resource`, which `by` has to see, the name is looked up where the resource belongs, never among the
        secrets of whoever uses it: a shared resource cannot reach for the secrets of its users.

        Raises:
            NotFoundError: there is none that `by` may use.
            ConflictError: several organisations have one of that name.
            SecretKeyError: the master key is missing or wrong.
        """
        if resource is not None:
            row = await self._of_resource(name, by, resource)
        else:
            scopes = scopes_of(by) if org_id is None else [f"org:{org_id}"] if org_id in by.org_ids else []
            found = [
                row for row in await self._store.secrets.named(scopes, [name]) if row.resource_id is None
            ]
            own = [row for row in found if row.scope == scopes[0]]
            if len(found) > 1 and not own:
                raise ConflictError(
                    f"several of your organisations have a secret {name!r}; name the organisation"
                )
            row = next(iter(own or found), None)
        if row is None:
            raise NotFoundError(f"no secret {name!r}; `interlace secrets set {name}` makes it")
        return _decrypted(row, await self._unwrapped(row.key_id))

    async def kept(self, scope: str, names: Sequence[str], *, resource_id: str) -> dict[str, str]:
        """The values that something keeps for itself in a scope; nobody else can ask for them.

        Raises:
            SecretKeyError: the master key is missing or wrong.
        """
        rows = await self._store.secrets.named([scope], names)
        return {
            row.name: _decrypted(row, await self._unwrapped(row.key_id))
            for row in rows
            if row.resource_id == resource_id
        }

    async def names(self, *, by: Principal) -> Sequence[SecretName]:
        """What secrets `by` may use, by name; those of resources are not listed."""
        rows = await self._store.secrets.of_scopes(scopes_of(by))
        return [
            SecretName(
                name=row.name, org_id=row.scope.removeprefix("org:") if row.scope.startswith("org:") else None,
                created_by=row.created_by, created_at=row.created_at, updated_at=row.updated_at,
            )
            for row in rows
        ]  # fmt: skip

    async def remove(self, name: str, *, by: Principal, org_id: str | None = None) -> None:
        """Remove a secret for good.

        Raises:
            NotFoundError: there is none, or `by` does not belong to the organisation.
            ForbiddenError: `by` is no admin of it.
        """
        if org_id is not None:
            self._check_org(org_id, by, admin=True)
        if not await self._store.secrets.remove(scope_of(by.user_id, org_id), name, by=by):
            raise NotFoundError(f"no secret {name!r}")

    async def forget(self, name: str, *, resource: Resource, by: Principal) -> None:
        """Remove a secret that a resource keeps, if it is there; whether `by` may change the resource is decided before."""
        await self._store.secrets.remove(resource.scope, name, by=by)

    async def snapshot(self, by: Principal) -> Snapshot:
        """All secrets of a principal, encrypted; of one name the principal's own, else the first organisation's."""
        order = {scope: place for place, scope in enumerate(scopes_of(by))}
        rows = sorted(await self._store.secrets.of_scopes(list(order)), key=lambda row: -order[row.scope])
        chosen = {row.name: row for row in rows}
        needed = {row.key_id for row in chosen.values()}
        return Snapshot(chosen, {key_id: await self._unwrapped(key_id) for key_id in needed})

    async def rotate(self, *, by: Principal) -> int:
        """Put all data keys under the current master key; the values are not touched, and everything goes on meanwhile.

        A key made in the home is replaced by a new one. Others are given as INTERLACE_SECRET_KEY with the one before as
        INTERLACE_SECRET_KEY_PREVIOUS. A rotation that was cut short goes on when it is called again.

        Raises:
            ForbiddenError: `by` does not run the installation.
            SecretKeyError: a data key is under a master key that is not given.
        """
        if not by.operator:
            raise ForbiddenError("only an operator of this installation may rotate its master key")
        if self._keys.made_here:
            await asyncio.to_thread(self._keys.begin_rotation)
        master, total = self._keys.current(), 0
        while old := await self._store.secrets.old_keys(master.id):
            operations = []
            for row in old:
                data_key = self._unwrap(row)
                wrapped = envelope.wrap(master, data_key, scope=row.scope, key_id=row.id)
                operations.append(self._store.secrets.rewrap(row, master.id, wrapped))
            await self._store.secrets.write(operations, by=by, detail={"keys": len(old), "master": master.id})
            total += len(old)
        if self._keys.made_here:
            await asyncio.to_thread(self._keys.end_rotation)
        return total

    async def check(self) -> None:
        """Raise where secrets are stored that the given master keys do not open.

        Raises:
            SecretKeyError: the master key is missing or wrong.
        """
        for master_id in await self._store.secrets.masters():
            self._master(master_id)

    # -- inside ---------------------------------------------------------------------------------------------

    async def _of_resource(self, name: str, by: Principal, resource: Resource) -> SecretRow | None:
        rows = await self._store.secrets.named([resource.scope], [name])
        row = next(iter(rows), None)
        if row is None or row.resource_id not in (None, resource.id):
            return None
        if row.resource_id is None and resource.scope not in scopes_of(by):
            return None
        await self._store.resources.get(resource.id, by=by)
        return row

    @staticmethod
    def _check_org(org_id: str, by: Principal, *, admin: bool) -> None:
        if org_id not in by.org_ids:
            raise NotFoundError(f"no organisation {org_id!r}")
        if admin and not by.is_admin(org_id):
            raise ForbiddenError("only admins of an organisation change its secrets")

    async def _data_key(self, scope: str) -> tuple[str, bytes]:
        row = await self._store.secrets.key_of(scope)
        if row is None:
            master = await asyncio.to_thread(self._keys.current)
            await self.check()
            key_id = new_key_id()
            wrapped = envelope.wrap(master, envelope.new_data_key(), scope=scope, key_id=key_id)
            row = await self._store.secrets.add_key(scope, master.id, wrapped, key_id=key_id)
        return row.id, self._opened.get(row.id) or self._unwrap(row)

    async def _unwrapped(self, key_id: str) -> bytes:
        known = self._opened.get(key_id)
        if known is not None:
            return known
        row = await self._store.secrets.key(key_id)
        if row is None:
            raise SecretKeyError("the data key of a secret is gone; set the secret again")
        return self._unwrap(row)

    def _unwrap(self, row: DataKeyRow) -> bytes:
        key = envelope.unwrap(self._master(row.master_id), row.wrapped, scope=row.scope, key_id=row.id)
        self._opened[row.id] = key
        return key

    def _master(self, master_id: str) -> MasterKey:
        master = self._keys.known(master_id)
        if master is None:
            raise SecretKeyError(
                f"the secrets of this installation are encrypted with the master key {master_id}, which is not given;"
                " set INTERLACE_SECRET_KEY or INTERLACE_SECRET_KEY_FILE to it, or give it as INTERLACE_SECRET_KEY_PREVIOUS"
                " and run `interlace secrets rotate`"
            )
        return master


def _decrypted(row: SecretRow, key: bytes) -> str:
    return envelope.decrypt(key, row.ciphertext, scope=row.scope, name=row.name, resource_id=row.resource_id)
