"""All models of a process: chains of them, attempts, costs and budgets. Implements the engine's `ChatModel`."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from interlace.engine.chat import CallSite, ChatRequest, ChatResult, Delta, ModelFacts, OnDelta, Usage
from interlace.engine.errors import NodeError
from interlace.engine.protocols import Embedder
from interlace.resources.models.catalogue import Catalogue, Provider, Target
from interlace.resources.models.client import Client
from interlace.resources.models.faults import falls_back
from interlace.resources.models.ledger import Ledger

T = TypeVar("T")

LONGEST_WAIT: Final = 20.0
"""Seconds that a call waits for a provider before it turns to the next model, or fails."""
_BATCH: Final = 128
"""Texts in one request for embeddings."""
_FIRST_WAIT: Final = 0.5


class Models:
    """Asks models.

    Args:
        catalogue: which there are.
        client: asks one of them once.
        ledger: where costs are put down, and what says that a budget is used up.
        embedder: gives vectors where no model has the role `embedding`.
    """

    def __init__(
        self, catalogue: Catalogue, client: Client, ledger: Ledger, embedder: Embedder | None = None
    ) -> None:
        self.catalogue = catalogue
        self.ledger = ledger
        self.embedder = embedder
        self._client = client

    async def chat(
        self, request: ChatRequest, *, site: CallSite, on_delta: OnDelta | None = None
    ) -> ChatResult:
        """Ask the models of a chain until one answers; see `ChatModel`.

        A model that is busy or out of reach is asked again as often as its provider allows, then the next one is.
        """
        chain = await self.catalogue.chain(request.model, site.principal)
        sink = None if on_delta is None else _Restarting(on_delta)

        async def ask(target: Target) -> tuple[ChatResult, Usage]:
            if sink is not None:
                sink.begin()
            result = await self._client.chat(request, target, site, sink)
            return result, result.usage

        return await self._first(chain, site, "chat", ask)

    async def facts(self, model: str | None, *, site: CallSite) -> ModelFacts:
        """What is known of the first model of a chain; see `ChatModel`."""
        target = (await self.catalogue.chain(model, site.principal))[0]
        return ModelFacts(
            name=str(target),
            context_window=target.model.context_window,
            max_output=target.model.max_output,
            tools=target.model.can("tools"),
        )

    async def embed(
        self, texts: Sequence[str], *, site: CallSite, model: str | None = None
    ) -> list[list[float]]:
        """The vectors of texts; see `ChatModel`."""
        if not texts:
            return []
        try:
            chain = await self.catalogue.chain(model or "embedding", site.principal)
        except NodeError as error:
            if error.kind == "no_model" and self.embedder is not None:
                return await self.embedder.embed(texts, model=model)
            raise
        found: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]

            async def ask(target: Target, batch: Sequence[str] = batch) -> tuple[list[list[float]], Usage]:
                return await self._client.embed(batch, target, site)

            # vectors of two models are not comparable: the one that answered first answers all
            found += await self._first(chain[:1], site, "embedding", ask)
        return found

    async def names(self, provider: Provider, site: CallSite) -> list[str]:
        """The models that a provider lists; this asks it."""
        return await self._client.names(provider, site)

    async def _first(
        self,
        chain: Sequence[Target],
        site: CallSite,
        kind: str,
        ask: Callable[[Target], Awaitable[tuple[T, Usage]]],
    ) -> T:
        failures: list[NodeError] = []
        for target in chain:
            try:
                return await self._attempts(target, site, kind, ask)
            except NodeError as error:
                failures.append(error)
                if not falls_back(error):
                    break
        raise failures[0] if len(failures) == 1 else _all_failed(failures)

    async def _attempts(
        self, target: Target, site: CallSite, kind: str, ask: Callable[[Target], Awaitable[tuple[T, Usage]]]
    ) -> T:
        attempt = 0
        while True:
            await self.ledger.check(site, target)
            try:
                answer, usage = await ask(target)
            except NodeError as error:
                await self.ledger.record(site, target, kind, Usage(), error.kind)
                wait = _wait(error, attempt)
                if (
                    attempt >= target.provider.definition.retries
                    or not error.retryable
                    or wait > LONGEST_WAIT
                ):
                    raise
                attempt += 1
                await asyncio.sleep(wait)
                continue
            await self.ledger.record(site, target, kind, usage)
            return answer


class _Restarting:
    """Passes deltas on; says when an attempt begins anew after an earlier one had begun to speak."""

    def __init__(self, on_delta: OnDelta) -> None:
        self._on_delta = on_delta
        self._spoke = False

    def begin(self) -> None:
        """An attempt begins."""
        if self._spoke:
            self._spoke = False
            self._on_delta(Delta(restart=True))

    def __call__(self, delta: Delta) -> None:
        self._spoke = True
        self._on_delta(delta)


def _wait(error: NodeError, attempt: int) -> float:
    """Seconds until the next attempt: what the provider asked for, else twice as long each time."""
    if error.retry_after is not None:
        return error.retry_after
    return _FIRST_WAIT * float(2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing


def _all_failed(failures: Sequence[NodeError]) -> NodeError:
    last = failures[-1]
    waits = [error.retry_after for error in failures if error.retry_after is not None]
    return NodeError(
        f"none of {len(failures)} models answered: " + "; ".join(error.message for error in failures),
        kind=last.kind, retryable=last.retryable, retry_after=min(waits, default=None),
    )  # fmt: skip
