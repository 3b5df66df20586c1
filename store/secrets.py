"""Rows of secrets and of the keys they are encrypted with; what is in them only `resources.secrets` can read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import Insert, insert

from interlace.engine.principal import Principal
from interlace.store.audit import AuditRepository
from interlace.store.database import Database
from interlace.store.ids import uuid7
from interlace.store.statements import Operation
from interlace.store.tables import data_keys, secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRow:
    """An encrypted secret; times in Unix seconds. `resource_id` is the one resource that it is revealed for."""

    scope: str
    name: str
    resource_id: str | None
    key_id: str
    ciphertext: str
    created_by: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DataKeyRow:
    """The key of a scope, wrapped by the master key `master_id`."""

    id: str
    scope: str
    master_id: str
    wrapped: str
    created_at: float


def set_entry(audit: AuditRepository, row: SecretRow, by: Principal) -> Operation:
    """The audit's line for a secret that is set."""
    org_id = row.scope.removeprefix("org:") if row.scope.startswith("org:") else None
    return audit.entry(by, "secret.set", "secret", row.name, name=row.name, org_id=org_id)


def replacing(row: Insert) -> Insert:
    """Write a secret over an earlier one of its scope and name."""
    kept = ("resource_id", "key_id", "ciphertext", "updated_at")
    return row.on_conflict_do_update(
        index_elements=["scope", "name"], set_={name: row.excluded[name] for name in kept}
    )


class SecretRepository:
    """Secrets of all scopes; who may see them is decided by the caller, who has the principal."""

    def __init__(self, database: Database, audit: AuditRepository) -> None:
        self._database = database
        self._audit = audit
        compiler = database.compile
        self._put = compiler(replacing(insert(secrets)))
        self._delete = compiler(
            delete(secrets)
            .where(secrets.c.scope == bindparam("of"), secrets.c.name == bindparam("called"))
            .returning(secrets.c.name),
            returns=True,
        )
        self._key = compiler(insert(data_keys).on_conflict_do_nothing())
        self._rewrap = compiler(
            update(data_keys)
            .where(data_keys.c.id == bindparam("key"), data_keys.c.master_id == bindparam("old"))
            .values(master_id=bindparam("new", type_=Text), wrapped=bindparam("content", type_=Text))
            .returning(data_keys.c.id),
            returns=True,
        )

    async def put(self, row: SecretRow, *, by: Principal) -> None:
        """Write a secret, over an earlier one of its scope and name."""
        await self._database.write(self._put(**asdict(row)), set_entry(self._audit, row, by))

    async def remove(self, scope: str, name: str, *, by: Principal) -> bool:
        """Remove a secret; False when there is none."""
        removed = self._delete(of=scope, called=name)
        org_id = scope.removeprefix("org:") if scope.startswith("org:") else None
        await self._database.write(removed)
        if removed.rows:
            await self._audit.record(by, "secret.remove", "secret", name, name=name, org_id=org_id)
        return bool(removed.rows)

    async def named(self, scopes: Sequence[str], names: Sequence[str]) -> Sequence[SecretRow]:
        """The secrets of some names in some scopes."""
        return await self._all(secrets.c.scope.in_(scopes), secrets.c.name.in_(names))

    async def of_scopes(self, scopes: Sequence[str]) -> Sequence[SecretRow]:
        """The secrets of some scopes that belong to no resource, by name."""
        return await self._all(secrets.c.scope.in_(scopes), secrets.c.resource_id.is_(None))

    async def of_resource(self, resource_id: str) -> Sequence[SecretRow]:
        """The secrets that were moved out of a resource's definition."""
        return await self._all(secrets.c.resource_id == resource_id)

    async def _all(self, *where: ColumnElement[bool]) -> Sequence[SecretRow]:
        statement = select(secrets).where(*where).order_by(secrets.c.name, secrets.c.scope)
        return [_secret(row) for row in await self._database.rows(statement)]

    # -- data keys -----------------------------------------------------------------------------------------

    async def key_of(self, scope: str) -> DataKeyRow | None:
        """The data key of a scope."""
        return await self._key_row(select(data_keys).where(data_keys.c.scope == scope))

    async def key(self, key_id: str) -> DataKeyRow | None:
        """A data key by its id."""
        return await self._key_row(select(data_keys).where(data_keys.c.id == key_id))

    async def keys(self, key_ids: Sequence[str]) -> Sequence[DataKeyRow]:
        """Several data keys."""
        statement = select(data_keys).where(data_keys.c.id.in_(sorted(set(key_ids))))
        return [_data_key(row) for row in await self._database.rows(statement)]

    async def add_key(self, scope: str, master_id: str, wrapped: str, *, key_id: str) -> DataKeyRow:
        """The data key of a scope: this one, or the one that another process made first."""
        await self._database.write(
            self._key(id=key_id, scope=scope, master_id=master_id, wrapped=wrapped, created_at=time.time())
        )
        found = await self.key_of(scope)
        assert found is not None, "data keys are never removed"
        return found

    async def old_keys(self, master_id: str, limit: int = 500) -> Sequence[DataKeyRow]:
        """Data keys that another master key than this one wraps."""
        statement = select(data_keys).where(data_keys.c.master_id != master_id).order_by(data_keys.c.id)
        return [_data_key(row) for row in await self._database.rows(statement.limit(limit))]

    async def masters(self) -> dict[str, int]:
        """How many data keys each master key wraps."""
        statement = select(data_keys.c.master_id, func.count().label("number")).group_by(
            data_keys.c.master_id
        )
        return {row.master_id: row.number for row in await self._database.rows(statement)}

    def rewrap(self, row: DataKeyRow, master_id: str, wrapped: str) -> Operation:
        """The operation that puts a data key under another master key."""
        return self._rewrap(key=row.id, old=row.master_id, new=master_id, content=wrapped)

    async def write(self, operations: Sequence[Operation], *, by: Principal, detail: dict[str, Any]) -> None:
        """Commit a rotation's operations with their line in the audit."""
        await self._database.write(
            *operations, self._audit.entry(by, "secret.rotate", "secret", "*", detail=detail)
        )

    async def _key_row(self, statement: Any) -> DataKeyRow | None:
        row = await self._database.first(statement)
        return None if row is None else _data_key(row)


def new_key_id() -> str:
    """The id of a new data key."""
    return uuid7()


def _secret(row: Row[*tuple[Any, ...]]) -> SecretRow:
    return SecretRow(**row._mapping)  # noqa: SLF001 - the documented name of a row's mapping


def _data_key(row: Row[*tuple[Any, ...]]) -> DataKeyRow:
    return DataKeyRow(**row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
