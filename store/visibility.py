"""Who sees what: one filter for every table whose rows belong to somebody."""

from __future__ import annotations

from typing import TypeAlias

from sqlalchemy import ColumnElement, Table, and_, or_, select

from interlace.engine.principal import Principal
from interlace.store.tables import subscriptions

Asker: TypeAlias = Principal | str
"""Who asks: a principal, or a user's id, which stands for what is that user's own."""


def seen_by(table: Table, asker: Asker) -> ColumnElement[bool]:
    """The condition under which somebody sees a row: as `resolve_visibility`, and of a user's id only what they own."""
    if isinstance(asker, Principal):
        return resolve_visibility(table, asker)
    owned: ColumnElement[bool] = table.c.owner == asker
    return owned


def user_of(asker: Asker) -> str:
    """The user that asks."""
    return asker.user_id if isinstance(asker, Principal) else asker


def resolve_visibility(table: Table, principal: Principal) -> ColumnElement[bool]:
    """The condition under which a principal sees a row.

    A row is seen by its owner; where the table has the columns, by the members of the organisation that it is shared in
    (unless its publication waits for review or was rejected), and by subscribers while it is approved for the market.
    What does not fit the condition does not exist for the principal: 404, never 403.
    """
    columns = table.c
    ways: list[ColumnElement[bool]] = [columns.owner == principal.user_id]
    if "visibility" not in columns:
        return ways[0]
    reviewed = "publish_status" in columns
    if principal.org_ids:
        shared = and_(columns.visibility == "org", columns.org_id.in_(sorted(principal.org_ids)))
        if reviewed:
            allowed = or_(columns.publish_status.is_(None), columns.publish_status == "approved")
            shared = and_(shared, allowed)
        ways.append(shared)
    if reviewed:
        mine = select(subscriptions.c.object_id).where(subscriptions.c.user_id == principal.user_id)
        ways.append(
            and_(columns.visibility == "market", columns.publish_status == "approved", columns.id.in_(mine))
        )
    return or_(*ways)


def may_write(principal: Principal, owner: str, org_id: str | None) -> bool:
    """Whether a principal may change what they see: their own, or as an admin what belongs to their organisation."""
    return owner == principal.user_id or principal.is_admin(org_id)


def scope_of(owner: str, org_id: str | None) -> str:
    """Where a name is unique and a data key is used: an organisation, or a user."""
    return f"user:{owner}" if org_id is None else f"org:{org_id}"


def scopes_of(principal: Principal) -> list[str]:
    """The scopes a principal belongs to, their own first."""
    return [f"user:{principal.user_id}", *(f"org:{org_id}" for org_id in sorted(principal.org_ids))]
