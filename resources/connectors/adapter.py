"""The one way to call an action: nodes and agents use it alike, with the same credentials, limits, breaker and audit."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.engine.errors import NodeError
from interlace.engine.expressions import compile_expression
from interlace.engine.principal import Principal
from interlace.engine.protocols import Files
from interlace.engine.run.secrets import Secrets
from interlace.resources.connectors.arguments import check_arguments, find_action, with_defaults
from interlace.resources.connectors.breaker import Breaker
from interlace.resources.connectors.definition import READING, Action, Connector
from interlace.resources.connectors.limiter import Limiter
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.connectors.request import build_request
from interlace.resources.connectors.result import CallRecord, ConnectorResult
from interlace.resources.http import HttpClient, HttpRequest, HttpResponse
from interlace.resources.http.auth import Auth
from interlace.resources.http.outcome import check_status
from interlace.resources.http.pagination import Collected, Page, collect, search
from interlace.resources.http.paging_setting import AnyPaging
from interlace.resources.http.reading import Save, read_body

Record = Callable[[Principal, CallRecord], Awaitable[None]]
"""Writes a call into the audit."""

_KEY = "idempotency-key"
_TOO_MANY = "http_429"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a call is authenticated with; `secrets` are kept out of errors and of bodies that are cut."""

    auth: Auth | None = None
    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    secrets: Secrets = field(default_factory=Secrets, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a call is made.

    Args:
        key: sent as Idempotency-Key with methods that change something.
        paginate: fetch all pages: by the action's or connector's own rule where it is true.
        most_characters: cut a longer body (as JSON text) and keep the whole in `files`; for agents.
        files: where files that are sent are read, and where files that come are kept.
    """

    key: str = ""
    paginate: AnyPaging | bool = False
    most_characters: int | None = None
    files: Files | None = None


@dataclass(slots=True)
class _Tries:
    """Counts over all requests of one call."""

    sent: int = 0
    status: int | None = None
    url: str = ""


class Adapter:
    """Calls actions.

    Args:
        http: the outgoing client.
        breaker: shared by all calls.
        record: writes the audit.
        limiter: the token buckets of this process.
        sleep: waits between tries.
    """

    def __init__(
        self,
        http: HttpClient,
        breaker: Breaker,
        record: Record,
        *,
        limiter: Limiter | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._breaker = breaker
        self._record = record
        self._limiter = limiter or Limiter()
        self._sleep = sleep

    async def call(
        self,
        loaded: Loaded,
        action: str,
        parameters: Mapping[str, Any],
        *,
        by: Principal,
        access: Access | None = None,
        options: Options | None = None,
    ) -> ConnectorResult:
        """Call an action and give its answer.

        Raises:
            NodeError: `unknown_action`, `bad_parameter`, `no_base_url`, `circuit_open`, `rate_limit`, `http_<status>`,
                and those of the HTTP client.
        """
        access, options = access or Access(), options or Options()
        found = find_action(loaded.connector, action)
        given = with_defaults(found, parameters)
        check_arguments(found, loaded.parameters(found), given)
        started, tries = time.perf_counter(), _Tries()
        error: str | None = None
        try:
            request = await self._request(loaded.connector, found, given, access, options)
            tries.url = request.url.partition("?")[0]
            result = await self._answer(loaded, found, request, options, tries)
            return await _cut(result, found, options, access.secrets)
        except NodeError as failure:
            error = failure.kind
            _mask(failure, access.secrets)
            raise
        except BaseException as failure:
            error = "cancelled" if isinstance(failure, asyncio.CancelledError) else "internal"
            raise
        finally:
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            made = CallRecord(
                connector=loaded.connector.name, connector_id=loaded.id, org_id=loaded.org_id, action=found.name, method=found.method,
                url=tries.url, status=tries.status, error=error, attempts=tries.sent, elapsed_ms=elapsed,
            )  # fmt: skip
            await self._record(by, made)

    async def _request(
        self, connector: Connector, action: Action, given: Mapping[str, Any], access: Access, options: Options
    ) -> HttpRequest:
        async def load(ref: str) -> bytes:
            return await _files(options).load(ref)

        request = await build_request(connector, action, given, load)
        headers = _pairs(request)
        if action.authenticate:
            named = {name.lower() for name, _ in access.headers}
            headers = [pair for pair in headers if pair[0].lower() not in named] + list(access.headers)
        repeatable = action.repeatable or any(name.lower() == _KEY for name, _ in headers)
        if options.key and action.method not in READING and not any(n.lower() == _KEY for n, _ in headers):
            headers.append(("Idempotency-Key", options.key))
        auth = access.auth if action.authenticate else None
        return replace(request, headers=headers, auth=auth, repeatable=repeatable)

    async def _answer(
        self, loaded: Loaded, action: Action, request: HttpRequest, options: Options, tries: _Tries
    ) -> ConnectorResult:
        started = time.perf_counter()

        def save() -> Save:
            return _files(options).save

        async def fetch(wanted: HttpRequest, index: int) -> tuple[HttpResponse, Any]:
            del index
            response = await self._send(loaded, wanted, tries)
            return response, await read_body(response, "auto", save, method=action.method)

        paging = _paging(loaded.connector, action, options)
        if paging is None:
            response, body = await fetch(request, 0)
            if action.extract is not None:
                body = search(action.extract, body)
            found = Collected(pages=1, last=response)
        else:
            found = await self._pages(request, paging, fetch)
            assert found.last is not None
            response, body = found.last, found.items
        return ConnectorResult(
            status_code=response.status, headers=response.headers(), body=body, url=response.url,
            elapsed_ms=round((time.perf_counter() - started) * 1000, 3), pages=found.pages, has_more=found.has_more,
        )  # fmt: skip

    async def _pages(
        self,
        request: HttpRequest,
        paging: AnyPaging,
        fetch: Callable[[HttpRequest, int], Awaitable[tuple[HttpResponse, Any]]],
    ) -> Collected:
        def until(page: Page) -> bool:
            assert paging.until is not None
            seen = {
                "body": page.body, "items": page.items, "status_code": page.response.status,
                "headers": page.response.headers(),
            }  # fmt: skip
            return bool(compile_expression(paging.until).evaluate(_PageNames(seen, page.index)))

        limits = replace(paging.limits(), retries=0, max_bytes=self._http.max_body)
        return await collect(
            request, paging.rule(), fetch, items_path=paging.items, limits=limits,
            until=None if paging.until is None else until, sleep=self._sleep,
        )  # fmt: skip

    async def _send(self, loaded: Loaded, request: HttpRequest, tries: _Tries) -> HttpResponse:
        """Send, and try again where that does no harm."""
        connector, retried = loaded.connector, 0
        while True:
            try:
                return await self._try(loaded, request, tries)
            except NodeError as error:
                pause = min(connector.retry.delay * 2**retried, connector.retry.max_delay)
                pause *= random.uniform(0.75, 1.0)  # noqa: S311 - spreads load, guards nothing
                if error.retry_after is not None:
                    pause = error.retry_after
                if (
                    retried >= connector.retry.max
                    or pause > connector.retry.max_delay
                    or not _may_repeat(error, request)
                ):
                    if request.is_repeatable:
                        error.outcome_known = True  # whatever became of it, a repetition does no harm
                    raise
            retried += 1
            await self._sleep(pause)

    async def _try(self, loaded: Loaded, request: HttpRequest, tries: _Tries) -> HttpResponse:
        connector = loaded.connector
        async with self._breaker.guarded(loaded.id, connector.name, connector.breaker) as outcome:
            if connector.rate_limit is not None:
                await self._limiter.take(loaded.id, connector.rate_limit, connector.timeout)
            tries.sent += 1
            tries.status = None
            response = await self._http.send(request)
            outcome.status = tries.status = response.status
        check_status(response, request.method)
        return response


class _PageNames:
    """What `until` reads. Implements `Names`."""

    def __init__(self, page: dict[str, Any], index: int) -> None:
        self._names: dict[str, Any] = {"item": page, "index": index}

    def lookup(self, root: str) -> object:
        """`item` or `index`."""
        return self._names[root]


def _may_repeat(error: NodeError, request: HttpRequest) -> bool:
    if not error.retryable or error.kind == "circuit_open":
        return False
    return (
        request.is_repeatable
        or error.kind == _TOO_MANY
        or (error.kind == "connection" and error.outcome_known)
    )


def _paging(connector: Connector, action: Action, options: Options) -> AnyPaging | None:
    if options.paginate is False:
        return None
    if options.paginate is not True:
        return options.paginate
    known = action.pagination or connector.pagination
    if known is None:
        raise NodeError(
            f"action {action.name!r} does not say how its pages follow each other; set `paginate` to a rule.",
            kind="pagination", retryable=False,
        )  # fmt: skip
    return known


async def _cut(
    result: ConnectorResult, action: Action, options: Options, secrets: Secrets
) -> ConnectorResult:
    if options.most_characters is None:
        return result
    # Before it is cut: in the file nobody would look for them any more, nor for half of one.
    result = replace(result, body=secrets.redact(result.body))
    text = result.body if isinstance(result.body, str) else json.dumps(result.body, ensure_ascii=False)
    most = options.most_characters
    if len(text) <= most:
        return result
    kind, end = ("text/plain", "txt") if isinstance(result.body, str) else ("application/json", "json")
    whole = await _files(options).save(text.encode(), name=f"{action.name}.{end}", media_type=kind)
    shown = f"{text[:most]}… [{len(text) - most:,} of {len(text):,} characters left out]"
    return replace(result, body=shown, truncated=True, ref=whole.ref)


def _files(options: Options) -> Files:
    if options.files is None:
        raise NodeError("there is no place for files here.", kind="bad_response", retryable=False)
    return options.files


def _pairs(request: HttpRequest) -> list[tuple[str, str]]:
    return list(request.headers.items() if isinstance(request.headers, Mapping) else request.headers)


def _mask(error: NodeError, secrets: Secrets) -> None:
    """Take secrets that the other side echoed out of an error text."""
    error.message = secrets.redact(error.message)
    error.args = tuple(map(secrets.redact, error.args))
