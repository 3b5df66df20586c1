"""The tie to Prefect: its server when embedded, the mirror of runs, and the host of our work pool.

Nothing here delays or fails a run: Prefect may start late, be slow or be away, the journal is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from interlace.flows.platform import Platform
from interlace.flows.prefect.connection import PrefectConnection, PrefectError
from interlace.flows.prefect.host import Host
from interlace.flows.prefect.mirror import Mirror, MirrorRates
from interlace.flows.prefect.server import EmbeddedPrefect
from interlace.flows.shown import ShownRuns
from interlace.flows.hosted import HostedRuns

log = structlog.get_logger("interlace.prefect")


class PrefectLink:
    """Starts and ends everything of Prefect that one serving process needs."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._embedded: EmbeddedPrefect | None = None
        self._mirror: Mirror | None = None
        self._host: Host | None = None
        self._connection: PrefectConnection | None = None
        self._ready = asyncio.Event()
        self._failure: str | None = None

    @classmethod
    def of(cls, platform: Platform) -> PrefectLink | None:
        """The link that the settings ask for; None when Prefect is off."""
        return None if platform.settings.prefect == "off" else cls(platform)

    @property
    def ui_url(self) -> str:
        """Prefect's pages; empty until they are there."""
        return self._connection.ui_url if self._connection is not None else ""

    def flow_run_url(self, flow_run_id: str) -> str:
        """Prefect's page of one flow run."""
        return f"{self.ui_url}/runs/flow-run/{flow_run_id}"

    def state(self) -> dict[str, Any]:
        """For health: whether Prefect is there."""
        return {
            "mode": self._platform.settings.prefect,
            "ready": self._ready.is_set(),
            "ui": self.ui_url or None,
            "failure": self._failure,
        }

    async def start(self) -> None:
        """Bring Prefect up; to be run as a task, runs do not wait for it."""
        try:
            self._connection = await self._connect()
        except PrefectError as error:
            self._failure = str(error)
            log.error("Prefect did not start; runs go on without it", error=str(error))
            return
        settings = self._platform.settings
        self._mirror = Mirror(
            self._connection,
            ShownRuns(self._platform, nodes=settings.prefect_nodes, logs=settings.prefect_logs),
            pool=settings.prefect_pool,
            rates=MirrorRates(full_per_minute=settings.prefect_detail_rate),
            interval=settings.prefect_lag,
        )
        await self._mirror.start()
        self._host = Host(self._connection, settings.prefect_pool, HostedRuns(self._platform), limit=settings.max_runs)
        await self._host.start()
        self._platform.runner.ended.append(self._poke)
        with contextlib.suppress(PrefectError):
            await self._host.ready()
        self._ready.set()
        log.info("Prefect is ready", ui=self.ui_url)

    async def _connect(self) -> PrefectConnection:
        settings = self._platform.settings
        home = settings.home.resolve()
        if settings.prefect == "external":
            if settings.prefect_api_url is None:
                raise PrefectError("INTERLACE_PREFECT=external needs INTERLACE_PREFECT_API_URL.")
            auth = None if settings.prefect_auth is None else settings.prefect_auth.get_secret_value()
            return PrefectConnection(api_url=settings.prefect_api_url, home=home, api_auth=auth)
        self._embedded = EmbeddedPrefect(home)
        await self._embedded.start()
        return self._embedded.connection

    async def _poke(self, _run_id: str, _result: object) -> None:
        if self._mirror is not None:
            self._mirror.poke()

    async def ready(self, seconds: float = 120.0) -> bool:
        """Wait until Prefect is there; whether it is."""
        try:
            await asyncio.wait_for(self._ready.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def flush(self) -> int:
        """Show every finished run in Prefect now; how many were missing."""
        return await self._mirror.flush() if self._mirror is not None else 0

    async def submit(
        self, workflow_id: str, name: str, run_id: str, inputs: Mapping[str, Any], schema: Mapping[str, Any],
        tags: Sequence[str] = (),
    ) -> str:  # fmt: skip
        """Hand a queued run to the work pool; gives the flow run's id.

        Raises:
            PrefectError: Prefect is not there; the run stays queued and is taken up without it.
        """
        if self._host is None:
            raise PrefectError(self._failure or "Prefect is not ready yet.")
        await self._host.ensure_deployment(workflow_id, name, schema)
        return await self._host.submit(workflow_id, run_id, inputs, tags)

    async def stop(self) -> None:
        """Let go of Prefect; the embedded server ends."""
        if self._host is not None:
            await self._host.stop(grace=1.0)
        if self._mirror is not None:
            await self._mirror.stop()
        if self._embedded is not None:
            await self._embedded.stop()
