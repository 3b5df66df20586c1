"""The tie to Prefect: its server when embedded, the mirror of runs, and the host of our work pool.

Nothing here delays or fails a run: Prefect may start late, be slow or be away, the journal is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.hosted import HostedRuns
from interlace.flows.platform import Platform
from interlace.flows.prefect.connection import PrefectConnection, PrefectError, PrefectRefused
from interlace.flows.prefect.host import Host
from interlace.flows.prefect.mirror import Mirror, MirrorRates
from interlace.flows.prefect.outcome import Outcome
from interlace.flows.prefect.server import EmbeddedPrefect
from interlace.flows.prefect.settings import auth_file, own_auth
from interlace.flows.shown import ShownRuns, deployment_of, is_hosted
from interlace.store.run_row import FINAL, Run

_RESUME_SECONDS = 20.0
"""How long Prefect may take to go on with a suspended run before that happens without it."""
_RECONCILE_SECONDS = 20.0
# What Prefect says to a flow run that it has not, or cannot show: the next round would hear the same.
_HOPELESS = frozenset({400, 404, 409, 413, 422})

log = structlog.get_logger("interlace.prefect")


class PrefectLink:
    """Starts and ends everything of Prefect that one serving process needs."""

    def __init__(self, platform: Platform, *, announced: bool = False) -> None:
        self._platform = platform
        self._announced = announced
        self._embedded: EmbeddedPrefect | None = None
        self._mirror: Mirror | None = None
        self._host: Host | None = None
        self._connection: PrefectConnection | None = None
        self._reconciler: asyncio.Task[None] | None = None
        self._asked: dict[str, float] = {}
        """When the host was first asked to go on with a suspended run, by run."""
        self._ready = asyncio.Event()
        self._failure: str | None = None

    @classmethod
    def of(cls, platform: Platform, *, announced: bool = False) -> PrefectLink | None:
        """The link that the settings ask for, None when Prefect is off; `announced` when the caller says that it is there."""
        return None if platform.settings.prefect == "off" else cls(platform, announced=announced)

    @property
    def ui_url(self) -> str:
        """Prefect's pages; empty until they are there."""
        return self._connection.ui_url if self._connection is not None else ""

    @property
    def credentials(self) -> Path | None:
        """The file whose text signs in to the embedded server's pages; None where that server is not ours."""
        return None if self._embedded is None else auth_file(self._platform.settings.home)

    @property
    def connection(self) -> PrefectConnection | None:
        """Where Prefect's API is; None until it is known."""
        return self._connection

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
            connection = await self._connect()
        except PrefectError as error:
            self._failure = str(error)
            log.warning("Prefect did not start; runs go on without it", error=str(error))
            return
        await self._platform.guard(connection.api_url)
        self._connection = connection
        await self._serve(connection)
        self._ready.set()
        (log.debug if self._announced else log.info)("Prefect is ready", ui=self.ui_url)

    async def _connect(self) -> PrefectConnection:
        settings = self._platform.settings
        home = settings.home.resolve()
        if settings.prefect == "external":
            if settings.prefect_api_url is None:
                raise PrefectError("INTERLACE_PREFECT=external needs INTERLACE_PREFECT_API_URL.")
            auth = None if settings.prefect_auth is None else settings.prefect_auth.get_secret_value()
            return PrefectConnection(api_url=settings.prefect_api_url, home=home, api_auth=auth)
        self._embedded = EmbeddedPrefect(home, auth=await asyncio.to_thread(own_auth, home))
        await self._embedded.start()
        return self._embedded.connection

    async def _serve(self, connection: PrefectConnection) -> None:
        settings = self._platform.settings
        self._mirror = Mirror(
            connection,
            ShownRuns(self._platform, nodes=settings.prefect_nodes, logs=settings.prefect_logs),
            pool=settings.prefect_pool,
            rates=MirrorRates(full_per_minute=settings.prefect_detail_rate),
            interval=settings.prefect_lag,
        )
        await self._mirror.start()
        self._platform.runner.ended.append(self._poke)
        self._platform.waits.elsewhere = self._resume
        self._host = Host(
            connection, settings.prefect_pool, HostedRuns(self._platform), limit=settings.max_runs
        )
        await self._host.start()
        with contextlib.suppress(PrefectError):
            await self._host.ready()
        self._reconciler = asyncio.create_task(self._reconcile(self._host), name="prefect-reconciler")

    async def _resume(self, run: Run) -> bool:
        """Let the host go on with a suspended run of the pool; False where that is not for Prefect, or it does not."""
        if not is_hosted(run) or run.flow_run_id is None or self._host is None:
            return False
        asked = self._asked.get(run.id)
        if asked is not None:
            return time.monotonic() - asked < _RESUME_SECONDS
        self._asked[run.id] = time.monotonic()
        try:
            await self._host.resume(run.flow_run_id)
        except PrefectError as error:
            log.info("a suspended run goes on without Prefect", run=run.id, error=str(error))
            return False
        return True

    async def _reconcile(self, host: Host) -> None:
        """Bring Prefect's picture of the pool's runs and the journals together: after crashes they differ."""
        while True:
            try:
                await self._compare(host)
            except InterlaceError as error:
                log.info("Prefect's picture could not be compared now", error=str(error))
            except Exception:
                log.exception("comparing with Prefect failed")
            await asyncio.sleep(_RECONCILE_SECONDS)

    async def _compare(self, host: Host) -> None:
        after = ""
        while page := await self._platform.store.runs.to_mirror(after=after):
            for run in page:
                await self._settle(host, run)
            after = page[-1].id
        await host.sweep()

    async def _settle(self, host: Host, run: Run) -> None:
        """Show the end of a run of the pool that ended outside the pool."""
        if (
            not is_hosted(run)
            or run.flow_run_id is None
            or run.status not in FINAL
            or run.flow_run_id in host.active
        ):
            return
        message = (run.error or {}).get("message")
        try:
            await host.settle(run.flow_run_id, Outcome(state=run.status, message=message))  # type: ignore[arg-type]
        except PrefectRefused as refusal:
            log.warning("the end of a run cannot be shown in Prefect", run=run.id, error=str(refusal))
            if refusal.status not in _HOPELESS:
                return
        await self._platform.store.runs.mirrored([(run.id, run.status, None)])

    async def _poke(self, run_id: str, _result: object) -> None:
        self._asked.pop(run_id, None)
        if self._mirror is not None:
            self._mirror.poke()

    async def ready(self, seconds: float = 120.0) -> bool:
        """Wait until Prefect is there; whether it is."""
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            return False
        return True

    async def flush(self) -> int:
        """Show every finished run in Prefect now; how many were missing."""
        return await self._mirror.flush() if self._mirror is not None else 0

    async def submit(self, run: Run, schema: Mapping[str, Any]) -> str:
        """Hand a queued run to the work pool; gives the flow run's id.

        Raises:
            PrefectError: Prefect is not there; nothing was handed over.
        """
        if self._host is None or not self._ready.is_set():
            raise PrefectError(self._failure or "Prefect is not ready yet.")
        runs, deployment = self._platform.store.runs, deployment_of(run)
        full = await runs.resolve(run)
        await self._host.ensure_deployment(deployment, run.name, schema)
        flow_run_id = await self._host.submit(deployment, run.id, full.inputs, run.tags)
        await runs.mirrored([(run.id, (await runs.get(run.id)).status, flow_run_id)])
        return flow_run_id

    async def stop(self) -> None:
        """Let go of Prefect; the embedded server ends, also when something before it fails."""
        async with contextlib.AsyncExitStack() as last_first:
            if self._embedded is not None:
                last_first.push_async_callback(self._embedded.stop)
            if self._mirror is not None:
                last_first.push_async_callback(self._mirror.stop)
            if self._host is not None:
                last_first.push_async_callback(self._host.stop, grace=1.0)
            if self._reconciler is not None:
                self._reconciler.cancel()
                await asyncio.wait([self._reconciler])
