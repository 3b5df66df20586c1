"""The ledger of model calls, and budgets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, bindparam, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.errors import NotFoundError
from interlace.store.ids import uuid7
from interlace.store.tables import budgets, model_calls

Period = Literal["day", "month"]
GroupBy = Literal["user", "org", "provider", "model", "run", "node", "day"]
NANO: Final = 1_000_000_000
TOKENS: Final = "tokens"
INSTALLATION: Final = "installation"
_COLUMNS: Final = {
    "user": model_calls.c.user_id, "org": model_calls.c.org_id, "provider": model_calls.c.provider,
    "model": model_calls.c.model, "run": model_calls.c.run_id, "node": model_calls.c.path,
}  # fmt: skip
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a model; `cost_nano` in billionths of the currency, None where the price is not known."""

    user_id: str
    org_id: str | None
    run_id: str | None
    path: str
    provider: str
    model: str
    kind: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_nano: int | None
    currency: str | None
    latency_ms: float
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall(ModelCall):
    """A call that was put down; `at` is its end in Unix seconds."""

    id: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What the calls of a group add up to, in one currency. `group` is a name, or a day as Unix seconds."""

    group: str | None
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | None
    currency: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much may be spent in a period; `scope` is `user:<id>`, `org:<id>` or `installation`, `unit` tokens or a currency."""

    id: str
    scope: str
    period: Period
    unit: str
    most: float


class UsageRepository:
    """What models cost."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = database.compile(insert(model_calls))
        upsert = insert(budgets)
        self._set = database.compile(
            upsert.on_conflict_do_update(
                index_elements=["scope", "period", "unit"], set_={"most_nano": upsert.excluded.most_nano}
            ).returning(budgets.c.id),
            returns=True,
        )
        self._remove = database.compile(
            delete(budgets).where(budgets.c.id == bindparam("budget")).returning(budgets.c.id), returns=True
        )

    async def record(self, call: ModelCall, *, at: float | None = None) -> None:
        """Put a call down."""
        await self._database.write(
            self._insert(id=uuid7(), at=time.time() if at is None else at, **asdict(call))
        )

    async def calls_of(self, run_id: str, *, limit: int) -> list[MadeCall]:
        """The calls that a run made, in order."""
        statement = (
            select(model_calls).where(model_calls.c.run_id == run_id).order_by(model_calls.c.id).limit(limit)
        )
        return [
            MadeCall(**row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
            for row in await self._database.rows(statement)
        ]

    async def spent(self, scope: str, since: float, unit: str) -> float:
        """What a scope has spent since a moment: tokens in and out, or money of a currency."""
        if unit == TOKENS:
            what: ColumnElement[Any] = func.sum(model_calls.c.input_tokens + model_calls.c.output_tokens)
            where = [model_calls.c.at >= since]
        else:
            what = func.sum(model_calls.c.cost_nano)
            where = [model_calls.c.at >= since, model_calls.c.currency == unit]
        row = await self._database.first(select(what).where(*where, *_in_scope(scope)))
        found = 0 if row is None or row[0] is None else int(row[0])
        return float(found) if unit == TOKENS else found / NANO

    async def totals(
        self, scopes: Sequence[str], *, since: float, until: float | None = None, group_by: GroupBy = "model"
    ) -> list[Total]:
        """What the calls of some scopes add up to, the dearest group first; `installation` stands for all."""
        day = func.floor(model_calls.c.at / _DAY) * _DAY
        group = day if group_by == "day" else _COLUMNS[group_by]
        columns = (model_calls.c.input_tokens, model_calls.c.output_tokens, model_calls.c.cached_tokens)
        cost = func.sum(model_calls.c.cost_nano)
        statement = select(
            group, func.count(), func.count(model_calls.c.error), *map(func.sum, columns), cost, model_calls.c.currency
        ).where(model_calls.c.at >= since)  # fmt: skip
        if until is not None:
            statement = statement.where(model_calls.c.at < until)
        if INSTALLATION not in scopes:
            users = [scope.removeprefix("user:") for scope in scopes if scope.startswith("user:")]
            orgs = [scope.removeprefix("org:") for scope in scopes if scope.startswith("org:")]
            statement = statement.where(model_calls.c.user_id.in_(users) | model_calls.c.org_id.in_(orgs))
        rows = await self._database.rows(statement.group_by(group, model_calls.c.currency))
        found = [
            Total(
                group=None if row[0] is None else str(row[0]), calls=row[1], failed=row[2], input_tokens=int(row[3]),
                output_tokens=int(row[4]), cached_tokens=int(row[5]), cost=None if row[6] is None else int(row[6]) / NANO,
                currency=row[7],
            )
            for row in rows
        ]  # fmt: skip
        return sorted(found, key=lambda total: (-(total.cost or 0), -total.input_tokens, total.group or ""))

    async def of_runs(self, run_ids: Sequence[str]) -> tuple[int, int, int, int]:
        """What the calls of some runs took: input, output, cached and reasoning tokens."""
        columns = (
            model_calls.c.input_tokens, model_calls.c.output_tokens, model_calls.c.cached_tokens,
            model_calls.c.reasoning_tokens,
        )  # fmt: skip
        wanted = model_calls.c.run_id.in_(list(run_ids))
        row = await self._database.first(select(*map(func.sum, columns)).where(wanted))
        numbers = [0, 0, 0, 0] if row is None else [int(value or 0) for value in row]
        return numbers[0], numbers[1], numbers[2], numbers[3]

    async def set_budget(self, scope: str, period: Period, unit: str, most: float) -> str:
        """Set, or change, what may be spent; gives the budget's id."""
        rows = await self._database.write(
            self._set(
                id=uuid7(), scope=scope, period=period, unit=unit, most_nano=round(most * NANO), created_at=time.time()
            )
        )  # fmt: skip
        return str(rows[0][0])

    async def budgets(self, scopes: Sequence[str] | None = None) -> list[Budget]:
        """The budgets of some scopes; of all without."""
        statement = select(budgets).order_by(budgets.c.scope, budgets.c.period, budgets.c.unit)
        if scopes is not None:
            statement = statement.where(budgets.c.scope.in_(scopes))
        return [
            Budget(id=row.id, scope=row.scope, period=row.period, unit=row.unit, most=row.most_nano / NANO)
            for row in await self._database.rows(statement)
        ]

    async def remove_budget(self, budget_id: str) -> None:
        """Remove a budget.

        Raises:
            NotFoundError: there is none of that id.
        """
        if not await self._database.write(self._remove(budget=budget_id)):
            raise NotFoundError(f"no budget {budget_id!r}")


def _in_scope(scope: str) -> list[ColumnElement[bool]]:
    kind, _, name = scope.partition(":")
    if kind == "user":
        return [model_calls.c.user_id == name]
    if kind == "org":
        return [model_calls.c.org_id == name]
    return []
