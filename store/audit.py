"""Who did what, to which object, when, and from where; rows are only ever added, which the database holds too."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, or_, select
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import ADMIN_ROLES, Principal
from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.statements import Operation
from interlace.store.tables import audit

source: ContextVar[str] = ContextVar("audit_source", default="local")
"""Where the present work comes from: `local`, `cli`, `http 192.0.2.7`, `run <id>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the audit; `at` in Unix seconds."""

    id: str
    at: float
    user_id: str
    org_id: str | None
    action: str
    kind: str
    object_id: str
    name: str
    source: str
    detail: dict[str, Any]


class AuditRepository:
    """The audit of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = database.compile(insert(audit))

    def entry(
        self,
        by: Principal,
        action: str,
        kind: str,
        object_id: str,
        *,
        name: str = "",
        org_id: str | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> Operation:
        """The operation that adds a line, to be committed together with the change itself.

        Args:
            by: who does it.
            action: what is done, as `resource.add`, `secret.set`, `approval.answer`.
            kind: the kind of object.
            object_id: the object.
            name: what people call it.
            org_id: the organisation whose admins read the line.
            detail: more that people should know; never a secret's value.
        """
        return self._insert(
            id=uuid7(), at=time.time(), user_id=by.user_id, org_id=org_id, action=action, kind=kind,
            object_id=object_id, name=name, source=source.get(), detail=encode(dict(detail or {})).decode(),
        )  # fmt: skip

    async def record(
        self,
        by: Principal,
        action: str,
        kind: str,
        object_id: str,
        *,
        name: str = "",
        org_id: str | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a line by itself; arguments as for `entry`."""
        await self._database.write(
            self.entry(by, action, kind, object_id, name=name, org_id=org_id, detail=detail)
        )

    async def list(
        self,
        *,
        by: Principal,
        action: str | None = None,
        object_id: str | None = None,
        user_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> Page[AuditEntry]:
        """The newest lines first: an operator reads all, an admin those of the organisation, everybody their own."""
        statement = select(audit).order_by(audit.c.id.desc()).limit(limit + 1)
        if not by.operator:
            led = sorted(org_id for org_id, role in by.roles.items() if role in ADMIN_ROLES)
            statement = statement.where(or_(audit.c.user_id == by.user_id, audit.c.org_id.in_(led)))
        if action is not None:
            statement = statement.where(
                or_(audit.c.action == action, audit.c.action.startswith(f"{action}.", autoescape=True))
            )
        if object_id is not None:
            statement = statement.where(audit.c.object_id == object_id)
        if user_id is not None:
            statement = statement.where(audit.c.user_id == user_id)
        if since is not None:
            statement = statement.where(audit.c.at >= since)
        if until is not None:
            statement = statement.where(audit.c.at <= until)
        if after is not None:
            statement = statement.where(audit.c.id < after)
        found = [_entry(row) for row in await self._database.rows(statement)]
        return page(found, limit, [line.id for line in found])


def _entry(row: Row[*tuple[Any, ...]]) -> AuditEntry:
    values = dict(row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
    return AuditEntry(**{**values, "detail": decode(values["detail"])})
