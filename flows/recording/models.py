"""Language models as recorded and offline runs see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from interlace.engine.chat import CallSite, ChatModel, ChatRequest, ChatResult, Delta, ModelFacts, OnDelta
from interlace.flows.recording.outside import Form, Outside

_RESULT: Form[ChatResult] = Form(lambda result: result.model_dump(mode="json"), ChatResult.model_validate)
_FACTS: Form[ModelFacts] = Form(asdict, lambda kept: ModelFacts(**kept))
_VECTORS: Form[list[list[float]]] = Form(lambda vectors: vectors, lambda kept: kept)


class RecordedModels:
    """The questions of one attempt of a node. Implements `ChatModel`."""

    def __init__(self, models: ChatModel, outside: Outside) -> None:
        self._models = models
        self._outside = outside

    async def facts(self, model: str | None, *, site: CallSite) -> ModelFacts:
        """What is known of a model."""
        return await self._outside.ask(
            "model.facts", {"model": model}, lambda: self._models.facts(model, site=site), _FACTS
        )

    async def chat(
        self, request: ChatRequest, *, site: CallSite, on_delta: OnDelta | None = None
    ) -> ChatResult:
        """Ask a model; a kept answer is streamed as one piece."""
        asked = False

        async def perform() -> ChatResult:
            nonlocal asked
            asked = True
            return await self._models.chat(request, site=site, on_delta=on_delta)

        wanted = request.model_dump(mode="json", exclude_defaults=True)
        result = await self._outside.ask("model", wanted, perform, _RESULT)
        if on_delta is not None and not asked and (result.text or result.reasoning):
            on_delta(Delta(text=result.text, reasoning=result.reasoning or ""))
        return result

    async def embed(
        self, texts: Sequence[str], *, site: CallSite, model: str | None = None
    ) -> list[list[float]]:
        """The vectors of texts."""
        request = {"texts": list(texts), "model": model}
        return await self._outside.ask(
            "model.embed", request, lambda: self._models.embed(texts, site=site, model=model), _VECTORS
        )
