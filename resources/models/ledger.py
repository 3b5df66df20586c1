"""What calls of models cost, put down by user, organisation, run and node; and budgets that end it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from interlace.engine.chat import CallSite, Usage
from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.models.catalogue import Target
from interlace.store.usage import INSTALLATION, NANO, TOKENS, Budget, ModelCall, Period, UsageRepository

_WORDS: Final = {
    "user": "your budget",
    "org": "the budget of the organisation",
    INSTALLATION: "the installation's budget",
}


class Ledger:
    """Records calls and holds budgets.

    A budget is looked at before each call: calls that are under way together may go over it by what they cost. Periods
    are days and months of UTC.
    """

    def __init__(self, usage: UsageRepository, now: Callable[[], float] = time.time) -> None:
        self._usage = usage
        self._now = now
        self.noted: list[Callable[[Target, ModelCall], None]] = []
        """Called with every call that was put down."""

    async def check(self, site: CallSite, target: Target) -> None:
        """Raise where a budget that the call would count for is used up.

        Raises:
            NodeError: `budget_exceeded`.
        """
        scopes = [INSTALLATION, f"user:{site.principal.user_id}"]
        org = payer(site.principal, target)
        if org is not None:
            scopes.append(f"org:{org}")
        for budget in await self._usage.budgets(scopes):
            spent = await self._usage.spent(budget.scope, since(budget.period, self._now()), budget.unit)
            if spent >= budget.most:
                raise NodeError(_used_up(budget, spent), kind="budget_exceeded", retryable=False)

    async def record(
        self, site: CallSite, target: Target, kind: str, usage: Usage, error: str | None = None
    ) -> None:
        """Put a call down, failed ones too."""
        call = ModelCall(
            user_id=site.principal.user_id,
            org_id=payer(site.principal, target),
            run_id=site.run_id,
            path=site.path,
            provider=target.provider.name,
            model=target.model.name,
            kind=kind,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            cost_nano=None if usage.cost is None else round(usage.cost * NANO),
            currency=usage.currency,
            latency_ms=usage.latency_ms,
            error=error,
        )
        for note in self.noted:
            note(target, call)
        await self._usage.record(call, at=self._now())


def payer(principal: Principal, target: Target) -> str | None:
    """The organisation that a call counts for: the one that shares the provider, else the user's only one."""
    resource = target.provider.resource
    if resource is not None and resource.org_id is not None:
        return resource.org_id
    return next(iter(principal.org_ids)) if len(principal.org_ids) == 1 else None


def since(period: Period, now: float) -> float:
    """When the present day or month began, in UTC."""
    start = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (start if period == "day" else start.replace(day=1)).timestamp()


def _used_up(budget: Budget, spent: float) -> str:
    whose = _WORDS[budget.scope.partition(":")[0]]
    unit = TOKENS if budget.unit == TOKENS else budget.unit
    amount = (
        f"{spent:,.0f} of {budget.most:,.0f}" if unit == TOKENS else f"{spent:,.4f} of {budget.most:,.2f}"
    )
    return f"{whose} for this {budget.period} is used up ({amount} {unit}); nothing was asked. `interlace models budgets` shows budgets"
