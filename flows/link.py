"""The tie to Prefect: its server when embedded, the mirror of runs, and the host of our work pool.

Nothing here delays or fails a run: Prefect may start late, be slow or be away, the journal is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from interlace.flows.handing import HandOver
from interlace.flows.hosted import HostedRuns
from interlace.flows.platform import Platform
from interlace.flows.prefect.connection import PrefectApi, PrefectConnection, PrefectError
from interlace.flows.prefect.host import Host
from interlace.flows.prefect.mirror import Mirror, MirrorRates
from interlace.flows.prefect.server import EmbeddedPrefect
from interlace.flows.prefect.settings import auth_file, own_auth
from interlace.flows.presence import host_name
from interlace.flows.reconciler import Reconciler
from interlace.flows.shown import ShownRuns, deployment_of, is_hosted
from interlace.store.run_row import Run

_HAND_OVER_SECONDS = 5.0
_RESUME_SECONDS = 20.0
"""How long Prefect may take to go on with a suspended run before that happens without it."""
_AGAIN_SECONDS, _LONGEST_SECONDS = 2.0, 60.0
"""Between two tries to start the embedded server: the first pause, and the longest."""

log = structlog.get_logger("interlace.prefect")


class PrefectLink:
    """Starts and ends everything of Prefect that one serving process needs."""

    def __init__(self, platform: Platform, *, announced: bool = False) -> None:
        self._platform = platform
        self._announced = announced
        self._embedded: EmbeddedPrefect | None = None
        self._mirror: Mirror | None = None
        self._host: Host | None = None
        self._hosts: dict[str, Host] = {}
        """Hosts of pools beside the default one; those of pools that are served elsewhere only hand runs over."""
        self._api: PrefectApi | None = None
        self._connection: PrefectConnection | None = None
        self.reconciler: Reconciler | None = None
        self._reconciler: asyncio.Task[None] | None = None
        self._asked: dict[str, float] = {}
        """When the host was first asked to go on with a suspended run, by run."""
        self.handing = HandOver(self)
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
    def is_shared(self) -> bool:
        """Whether starts go to other hosts through Prefect: it is there, and not only this process's own."""
        return self._platform.settings.prefect == "external" and self._ready.is_set()

    def _now(self) -> float:
        return self._platform.runner.clock.now()

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
        pause = _AGAIN_SECONDS
        while (connection := await self._try_to_connect()) is None:
            if self._embedded is None:
                return  # the settings are wrong, which time does not change
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_SECONDS)
        await self._platform.guard(connection.api_url)
        self._connection = connection
        await self._serve(connection)
        self._ready.set()
        (log.debug if self._announced else log.info)("Prefect is ready", ui=self.ui_url)

    async def _try_to_connect(self) -> PrefectConnection | None:
        """The connection; None when it failed, as when the embedded server was killed while it started."""
        try:
            connection = await self._connect()
        except PrefectError as error:
            self._failure = str(error)
            log.warning("Prefect did not start; runs go on without it", error=str(error))
            return None
        self._failure = None
        return connection

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
        self._host = self._host_of(None)
        for pool in sorted(self._platform.served.pools):
            host = self._host_of(pool)
            await host.start()
            with contextlib.suppress(PrefectError):
                await host.ready()
        self._api = PrefectApi(connection)
        self.reconciler = Reconciler(self._platform, self._api, self._all_hosts)
        self._reconciler = asyncio.create_task(self.reconciler.run(), name="prefect-reconciler")

    def _host_of(self, pool: str | None) -> Host:
        """The host of a pool, made when it is asked for first."""
        settings, name = self._platform.settings, self._platform.served.name(pool)
        if self._host is not None and name == self._host.pool:
            return self._host
        host = self._hosts.get(name)
        if host is None:
            assert self._connection is not None, "set before anything is hosted"
            host = Host(
                self._connection, name, HostedRuns(self._platform), limit=settings.max_runs,
                name=f"{host_name(self._platform)}-{name}",
            )  # fmt: skip
            if name != settings.prefect_pool:
                self._hosts[name] = host
        return host

    def _all_hosts(self) -> list[Host]:
        return [*([] if self._host is None else [self._host]), *self._hosts.values()]

    async def _resume(self, run: Run) -> bool:
        """Let the host go on with a suspended run of the pool; False where that is not for Prefect, or it does not."""
        if not is_hosted(run, self._now()) or run.flow_run_id is None or self._host is None:
            return False
        asked = self._asked.get(run.id)
        if asked is not None:
            return time.monotonic() - asked < _RESUME_SECONDS
        self._asked[run.id] = time.monotonic()
        try:
            await self._host_of(run.pool).resume(run.flow_run_id)
        except PrefectError as error:
            log.info("a suspended run goes on without Prefect", run=run.id, error=str(error))
            return False
        return True

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
        host = self._host_of(run.pool)
        await host.ensure_deployment(deployment, run.name, schema)
        flow_run_id = await host.submit(deployment, run.id, full.inputs, run.tags)
        await runs.linked([(run.id, flow_run_id)])
        return flow_run_id

    async def submit_all(self, waiting: Sequence[Run], schema: Mapping[str, Any]) -> None:
        """Hand queued runs of one workflow and pool to Prefect together.

        Raises:
            PrefectError: Prefect is not there; nothing was handed over.
        """
        if self._host is None or not self._ready.is_set():
            raise PrefectError(self._failure or "Prefect is not ready yet.")
        runs, deployment = self._platform.store.runs, deployment_of(waiting[0])
        host = self._host_of(waiting[0].pool)
        await host.ensure_deployment(deployment, waiting[0].name, schema)
        inputs = [(run.id, (await runs.resolve(run)).inputs, run.tags) for run in waiting]
        placed = await host.submit_all(deployment, inputs)
        await runs.linked(placed.items())

    async def stop(self) -> None:
        """Let go of Prefect; the embedded server ends, also when something before it fails."""
        await self.handing.finish(_HAND_OVER_SECONDS)
        async with contextlib.AsyncExitStack() as last_first:
            if self._embedded is not None:
                last_first.push_async_callback(self._embedded.stop)
            if self._mirror is not None:
                last_first.push_async_callback(self._mirror.stop)
            if self._api is not None:
                last_first.push_async_callback(self._api.close)
            for host in self._all_hosts():
                last_first.push_async_callback(host.stop, grace=1.0)
            if self._reconciler is not None:
                self._reconciler.cancel()
                await asyncio.wait([self._reconciler])
