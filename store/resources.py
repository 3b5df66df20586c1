"""Stored resources of every kind: connectors, databases, MCP servers, knowledge bases, skills, models, agents."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from sqlalchemy import Boolean, Double, Integer, Row, Select, Text, bindparam, delete, or_, select, update
from sqlalchemy.dialects.postgresql import Insert, insert

from interlace.engine.principal import Principal
from interlace.store.audit import AuditRepository
from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.secrets import SecretRow, replacing, set_entry
from interlace.store.statements import Operation
from interlace.store.tables import resources, secrets, subscriptions
from interlace.store.visibility import may_write, resolve_visibility, scope_of
from interlace.store.writer import Batch, Lane

Kind = Literal["connector", "database", "mcp_server", "knowledge_base", "skill", "model", "agent"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Visibility = Literal["private", "org", "market"]
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Resource:
    """A stored resource; times in Unix seconds. `version` counts changes from 1."""

    id: str
    kind: str
    name: str
    definition: dict[str, Any]
    owner: str
    org_id: str | None
    visibility: Visibility
    publish_status: str | None
    active: bool
    version: int
    created_at: float
    updated_at: float
    scope: str
    """Where its name is unique and its secrets are kept, as it was made: `user:<id>` or `org:<id>`."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A resource without its definition, to see whether what is known of it is still so."""

    id: str
    name: str
    owner: str
    org_id: str | None
    visibility: Visibility
    active: bool
    version: int


class ResourceRepository:
    """The resources of all users; every method sees what its principal sees."""

    def __init__(self, database: Database, audit: AuditRepository) -> None:
        self._database = database
        self._audit = audit
        compiler = database.compile
        self._insert = compiler(
            insert(resources).on_conflict_do_nothing().returning(resources.c.id), returns=True
        )
        other = resources.alias("other")
        taken = (
            select(other.c.id)
            .where(
                other.c.scope == resources.c.scope,
                other.c.kind == resources.c.kind,
                other.c.name == bindparam("new_name", type_=Text),
                other.c.id != resources.c.id,
            )
            .correlate(resources)
            .exists()
        )
        one = resources.c.id == bindparam("resource", type_=Text)
        self._update = compiler(
            update(resources)
            .where(one, resources.c.version == bindparam("known", type_=Integer), ~taken)
            .values(
                name=bindparam("new_name", type_=Text),
                definition=bindparam("content", type_=Text),
                active=bindparam("is_active", type_=Boolean),
                version=resources.c.version + 1,
                updated_at=bindparam("now"),
            )
            .returning(resources.c.id),
            returns=True,
        )
        self._delete = compiler(delete(resources).where(one))
        self._unsubscribe = compiler(
            delete(subscriptions).where(subscriptions.c.object_id == bindparam("resource"))
        )
        self._forget = compiler(delete(secrets).where(secrets.c.resource_id == bindparam("resource")))
        self._seal = compiler(_sealing())

    async def add(
        self,
        kind: str,
        name: str,
        definition: Mapping[str, Any],
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
        resource_id: str | None = None,
        secret_rows: Sequence[SecretRow] = (),
    ) -> Resource:
        """Store a new resource; nothing of it is run or connected.

        Visibility `org` shares it at once where `by` is an admin of the organisation; of a member it waits for review.
        `market` waits for an operator's review. `resource_id` is a new id from `store.ids.uuid7`, where the definition
        has to know it; `secret_rows` are its secrets, stored if it is.

        Raises:
            ConflictError: the scope has a resource of that kind and name already, or the name cannot be used.
            NotFoundError: `by` does not belong to the organisation.
        """
        _check(kind, name)
        status = _status(by, org_id, visibility)
        now = time.time()
        made = Resource(
            id=resource_id or uuid7(), kind=kind, name=name, definition=dict(definition), owner=by.user_id, org_id=org_id,
            visibility=visibility, publish_status=status, active=True, version=1, created_at=now, updated_at=now, scope=scope_of(by.user_id, org_id),
        )  # fmt: skip
        values = {name: getattr(made, name) for name in _COLUMNS}
        inserted = self._insert(**{**values, "definition": encode(made.definition).decode()})
        await self._database.write(inserted, *self._seals(secret_rows, made.id, made.version, now))
        if not inserted.rows:
            raise ConflictError(
                f"there is {_a(kind)} {name!r} already; choose another name, or change that one"
            )
        await self._database.write(
            *(set_entry(self._audit, row, by) for row in secret_rows),
            self._audit.entry(by, "resource.add", kind, made.id, name=name, org_id=org_id),
        )
        return made

    def _seals(
        self, rows: Sequence[SecretRow], resource_id: str, version: int, now: float
    ) -> list[Operation]:
        """Write secrets in the same commit, if the resource has become this version at this time."""
        return [
            self._seal(**asdict(row), resource=resource_id, at_version=version, at_time=now) for row in rows
        ]

    async def find(self, kind: str, name_or_id: str, *, by: Principal) -> Resource:
        """A resource by id or name; of several of one name the principal's own, then an organisation's, then the market's.

        Raises:
            NotFoundError: there is none that `by` sees.
        """
        wanted = or_(resources.c.id == name_or_id, resources.c.name == name_or_id)
        found = await self._all(self._seen(kind, by).where(wanted).order_by(resources.c.id))
        if not found:
            raise NotFoundError(f"no {_word(kind)} {name_or_id!r}")
        return min(found, key=lambda entry: _rank(entry, name_or_id, by))

    async def list(
        self,
        kind: str,
        *,
        by: Principal,
        active: bool | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> Page[Resource]:
        """What `by` sees of a kind, the oldest first; `active` leaves the others out, `after` is a page's cursor."""
        statement = self._seen(kind, by).order_by(resources.c.id).limit(limit + 1)
        if active is not None:
            statement = statement.where(resources.c.active == active)
        if after is not None:
            statement = statement.where(resources.c.id > after)
        found = await self._all(statement)
        return page(found, limit, [entry.id for entry in found])

    async def marks(self, kind: str, *, by: Principal, active: bool | None = None) -> Sequence[Mark]:
        """All that `by` sees of a kind without the definitions: one's own first, then organisations', then the market's."""
        statement = select(*(resources.c[name] for name in _MARK)).where(
            resources.c.kind == kind, resolve_visibility(resources, by)
        )
        if active is not None:
            statement = statement.where(resources.c.active == active)
        found = [
            Mark(**row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
            for row in await self._database.rows(statement.order_by(resources.c.id))
        ]
        return sorted(found, key=lambda entry: _rank(entry, entry.id, by))

    async def many(self, ids: Collection[str], *, by: Principal) -> Sequence[Resource]:
        """The resources of these ids that `by` sees."""
        found: list[Resource] = []
        wanted = sorted(ids)
        for start in range(0, len(wanted), _AT_ONCE):
            some = resources.c.id.in_(wanted[start : start + _AT_ONCE])
            found += await self._all(select(resources).where(some, resolve_visibility(resources, by)))
        return found

    async def update(
        self,
        resource_id: str,
        *,
        by: Principal,
        name: str | None = None,
        definition: Mapping[str, Any] | None = None,
        active: bool | None = None,
        expected_version: int | None = None,
        secret_rows: Sequence[SecretRow] = (),
    ) -> Resource:
        """Change what is given; the rest stays. `secret_rows` are new secrets of its definition, stored if that is.

        Raises:
            NotFoundError: there is no such resource that `by` sees.
            ForbiddenError: `by` sees it, and may not change it.
            ConflictError: it is not at `expected_version`, somebody changed it meanwhile, or the name is taken.
        """
        before = await self.writable(resource_id, by=by)
        if expected_version is not None and before.version != expected_version:
            raise ConflictError(
                f"{_word(before.kind)} {before.name!r} is at version {before.version}, not {expected_version};"
                " look at it again before you change it"
            )
        new_name = before.name if name is None else name
        _check(before.kind, new_name)
        content = encode(before.definition if definition is None else dict(definition)).decode()
        now = time.time()
        changed = self._update(
            resource=resource_id, known=before.version, new_name=new_name, content=content,
            is_active=before.active if active is None else active, now=now,
        )  # fmt: skip
        await self._database.write(changed, *self._seals(secret_rows, resource_id, before.version + 1, now))
        if not changed.rows:
            raise ConflictError(
                f"{_word(before.kind)} {before.name!r} was changed by somebody else just now, or the name {new_name!r}"
                " is taken; look at it again"
            )
        what = {"name": name, "definition": definition, "active": active}
        await self._database.write(
            *(set_entry(self._audit, row, by) for row in secret_rows),
            self._audit.entry(
                by, "resource.update", before.kind, resource_id, name=new_name, org_id=before.org_id,
                detail={"changed": [key for key, value in what.items() if value is not None]},
            ),
        )  # fmt: skip
        return await self.find(before.kind, resource_id, by=by)

    async def remove(self, resource_id: str, *, by: Principal, along: Batch | None = None) -> None:
        """Remove a resource with the secrets that were moved out of its definition, and what else `along` removes.

        Raises:
            NotFoundError: there is no such resource that `by` sees.
            ForbiddenError: `by` sees it, and may not remove it.
        """
        found = await self.writable(resource_id, by=by)
        batch = along or Batch(Lane())
        batch.operations += [
            self._delete(resource=resource_id),
            self._unsubscribe(resource=resource_id),
            self._forget(resource=resource_id),
            self._audit.entry(
                by, "resource.remove", found.kind, found.id, name=found.name, org_id=found.org_id
            ),
        ]
        await self._database.writer.submit(batch)

    async def get(self, resource_id: str, *, by: Principal) -> Resource:
        """A resource of any kind by its id.

        Raises:
            NotFoundError: there is none that `by` sees.
        """
        statement = select(resources).where(resources.c.id == resource_id, resolve_visibility(resources, by))
        found = await self._all(statement)
        if not found:
            raise NotFoundError(f"no resource has the id {resource_id!r}")
        return found[0]

    async def writable(self, resource_id: str, *, by: Principal) -> Resource:
        """A resource that `by` may change.

        Raises:
            NotFoundError: there is none that `by` sees.
            ForbiddenError: `by` sees it, and may not change it.
        """
        found = await self.get(resource_id, by=by)
        if not may_write(by, found.owner, found.org_id):
            raise ForbiddenError(
                f"{_word(found.kind)} {found.name!r} is shared with you; only its owner and admins of its organisation"
                " change it"
            )
        return found

    def _seen(self, kind: str, by: Principal) -> Select[Any]:
        return select(resources).where(resources.c.kind == kind, resolve_visibility(resources, by))

    async def _all(self, statement: Select[Any]) -> Sequence[Resource]:
        return [_resource(row) for row in await self._database.rows(statement)]


_AT_ONCE = 500
_MARK = ("id", "name", "owner", "org_id", "visibility", "active", "version")
_COLUMNS = (
    "id", "kind", "name", "owner", "org_id", "visibility", "publish_status", "active", "version", "created_at",
    "updated_at", "scope",
)  # fmt: skip


def _sealing() -> Insert:
    """A secret, if its resource has just been changed to what names it: never one for the definition before."""
    columns = [secrets.c[field.name] for field in fields(SecretRow)]
    changed = select(resources.c.id).where(
        resources.c.id == bindparam("resource", type_=Text),
        resources.c.version == bindparam("at_version", type_=Integer),
        resources.c.updated_at == bindparam("at_time", type_=Double),
    )
    values = select(*(bindparam(column.name, type_=column.type) for column in columns))
    return replacing(insert(secrets).from_select(columns, values.where(changed.exists())))


def _check(kind: str, name: str) -> None:
    if kind not in KINDS:
        raise ConflictError(f"there is no kind of resource {kind!r}; there are {', '.join(KINDS)}")
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise ConflictError(
            f"{name!r} cannot be the name of {_a(kind)}: 1 to {MAX_NAME} printable characters, no space at the ends"
        )


def _status(by: Principal, org_id: str | None, visibility: Visibility) -> str | None:
    """The publication's state of something new."""
    if org_id is not None and org_id not in by.org_ids:
        raise NotFoundError(f"no organisation {org_id!r}")
    if visibility == "private":
        return None
    if visibility == "org":
        if org_id is None:
            raise ConflictError("visibility 'org' needs the organisation that it is shared in")
        return None if by.is_admin(org_id) else "pending"
    return "pending"


def _rank(found: Resource | Mark, wanted: str, by: Principal) -> tuple[bool, int]:
    near = 0 if found.owner == by.user_id and found.org_id is None else 1 if found.owner == by.user_id else 2
    return found.id != wanted, 3 if near == 2 and found.visibility == "market" else near  # noqa: PLR2004 - neither own


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {_word(kind)}"


def _word(kind: str) -> str:
    return kind.replace("_", " ")


def _resource(row: Row[*tuple[Any, ...]]) -> Resource:
    return Resource(
        id=row.id, kind=row.kind, name=row.name, definition=decode(row.definition), owner=row.owner, org_id=row.org_id,
        visibility=row.visibility, publish_status=row.publish_status, active=bool(row.active), version=row.version,
        created_at=row.created_at, updated_at=row.updated_at, scope=row.scope,
    )  # fmt: skip
