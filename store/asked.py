"""Whom a request asks, as a condition in SQL, so that a page of somebody's requests is a full one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Text, and_, cast, exists, func, not_, or_, select
from sqlalchemy.dialects.postgresql import JSON

from interlace.store.encoding import encode
from interlace.store.tables import waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Somebody by the titles that requests name people by.

    Args:
        name: what the person is called.
        user_id: the user, whose own runs are those without an organisation.
        own_role: the role in the user's own runs.
        roles: the role in an organisation's runs, by organisation; elsewhere the person is a member.
    """

    name: str
    user_id: str
    own_role: str = "owner"
    roles: Mapping[str, str] = field(default_factory=dict)


def may_answer(kind: str, person: Asked) -> ColumnElement[bool]:
    """The condition under which a person may answer a request, in a database of that kind."""
    columns = waits.c
    ways = [columns.assignees == "[]", _names(kind, [person.name])]
    for org_id, role in person.roles.items():
        ways.append(and_(columns.org_id == org_id, _names(kind, [f"role:{role}"])))
    elsewhere = func.coalesce(columns.org_id, "").not_in(sorted(person.roles))
    own = columns.owner == person.user_id
    ways.append(and_(elsewhere, own, _names(kind, [f"role:{person.own_role}"])))
    ways.append(and_(elsewhere, not_(own), _names(kind, ["role:member"])))
    not_self = or_(columns.allow_self, columns.starter.is_(None), columns.starter != person.name)
    return and_(or_(*ways), not_self)


def _names(kind: str, titles: Iterable[str]) -> ColumnElement[bool]:
    """Whether the list of assignees holds one of these."""
    # Entries are compared as they were encoded: neither database can decode every text that JSON can hold.
    if kind == "postgresql":
        entry = func.json_array_elements(cast(waits.c.assignees, JSON)).table_valued("value")
        text: ColumnElement[str] = cast(entry.c.value, Text)
    else:
        entry = func.json_each(waits.c.assignees).table_valued("fullkey")
        text = waits.c.assignees.op("->", return_type=Text())(entry.c.fullkey)
    wanted = text.in_([encode(title).decode() for title in titles])
    return exists(select(1).select_from(entry).where(wanted))
