"""Numbers for Prometheus, of this process and of the database that it shares."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric

import interlace
from interlace.engine.errors import StoreError
from interlace.engine.node import RunInfo
from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.resources.models.catalogue import Target
from interlace.store.run_row import FINAL
from interlace.store.usage import ModelCall

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MOST_SERIES: Final = 100
"""Names that people choose, such as those of models, are told apart up to this number; the rest is `other`."""
OTHER: Final = "other"
_KEPT_SECONDS: Final = 5.0
"""How old numbers of the database may be: whoever scrapes often must not cost more."""
_NODE_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
_HTTP_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_MODEL_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)
_RUN_SECONDS = (0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1800, 7200, 86_400)

log = structlog.get_logger("interlace.metrics")


class Metrics:
    """What this process counts, and what it reads from the database when it is asked.

    Labels hold types, statuses, routes and names of models and pools: never ids, users or values.
    """

    content_type = CONTENT_TYPE

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=self.registry)
        self._names: dict[str, set[str]] = {}
        self._read: tuple[float, list[Metric]] = (0.0, [])
        self._runs_ended = self._counter(
            "interlace_runs_ended", "Turns of runs that ended here.", ["status", "trigger"]
        )
        self._nodes = self._counter("interlace_nodes", "Nodes that ended here.", ["type", "status"])
        self._node_seconds = self._histogram(
            "interlace_node_seconds", "How long successful attempts of nodes took.", ["type"], _NODE_SECONDS
        )
        self._run_seconds = self._histogram(
            "interlace_run_seconds",
            "From the start of a run to its end, waiting included.",
            ["status"],
            _RUN_SECONDS,
        )
        self._fenced = self._counter(
            "interlace_leases_lost", "Runs that another process took over from this one.", []
        )
        self._http = self._histogram(
            "interlace_http_request_seconds", "From a request to the end of its answer.", ["method", "route", "status"],
            _HTTP_SECONDS,
        )  # fmt: skip
        self._calls = self._counter(
            "interlace_model_calls", "Calls of models.", ["provider", "model", "kind", "outcome"]
        )
        self._tokens = self._counter(
            "interlace_model_tokens", "Tokens of models.", ["provider", "model", "direction"]
        )
        self._cost = self._counter(
            "interlace_model_cost", "What models cost.", ["provider", "model", "currency"]
        )
        self._latency = self._histogram(
            "interlace_model_seconds", "How long models took.", ["provider", "model"], _MODEL_SECONDS
        )
        self.registry.register(_Here(platform))
        platform.runner.observers.append(self._ended)
        platform.runner.watcher = self.node_ended
        platform.runner.fenced.append(self._fenced.inc)
        platform.models.ledger.noted.append(self.model_called)

    def _counter(self, name: str, text: str, labels: list[str]) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, labels: list[str], buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, text, labels, buckets=buckets, registry=self.registry)

    def node_ended(self, kind: str, status: str, seconds: float | None) -> None:
        """Count a node of a type; `seconds` of the attempt that succeeded."""
        self._nodes.labels(kind, status).inc()
        if seconds is not None:
            self._node_seconds.labels(kind).observe(seconds)

    def request_ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the pattern of its path."""
        known = method if method in _METHODS else OTHER
        self._http.labels(known, route, f"{status // 100}xx").observe(seconds)

    def model_called(self, target: Target, call: ModelCall) -> None:
        """Count a call of a model."""
        provider, model = self._bounded("provider", target.provider.name), self._bounded("model", call.model)
        self._calls.labels(provider, model, call.kind, call.error or "ok").inc()
        for direction, count in (
            ("input", call.input_tokens),
            ("output", call.output_tokens),
            ("cached", call.cached_tokens),
        ):
            self._tokens.labels(provider, model, direction).inc(count)
        if call.cost_nano:
            self._cost.labels(provider, model, call.currency or "").inc(call.cost_nano / 1e9)
        if call.error is None:
            self._latency.labels(provider, model).observe(call.latency_ms / 1000)

    def _ended(self, info: RunInfo, result: RunResult) -> None:
        kind = str(info.trigger.get("kind", ""))
        self._runs_ended.labels(result.status, kind if kind in _TRIGGERS else OTHER).inc()
        if result.status in FINAL and info.started_at:
            seconds = max(0.0, self._platform.runner.clock.now() - info.started_at)
            self._run_seconds.labels(result.status).observe(seconds)

    def _bounded(self, label: str, name: str) -> str:
        """A name as a label, as long as there are not too many."""
        known = self._names.setdefault(label, set())
        if name in known or len(known) < MOST_SERIES:
            known.add(name)
            return name
        return OTHER

    async def text(self) -> bytes:
        """Everything in Prometheus' text format; what the database says is left out while it does not answer."""
        at, found = self._read
        if time.monotonic() - at > _KEPT_SECONDS:
            try:
                found = [metric async for metric in self._of_the_database()]
            except StoreError as error:
                log.warning("the database could not be asked for its numbers", error=str(error))
                found = []
            self._read = (time.monotonic(), found)
        shared = CollectorRegistry()
        shared.register(_Found(found))
        return generate_latest(self.registry) + generate_latest(shared)

    async def _of_the_database(self) -> AsyncIterator[Metric]:
        store = self._platform.store
        numbers = await store.numbers.read()
        runs = GaugeMetricFamily("interlace_runs", "Unfinished runs of the database.", labels=["status"])
        for status in ("queued", "running", "suspended"):
            runs.add_metric([status], numbers.runs.get(status, 0))
        yield runs
        queue = GaugeMetricFamily(
            "interlace_queue_depth", "Runs that wait for a host of their pool.", labels=["pool"]
        )
        for pool, count in (await store.runs.wanted_pools()).items():
            queue.add_metric([self._bounded("pool", self._platform.served.name(pool))], count)
        yield queue
        yield GaugeMetricFamily(
            "interlace_hosts", "Processes that take runs.", value=len(await store.hosts.living())
        )
        yield GaugeMetricFamily(
            "interlace_leased_runs", "Runs that a process holds a lease of.", value=numbers.leased
        )
        inbox = GaugeMetricFamily(
            "interlace_webhook_deliveries", "Deliveries of webhooks in the inbox.", labels=["status"]
        )
        for status in ("received", "dead"):
            inbox.add_metric([status], numbers.deliveries.get(status, 0))
        yield inbox
        yield GaugeMetricFamily(
            "interlace_webhook_oldest_seconds", "Age of the oldest delivery that has not started its run.",
            value=0 if numbers.oldest_delivery is None else max(0.0, store.database.now() - numbers.oldest_delivery),
        )  # fmt: skip
        yield GaugeMetricFamily(
            "interlace_outgoing_messages",
            "Messages to subscribers that are to be delivered.",
            value=numbers.outgoing,
        )


_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_TRIGGERS: Final = frozenset(
    {"api", "chat", "cron", "event", "manual", "mcp", "openai", "prefect", "sub_workflow", "test", "webhook"}
)


class _Here:
    """What is so at the moment, in this process."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def collect(self) -> Iterator[Metric]:
        """Read it."""
        info = InfoMetricFamily("interlace_build", "What runs here.")
        info.add_metric([], {"version": interlace.__version__})
        yield info
        runner = self._platform.runner
        yield GaugeMetricFamily(
            "interlace_active_runs", "Runs that this process executes.", value=len(runner.active)
        )
        yield GaugeMetricFamily(
            "interlace_active_runs_limit", "Runs that it executes at most.", value=runner.max_runs
        )


class _Found:
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """What was read."""
        return self._metrics
