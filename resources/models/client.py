"""One call to one model, through the openai SDK on our HTTP client."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from interlace.engine.chat import CallSite, ChatRequest, ChatResult, OnDelta, Usage
from interlace.engine.errors import InterlaceError, NodeError
from interlace.resources.http import HttpClient
from interlace.resources.models import tokens
from interlace.resources.models.catalogue import Catalogue, Provider, Target
from interlace.resources.models.definition import ProviderDefinition
from interlace.resources.models.faults import translated
from interlace.resources.models.wire import Collected, Habits, format_of, options, read

if TYPE_CHECKING:
    import openai

_REFUSED = 400
_KEPT = 32
"""Clients of the SDK that are kept; they hold no connections, those are our own."""
_LESSONS = 4
"""How often in a row a request is sent anew without what was refused."""


class Client:
    """Calls models.

    Args:
        http: the process's HTTP client.
        catalogue: gives keys and headers.
    """

    def __init__(self, http: HttpClient, catalogue: Catalogue) -> None:
        self._http = http
        self._catalogue = catalogue
        self._habits: defaultdict[str, Habits] = defaultdict(Habits)
        self._clients: dict[tuple[Any, ...], openai.AsyncOpenAI] = {}

    async def chat(
        self, request: ChatRequest, target: Target, site: CallSite, on_delta: OnDelta | None
    ) -> ChatResult:
        """Ask once; what the provider does not take (a response format, a temperature) is left out and asked again.

        Raises:
            NodeError: by `faults`.
        """
        habits = self._habits[f"{target.provider.definition.base_url} {target.model.name}"]
        stream = on_delta is not None and target.model.can("streaming")
        async with self._open(target.provider, site) as (sdk, secrets):
            for _ in range(_LESSONS):
                sent = options(request, target, habits, stream=stream)
                try:
                    return await self._once(sdk, sent, request, target, on_delta if stream else None)
                except Exception as error:
                    if _teaches(error, sent, habits):
                        continue
                    raise translated(error, str(target), secrets) from error
        raise NodeError(
            f"model {target}: it refuses every form of the request", kind="bad_response", retryable=False
        )

    async def _once(
        self,
        sdk: openai.AsyncOpenAI,
        sent: dict[str, Any],
        request: ChatRequest,
        target: Target,
        on_delta: OnDelta | None,
    ) -> ChatResult:
        from openai import AsyncStream  # noqa: PLC0415 - it takes a second
        from openai.types.chat import ChatCompletion, ChatCompletionChunk  # noqa: PLC0415

        started = time.perf_counter()
        # `chat.completions.create` would walk through every message to rename fields that have their names already;
        # in a long conversation that takes longer than everything else.
        answer: Any = await sdk.post(
            "/chat/completions",
            body=sent,
            cast_to=ChatCompletion,
            stream=on_delta is not None,
            stream_cls=AsyncStream[ChatCompletionChunk],
        )
        if on_delta is None:
            result = read(answer)
        else:
            collected = Collected(on_delta)
            async with answer:
                async for chunk in answer:
                    collected.add(chunk)
            result = collected.result()
        usage = result.usage
        if not usage.input_tokens and not usage.output_tokens:
            usage = _counted(sent, result, target.model.name)
        usage = priced(usage, target).model_copy(
            update={"latency_ms": round((time.perf_counter() - started) * 1000, 3)}
        )
        shape = format_of(sent) if request.output_schema is not None else "text"
        about = {"usage": usage, "provider": target.provider.name, "format": shape}
        return result.model_copy(update={**about, "model": target.model.name})

    async def embed(
        self, texts: Sequence[str], target: Target, site: CallSite
    ) -> tuple[list[list[float]], Usage]:
        """The vectors of texts.

        Raises:
            NodeError: by `faults`; `bad_response` where vectors are missing.
        """
        started = time.perf_counter()
        async with self._open(target.provider, site) as (sdk, secrets):
            try:
                found = await sdk.embeddings.create(
                    model=target.model.name, input=list(texts), encoding_format="float"
                )
                vectors = [entry.embedding for entry in sorted(found.data, key=lambda entry: entry.index)]
                used = getattr(found.usage, "prompt_tokens", 0)
            except Exception as error:
                raise translated(error, str(target), secrets) from error
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise NodeError(
                f"model {target}: {len(vectors)} vectors came for {len(texts)} texts, or of different lengths",
                kind="bad_response", retryable=False,
            )  # fmt: skip
        spent = used or sum(tokens.count(text, target.model.name) for text in texts)
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        return vectors, priced(Usage(input_tokens=spent, latency_ms=elapsed), target)

    async def names(self, provider: Provider, site: CallSite) -> list[str]:
        """The models that a provider lists.

        Raises:
            NodeError: by `faults`.
        """
        async with self._open(provider, site) as (sdk, secrets):
            try:
                return [model.id async for model in sdk.models.list()]
            except Exception as error:
                raise translated(error, provider.name, secrets) from error

    @asynccontextmanager
    async def _open(
        self, provider: Provider, site: CallSite
    ) -> AsyncIterator[tuple[openai.AsyncOpenAI, list[str]]]:
        import openai  # noqa: PLC0415 - it takes a second

        definition = provider.definition
        try:
            revealed = await self._catalogue.revealed(provider, site.principal)
        except InterlaceError as error:
            raise NodeError(
                f"provider {provider.name!r}: {error}",
                kind=getattr(error, "code", "missing_secret"),
                retryable=False,
            ) from error
        key, headers = revealed.get("api_key"), revealed["headers"]
        assert isinstance(headers, dict)
        secrets = [str(value) for value in (key, *headers.values()) if value]
        if site.hide is not None:
            for index, value in enumerate(secrets):
                site.hide(f"{provider.name}_{index}", value)
        yield self._sdk(openai, definition, str(key or "none"), headers), secrets

    def _sdk(
        self, module: ModuleType, definition: ProviderDefinition, key: str, headers: Mapping[str, str]
    ) -> openai.AsyncOpenAI:
        """The SDK's client of an endpoint; making one takes longer than a call needs otherwise."""
        from interlace.resources.http.transport import sdk_client  # noqa: PLC0415 - it brings httpx2

        wanted = (definition.base_url, key, tuple(sorted(headers.items())), definition.timeout)
        found = self._clients.pop(wanted, None)
        if found is None:
            found = module.AsyncOpenAI(
                api_key=key,
                base_url=definition.base_url,
                default_headers=dict(headers),
                max_retries=0,
                timeout=definition.timeout,
                http_client=sdk_client(self._http),
            )
            found.organization = found.project = (
                None  # those of the process' environment are not every provider's
            )
            if len(self._clients) >= _KEPT:
                del self._clients[next(iter(self._clients))]
        self._clients[wanted] = found
        return found


def priced(usage: Usage, target: Target) -> Usage:
    """With the costs, where the price is known."""
    price = target.model.price
    if price is None:
        return usage
    cached = price.input if price.cached_input is None else price.cached_input
    cost = (
        (usage.input_tokens - usage.cached_tokens) * price.input
        + usage.cached_tokens * cached
        + usage.output_tokens * price.output
    ) / 1_000_000
    return usage.model_copy(update={"cost": round(cost, 12), "currency": price.currency})


def _counted(sent: dict[str, Any], result: ChatResult, model: str) -> Usage:
    """Usage by our own count, for servers that report none."""
    said = result.text + (result.reasoning or "") + "".join(c.name + c.arguments for c in result.tool_calls)
    asked = tokens.count_messages(sent["messages"], model, sent.get("tools", ()))
    return Usage(input_tokens=asked, output_tokens=tokens.count(said, model))


def _teaches(error: Exception, sent: dict[str, Any], habits: Habits) -> bool:
    if getattr(error, "status_code", None) != _REFUSED:
        return False
    return habits.learn(sent, getattr(error, "param", None), str(getattr(error, "message", "")))
