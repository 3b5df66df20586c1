"""Who acts: a user with the organisations they belong to. Runs act with the rights of whoever started them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Role = Literal["owner", "admin", "member"]
"""What a user is in an organisation: owners and admins change what is shared in it, members use it."""

ADMIN_ROLES: Final[frozenset[Role]] = frozenset({"owner", "admin"})


@dataclass(frozen=True, slots=True)
class Principal:
    """A user as rights are decided by.

    Args:
        user_id: the user.
        org_ids: the organisations that the user belongs to.
        roles: organisation to role.
        operator: whether the user runs this installation: makes users, reviews the market, reads the whole audit. It
            gives no access to what belongs to others.
    """

    user_id: str
    org_ids: frozenset[str] = frozenset()
    roles: Mapping[str, Role] = field(default_factory=dict, hash=False)
    operator: bool = False

    def is_admin(self, org_id: str | None) -> bool:
        """Whether the user may change what is shared in an organisation."""
        return org_id is not None and self.roles.get(org_id) in ADMIN_ROLES


LOCAL: Final = Principal("local", operator=True)
"""The owner of the installation, who is the only user until others are made."""
