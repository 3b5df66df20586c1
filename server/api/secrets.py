"""`/api/v1/secrets`: set, listed by name, removed; no route gives a value."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, SecretStr

from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1/secrets", tags=["secrets"])
Org = Annotated[
    str | None, Query(description="Name or id of an organisation; one's own secret if not given.")
]


class Value(Body):
    """The value of a secret."""

    value: SecretStr = Field(description="At most 65,536 characters.")


@router.get("", dependencies=[needs("admin")])
async def list_secrets(platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """The names of the secrets that the caller's runs may use, without values."""
    found = await platform.secrets.names(by=by)
    return part(found, lambda each: f"{each.name} {each.org_id or ''}", wanted, asdict)


@router.put("/{name}", status_code=204, dependencies=[needs("admin")])
async def set_secret(name: str, body: Value, platform: PlatformOf, by: By, org: Org = None) -> None:
    """Set a secret; an earlier value is gone. Those of an organisation only its admins set."""
    org_id = None if org is None else (await platform.store.organisations.get(org, by=by)).id
    await platform.secrets.put(name, body.value.get_secret_value(), by=by, org_id=org_id)


@router.delete("/{name}", status_code=204, dependencies=[needs("admin")])
async def remove_secret(name: str, platform: PlatformOf, by: By, org: Org = None) -> None:
    """Remove a secret for good."""
    org_id = None if org is None else (await platform.store.organisations.get(org, by=by)).id
    await platform.secrets.remove(name, by=by, org_id=org_id)
