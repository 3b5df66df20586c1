"""`/api/v1/models` and `/api/v1/usage`: providers of language models, what they cost, and budgets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from interlace.flows.platform import Platform
from interlace.resources.models.admin import ModelAdmin
from interlace.resources.models.definition import ProviderDefinition
from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs

router = APIRouter(prefix="/api/v1", tags=["models"])


class NewProvider(Body):
    """A provider to store."""

    definition: ProviderDefinition
    org_id: str | None = Field(
        None, description="The organisation that it belongs to; the caller's own if not set."
    )
    visibility: Literal["private", "org", "market"] = Field("private", description="Who else may use it.")


class ChangedProvider(Body):
    """A provider as it is to be."""

    definition: ProviderDefinition


class Tried(Body):
    """What is tried."""

    model: str | None = Field(
        None, description="The model that is asked for a word; one of the provider's if not set."
    )


class NewBudget(Body):
    """A budget."""

    scope: str = Field(description="installation, user:<id> or org:<id>.")
    period: Literal["day", "month"] = Field(description="Days and months of UTC.")
    unit: str = Field(description="tokens, or a currency such as USD.")
    most: float = Field(ge=0, le=1e9, description="What may be spent in a period.")


class UsageWanted(BaseModel):
    """Which costs are added up."""

    group_by: Literal["user", "org", "provider", "model", "run", "node", "day"] = "model"
    days: float = Field(30, gt=0, le=3660, description="How far back.")
    all: bool = Field(False, description="Of the whole installation; for operators.")


def _admin(platform: Platform) -> ModelAdmin:
    return ModelAdmin(platform.store, platform.secrets, platform.models)


@router.get("/models", dependencies=[needs("resources:read")])
async def list_models(platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """The providers that the caller may use, with their models and roles; keys are not shown."""
    found = await _admin(platform).providers(by=by)
    return part(found, lambda each: f"{each['name']} {each.get('id') or ''}", wanted, dict)


@router.post("/models", status_code=201, dependencies=[needs("resources:write")])
async def add_provider(body: NewProvider, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Store a provider; nothing is asked of it."""
    return await _admin(platform).add(body.definition, by=by, org_id=body.org_id, visibility=body.visibility)


@router.get("/models/{provider}", dependencies=[needs("resources:read")])
async def get_provider(provider: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One provider, by name or id."""
    return await _admin(platform).show(provider, by=by)


@router.put("/models/{provider}", dependencies=[needs("resources:write")])
async def change_provider(
    provider: str, body: ChangedProvider, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Change a stored provider; a key that is `{secret: …}` stays what it names."""
    return await _admin(platform).update(provider, body.definition, by=by)


@router.delete("/models/{provider}", status_code=204, dependencies=[needs("resources:write")])
async def remove_provider(provider: str, platform: PlatformOf, by: By) -> None:
    """Remove a stored provider and its key."""
    await _admin(platform).remove(provider, by=by)


@router.post("/models/{provider}/test", dependencies=[needs("resources:use")])
async def try_provider(provider: str, body: Tried, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Ask a provider for its models, and one of them for a word."""
    return await _admin(platform).test(provider, by=by, model=body.model)


@router.get("/model-roles", dependencies=[needs("resources:read")])
async def get_roles(platform: PlatformOf, by: By) -> dict[str, Any]:
    """Which models the caller gets for each role, in order, or what to do where there is none."""
    return {"items": await _admin(platform).roles(by=by)}


@router.get("/usage", dependencies=[needs("resources:read")])
async def get_usage(platform: PlatformOf, by: By, wanted: Annotated[UsageWanted, Query()]) -> dict[str, Any]:
    """What models cost the caller, and the organisations that the caller is an admin of."""
    found = await _admin(platform).usage(by=by, group_by=wanted.group_by, days=wanted.days, every=wanted.all)
    return {"items": found}


@router.get("/usage/budgets", dependencies=[needs("resources:read")])
async def list_budgets(platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """The budgets that concern the caller, with what is spent of them."""
    return part(await _admin(platform).budgets(by=by), lambda budget: str(budget["id"]), wanted, dict)


@router.put("/usage/budgets", dependencies=[needs("admin")])
async def set_budget(body: NewBudget, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Set, or change, a budget."""
    return {"id": await _admin(platform).set_budget(body.scope, body.period, body.unit, body.most, by=by)}


@router.delete("/usage/budgets/{budget_id}", status_code=204, dependencies=[needs("admin")])
async def remove_budget(budget_id: str, platform: PlatformOf, by: By) -> None:
    """Remove a budget."""
    await _admin(platform).remove_budget(budget_id, by=by)
