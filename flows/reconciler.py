"""Brings Prefect's picture and the journals together: after crashes, and after Prefect lost or forgot something.

The journal is right. A mark in Prefect, a variable with the time at which it was written last, shows whether Prefect's
database is still the one that was told everything: where the mark is missing or older than we remember, everything
since then is told again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.platform import Platform
from interlace.flows.prefect.connection import PrefectApi, PrefectRefused
from interlace.flows.prefect.deployments import plain_name
from interlace.flows.prefect.host import Host
from interlace.flows.prefect.outcome import Outcome
from interlace.flows.shown import is_hosted
from interlace.store.run_row import FINAL, Run

_SECONDS = 20.0
_SLACK_SECONDS = 120.0
_REMEMBERED_SECONDS = 30 * 86_400.0
"""Prefect forgets runs after so long."""
_NOT_FOUND = 404
# What Prefect says to a flow run that it cannot show: the next round would hear the same.
_HOPELESS = frozenset({400, 409, 413, 422})
_MARK = "prefect_mark"

log = structlog.get_logger("interlace.prefect")


class Reconciler:
    """Compares again and again.

    Args:
        platform: our runs.
        api: Prefect's API; None compares no mark and shows no limits.
        hosts: gives the hosts of this process.
    """

    def __init__(
        self, platform: Platform, api: PrefectApi | None, hosts: Callable[[], Iterable[Host]]
    ) -> None:
        self._platform = platform
        self._api = api
        self._hosts = hosts
        self._limits: dict[str, tuple[int, int]] = {}
        self._away = True
        """Whether Prefect was out of sight: what was shown just before may be gone though the mark is there."""

    async def run(self) -> None:
        """Compare until cancelled."""
        while True:
            try:
                await self.compare()
            except InterlaceError as error:
                self._away = True
                log.info("Prefect's picture could not be compared now", error=str(error))
            except Exception:
                log.exception("comparing with Prefect failed")
            await asyncio.sleep(_SECONDS)

    async def compare(self) -> None:
        """Compare once.

        Raises:
            PrefectError: Prefect does not answer; the next time finds what is left.
        """
        if self._api is not None:
            await self._check_mark(self._api)
        after = ""
        while page := await self._platform.store.runs.to_mirror(after=after):
            for run in page:
                await self._settle(run)
            after = page[-1].id
        for host in self._hosts():
            await host.sweep()
        if self._api is not None:
            await self._show_limits(self._api)
            await self._delete_gone(self._api)

    async def _settle(self, run: Run) -> None:
        """Show the end of a run of the pool that ended outside the pool."""
        hosts = list(self._hosts())
        runs = self._platform.store.runs
        if (
            not is_hosted(run, self._platform.runner.clock.now())
            or run.flow_run_id is None
            or run.status not in FINAL
            or not hosts
            or any(run.flow_run_id in host.active for host in hosts)
        ):
            return
        message = (run.error or {}).get("message")
        try:
            await hosts[0].settle(run.flow_run_id, Outcome(state=run.status, message=message))  # type: ignore[arg-type]
        except PrefectRefused as refusal:
            if refusal.status == _NOT_FOUND:
                await runs.forget_flow_run(run.id)  # the mirror shows it as any other
                return
            log.warning("the end of a run cannot be shown in Prefect", run=run.id, error=str(refusal))
            if refusal.status not in _HOPELESS:
                return
        await runs.mirrored([(run.id, run.status, None)])

    async def _delete_gone(self, api: PrefectApi) -> None:
        """Delete the flow runs of runs that were deleted."""
        removal = self._platform.store.runs.removal
        for flow_run_id in await removal.gone_flow_runs():
            try:
                await api.request("DELETE", f"/flow_runs/{flow_run_id}")
            except PrefectRefused as refusal:
                if refusal.status != _NOT_FOUND:
                    log.warning(
                        "a flow run was not deleted in Prefect", flow_run=flow_run_id, error=str(refusal)
                    )
                    continue
            await removal.forget_gone([flow_run_id])

    async def _check_mark(self, api: PrefectApi) -> None:
        store, now = self._platform.store, self._platform.runner.clock.now()
        name = f"interlace_{await self._identity()}"
        found = await api.find(f"/variables/name/{name}")
        there = float(found["value"]) if found is not None else None
        ours = await store.settings.get(_MARK)
        if ours is not None and (self._away or there is None or there < ours - 1.0):
            since = there - _SLACK_SECONDS if there is not None else now - _REMEMBERED_SECONDS
            count = await store.runs.tell_again(since)
            await self._forget_lost(api)
            if count:
                log.info(
                    "runs are shown in Prefect again, it was away or its database is another or older one",
                    runs=count,
                    since=since,
                )
        if found is None:
            await api.post("/variables/", {"name": name, "value": now, "tags": ["interlace"]})
        else:
            await api.request("PATCH", f"/variables/name/{name}", {"value": max(now, there or 0.0)})
        await store.settings.set(_MARK, max(now, there or 0.0))
        self._away = False

    async def _forget_lost(self, api: PrefectApi) -> None:
        """Let go of the flow runs that Prefect has lost: their runs are started, and shown, as those without."""
        runs, after = self._platform.store.runs, ""
        while page := await runs.live_in_prefect(after=after):
            after = page[-1].id
            asked = [run.flow_run_id for run in page]
            wanted = {"flow_runs": {"id": {"any_": asked}}, "limit": len(asked)}
            there = {flow_run["id"] for flow_run in await api.post("/flow_runs/filter", wanted)}
            for run in page:
                if run.flow_run_id not in there:
                    await runs.forget_flow_run(run.id)

    async def _identity(self) -> str:
        """Which of the installations that share a Prefect server this is."""
        key = await self._platform.store.settings.setdefault("callback_key", "")
        return str(await self._platform.store.settings.setdefault("prefect_identity", _digest(key)))

    async def _show_limits(self, api: PrefectApi) -> None:
        """Show the limits of workflows, and how many runs hold a slot, as Prefect's global concurrency limits."""
        present: dict[str, tuple[int, int]] = {}
        for key, name, limit, held in await self._platform.store.runs.slots():
            present[plain_name(f"interlace {name} {key[-8:]}")] = (limit, held)
        for shown, (limit, _) in self._limits.items():
            present.setdefault(shown, (limit, 0))
        for shown, (limit, held) in present.items():
            if self._limits.get(shown) != (limit, held):
                await _show_limit(api, shown, limit, held)
        self._limits = present


async def _show_limit(api: PrefectApi, name: str, limit: int, held: int) -> None:
    body: dict[str, Any] = {"limit": limit, "active_slots": held}
    found = await api.find(f"/v2/concurrency_limits/{quote(name, safe='')}")
    if found is None:
        await api.post("/v2/concurrency_limits/", {"name": name, **body})
    else:
        await api.request("PATCH", f"/v2/concurrency_limits/{found['id']}", body)


def _digest(text: Any) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()[:12]
