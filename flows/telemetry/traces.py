"""Traces for OpenTelemetry: spans of runs and requests, sent to an OTLP endpoint in the background."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

import interlace
from interlace.engine.errors import InterlaceError
from interlace.engine.origin import Trace, trace_of
from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.flows.telemetry.spans import MOST_NODES, SCOPE, RunSpans
from interlace.store.run_row import FINAL

_AT_ONCE: Final = 4
_CLOSE_SECONDS: Final = 5.0
_CHUNK: Final = 1000
_SERVER_ERROR: Final = 500

log = structlog.get_logger("interlace.traces")


class Traces:
    """Sends spans. An endpoint that does not answer costs nothing but the spans."""

    def __init__(self, platform: Platform, endpoint: str) -> None:
        settings = platform.settings
        self._platform = platform
        self._content = settings.otlp_content
        self._ratio = settings.otlp_ratio
        self._resource = Resource.create(
            {
                "service.name": settings.otlp_service, "service.version": interlace.__version__,
                "service.instance.id": platform.runner.owner, "host.name": socket.gethostname(),
                "deployment.environment.name": settings.environment,
            }
        )  # fmt: skip
        exporter = OTLPSpanExporter(endpoint=_spans_at(endpoint), headers=_headers(settings), timeout=10)
        self._processor = BatchSpanProcessor(exporter, schedule_delay_millis=1000)
        self._slots = asyncio.Semaphore(_AT_ONCE)
        platform.runner.traced = True
        platform.runner.ended.append(self._ended)

    async def _ended(self, run_id: str, result: RunResult) -> None:
        """Send a run that has ended; one that is suspended is sent when it has."""
        if result.status not in FINAL:
            return
        try:
            async with self._slots:
                await self._send(run_id)
        except InterlaceError as error:
            log.warning("a run could not be traced", run=run_id, error=str(error))

    async def _send(self, run_id: str) -> None:
        store = self._platform.store
        run = await store.runs.resolve(await store.runs.get(run_id))
        trace = trace_of(run.id, run.trigger.get("traceparent"))
        if not self.is_sampled(trace):
            return
        document = await self._platform.documents.read(run.document_hash)
        found, last = RunSpans(run, document, trace, self._resource, content=self._content), 0
        while batch := await store.events.read(run_id, last, _CHUNK):
            found.add(batch)
            last = batch[-1].seq
        for span in found.spans(await store.usage.calls_of(run_id, limit=MOST_NODES)):
            self._processor.on_end(span)

    def is_sampled(self, trace: Trace) -> bool:
        """Whether a trace is sent: as its beginning elsewhere says, and of the rest the share that the settings say."""
        return trace.sampled and int(trace.trace_id[-14:], 16) < self._ratio * 16**14

    def request(
        self,
        name: str,
        here: Trace,
        parent: str,
        *,
        began: int,
        ended: int,
        status: int,
        attributes: dict[str, str],
    ) -> None:
        """Send a request that was answered; times in Unix nanoseconds."""
        if not self.is_sampled(here):
            return

        def context(span: str) -> SpanContext:
            flags = TraceFlags(TraceFlags.SAMPLED)
            return SpanContext(
                int(here.trace_id, 16), int(span, 16), is_remote=bool(parent), trace_flags=flags
            )

        failed = status >= _SERVER_ERROR
        self._processor.on_end(
            ReadableSpan(
                name=name, context=context(here.span_id), parent=context(parent) if parent else None,
                resource=self._resource, attributes={**attributes, "http.response.status_code": status},
                kind=SpanKind.SERVER, status=Status(StatusCode.ERROR if failed else StatusCode.UNSET), start_time=began,
                end_time=ended, instrumentation_scope=SCOPE,
            )
        )  # fmt: skip

    async def close(self) -> None:
        """Send what is left, for some seconds."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.to_thread(self._processor.shutdown)
        except TimeoutError:
            log.warning("spans that could not be sent were given up")


def _spans_at(given: str) -> str:
    """A collector's address gets the path that OTLP has for spans."""
    return given if given.rstrip("/").endswith("/v1/traces") else f"{given.rstrip('/')}/v1/traces"


def _headers(settings: Settings) -> dict[str, str] | None:
    if settings.otlp_headers is None:
        return None
    pairs = (
        part.partition("=") for part in settings.otlp_headers.get_secret_value().split(",") if "=" in part
    )
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
