"""Metrics and traces of one process, as its settings say."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIServer

from interlace.flows.platform import Platform

if TYPE_CHECKING:
    from interlace.flows.telemetry.metrics import Metrics
    from interlace.flows.telemetry.traces import Traces


class Telemetry:
    """What this process tells of its work; made by `of`."""

    def __init__(self, metrics: Metrics | None, traces: Traces | None) -> None:
        self.metrics = metrics
        self.traces = traces
        self._server: WSGIServer | None = None

    @classmethod
    def of(cls, platform: Platform) -> Telemetry:
        """What the settings of a platform ask for. Libraries are loaded only then."""
        metrics: Metrics | None = None
        traces: Traces | None = None
        if platform.settings.metrics != "off":
            from interlace.flows.telemetry.metrics import Metrics  # noqa: PLC0415 - only where they are read

            metrics = Metrics(platform)
        endpoint = platform.settings.otlp_endpoint
        if endpoint is not None:
            from interlace.flows.telemetry.traces import Traces  # noqa: PLC0415 - only where they are sent

            traces = Traces(platform, endpoint)
        return cls(metrics, traces)

    def offer(self, port: int | None) -> None:
        """Offer the numbers of this process at a port of loopback, for one that serves nothing else."""
        if port is None or self.metrics is None:
            return
        from prometheus_client import start_http_server  # noqa: PLC0415 - see above

        server, _ = start_http_server(port, addr="127.0.0.1", registry=self.metrics.registry)
        self._server = server

    async def close(self) -> None:
        """Send what is left."""
        if self._server is not None:
            await asyncio.to_thread(self._server.shutdown)
            self._server.server_close()
        if self.traces is not None:
            await self.traces.close()
