"""Providers shown, added, changed, tried and removed; usage and budgets looked at: what commands and routes share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any, Final

from interlace.engine.chat import ROLES, CallSite, ChatRequest, Message
from interlace.engine.errors import InterlaceError, NodeError
from interlace.engine.principal import Principal
from interlace.resources.models.catalogue import KIND, Provider
from interlace.resources.models.definition import ProviderDefinition
from interlace.resources.models.ledger import since
from interlace.resources.models.models import Models
from interlace.resources.secrets import Secrets, add_resource, update_resource
from interlace.store import Store
from interlace.store.errors import ForbiddenError, NotFoundError
from interlace.store.resources import Visibility
from interlace.store.usage import INSTALLATION, TOKENS, Budget, GroupBy, Period

_DAY: Final = 86_400.0
_PROBE: Final = "Answer with the one word: ok"
_PROBE_TOKENS: Final = 200


class BudgetError(InterlaceError):
    """A budget cannot be set like this."""

    code = "bad_budget"


class ModelAdmin:
    """What people do with models and their costs, each with the rights of `by`."""

    def __init__(self, store: Store, secrets: Secrets, models: Models) -> None:
        self._store = store
        self._secrets = secrets
        self._models = models

    async def providers(self, *, by: Principal) -> list[dict[str, Any]]:
        """The providers that `by` sees, the installation's included."""
        return [_shown(provider) for provider in await self._models.catalogue.providers(by)]

    async def show(self, name: str, *, by: Principal) -> dict[str, Any]:
        """One provider, by name or id.

        Raises:
            NotFoundError: there is none that `by` sees.
        """
        return _shown(await self._find(name, by))

    async def roles(self, *, by: Principal) -> list[dict[str, Any]]:
        """`{role, models, error}` of each role: the models that `by` is answered by, in order, or why there is none."""
        found: list[dict[str, Any]] = []
        for role in ROLES:
            entry: dict[str, Any] = {"role": role, "models": [], "error": None}
            try:
                entry["models"] = [str(target) for target in await self._models.catalogue.chain(role, by)]
            except NodeError as error:
                entry["error"] = {"type": error.kind, "message": error.message}
            found.append(entry)
        return found

    async def add(
        self,
        definition: ProviderDefinition,
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
    ) -> dict[str, Any]:
        """Store a provider; its key goes into the secret store. Nothing is asked of it.

        Raises:
            ConflictError: there is one of that name.
        """
        await add_resource(
            self._store, self._secrets, KIND, definition.name, definition, by=by, org_id=org_id, visibility=visibility
        )  # fmt: skip
        return await self.show(definition.name, by=by)

    async def update(self, name: str, definition: ProviderDefinition, *, by: Principal) -> dict[str, Any]:
        """Change a stored provider; a key, or headers, that the definition does not set stay as they are.

        Raises:
            NotFoundError, ForbiddenError, ConflictError: as `ResourceRepository.update`.
        """
        resource = await self._store.resources.find(KIND, name, by=by)
        kept = {
            field: resource.definition[field]
            for field in ("api_key", "headers")
            if field not in definition.model_fields_set and resource.definition.get(field)
        }
        if kept:
            definition = ProviderDefinition.model_validate({**definition.model_dump(), **kept})
        await update_resource(
            self._store, self._secrets, resource.id, definition, by=by, reach=itemgetter("base_url"),
            name=definition.name,
        )  # fmt: skip
        return await self.show(resource.id, by=by)

    async def remove(self, name: str, *, by: Principal) -> None:
        """Remove a stored provider and its key.

        Raises:
            NotFoundError, ForbiddenError: as `ResourceRepository.remove`.
        """
        await self._store.resources.remove((await self._store.resources.find(KIND, name, by=by)).id, by=by)

    async def test(self, name: str, *, by: Principal, model: str | None = None) -> dict[str, Any]:
        """Ask a provider for its list of models, and one of them for a word, which costs a few tokens.

        Gives `{ok, listed, model, text, latency_ms, error}`.

        Raises:
            NotFoundError: there is no such provider that `by` sees.
        """
        provider = await self._find(name, by)
        site = CallSite(principal=by, path="test")
        found: dict[str, Any] = {"ok": False, "listed": None, "model": None, "text": None, "error": None}
        try:
            found["listed"] = await self._models.names(provider, site)
        except NodeError as error:
            found["error"] = {"type": error.kind, "message": error.message}
            if error.kind not in {"http_404", "http_405", "bad_response"}:  # many servers have no list
                return found
        chosen = model or _first_model(provider, found["listed"] or ())
        if chosen is None:
            return {**found, "ok": found["error"] is None}
        found["model"] = chosen
        request = ChatRequest(
            messages=(Message(role="user", content=_PROBE),),
            model=f"{provider.name}/{chosen}",
            max_tokens=_PROBE_TOKENS,
        )
        try:
            result = await self._models.chat(request, site=site)
        except NodeError as error:
            return {**found, "error": {"type": error.kind, "message": error.message}}
        return {
            **found, "ok": True, "error": None, "text": result.text.strip()[:200], "latency_ms": result.usage.latency_ms,
        }  # fmt: skip

    async def usage(
        self, *, by: Principal, group_by: GroupBy = "model", days: float = 30, every: bool = False
    ) -> list[dict[str, Any]]:
        """What models cost `by` and the organisations that `by` is an admin of; `every`: the whole installation.

        Raises:
            ForbiddenError: `every` is for operators.
        """
        if every and not by.operator:
            raise ForbiddenError("only an operator of this installation sees what everybody spends")
        scopes = [INSTALLATION] if every else _scopes(by)
        totals = await self._store.usage.totals(scopes, since=time.time() - days * _DAY, group_by=group_by)
        return [asdict(total) for total in totals]

    async def budgets(self, *, by: Principal) -> list[dict[str, Any]]:
        """The budgets that concern `by`, with what is spent of them; an operator sees all."""
        found = []
        for budget in await self._seen(by):
            spent = await self._store.usage.spent(
                budget.scope, since(budget.period, time.time()), budget.unit
            )
            found.append({**asdict(budget), "spent": spent})
        return found

    async def set_budget(self, scope: str, period: Period, unit: str, most: float, *, by: Principal) -> str:
        """Set a budget; gives its id.

        Raises:
            BudgetError: scope or unit are none.
            ForbiddenError: `by` is neither an operator nor, for an organisation, an admin of it.
        """
        kind, _, name = scope.partition(":")
        if not (scope == INSTALLATION or (kind in {"user", "org"} and name)):
            raise BudgetError(f"no scope {scope!r}; write installation, user:<id> or org:<id>")
        if unit != TOKENS and not (len(unit) == 3 and unit.isascii() and unit.isupper()):  # noqa: PLR2004 - ISO 4217
            raise BudgetError(f"no unit {unit!r}; write tokens, or a currency such as USD")
        if most < 0:
            raise BudgetError("a budget cannot be less than 0")
        self._may_set(scope, by)
        made = await self._store.usage.set_budget(scope, period, unit, most)
        detail = {"scope": scope, "period": period, "unit": unit, "most": most}
        await self._store.audit.record(by, "budget.set", "budget", made, detail=detail)
        return made

    async def remove_budget(self, budget_id: str, *, by: Principal) -> None:
        """Remove a budget.

        Raises:
            NotFoundError: there is none of that id that concerns `by`.
            ForbiddenError: as `set_budget`.
        """
        found = next((b for b in await self._seen(by) if b.id == budget_id), None)
        if found is None:
            raise NotFoundError(f"no budget {budget_id!r}")
        self._may_set(found.scope, by)
        await self._store.usage.remove_budget(budget_id)
        await self._store.audit.record(
            by, "budget.remove", "budget", budget_id, detail={"scope": found.scope}
        )

    async def _seen(self, by: Principal) -> Sequence[Budget]:
        own = [INSTALLATION, f"user:{by.user_id}", *(f"org:{org}" for org in by.org_ids)]
        return await self._store.usage.budgets(None if by.operator else own)

    @staticmethod
    def _may_set(scope: str, by: Principal) -> None:
        kind, _, name = scope.partition(":")
        if not by.operator and not (kind == "org" and by.is_admin(name)):
            raise ForbiddenError("only an operator sets budgets, and admins those of their organisation")

    async def _find(self, name: str, by: Principal) -> Provider:
        for provider in await self._models.catalogue.providers(by):
            if name == provider.name or (provider.resource is not None and name == provider.resource.id):
                return provider
        raise NotFoundError(f"no model provider {name!r}; `interlace models list` shows those there are")


def _shown(provider: Provider) -> dict[str, Any]:
    """A provider without its secrets."""
    definition = provider.definition.model_dump(mode="json", exclude={"api_key", "headers"})
    for model in definition["models"]:
        if model["capabilities"] is not None:
            model["capabilities"].sort()
    resource = provider.resource
    return {
        "id": None if resource is None else resource.id,
        "source": "installation" if resource is None else "stored",
        "org_id": None if resource is None else resource.org_id,
        "visibility": None if resource is None else resource.visibility,
        **definition,
        "api_key": {"set": provider.definition.api_key is not None},
        "headers": sorted(provider.definition.headers),
    }


def _first_model(provider: Provider, listed: Any) -> str | None:
    roles = provider.definition.roles
    named = [roles[role] for role in ("fast", "general") if role in roles]
    chat = [
        model.name
        for model in provider.definition.models
        if model.capabilities is None or "embedding" not in model.capabilities
    ]
    return next(iter([*named, *chat, *listed]), None)


def _scopes(by: Principal) -> list[str]:
    return [f"user:{by.user_id}", *(f"org:{org}" for org in sorted(by.org_ids) if by.is_admin(org))]
