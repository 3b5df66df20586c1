"""Runs handed to Prefect's work pool; where Prefect is not there they start in this process instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.request import POOL, Request

if TYPE_CHECKING:
    from interlace.flows.documents import Pinned
    from interlace.flows.link import PrefectLink
    from interlace.flows.platform import Platform

log = structlog.get_logger("interlace.prefect")


async def start_queued(
    platform: Platform, link: PrefectLink | None, pinned: Pinned, request: Request
) -> Placed:
    """Start a run that nobody waits for: with other hosts beside this one, any of them may take it.

    With an external Prefect it goes through the work pool, handed over when the run is durable and its id is known;
    without, the hosts find it in the database. A process without others starts it at once.

    Raises:
        InvalidDocument: the inputs do not fit; nothing was created.
    """
    through_prefect = link is not None and link.is_shared
    runner = platform.runner
    if not through_prefect and not runner.shared:
        return Placed(run_id=await runner.start(pinned, request), via="direct")
    if not through_prefect:
        run_id, _ = await runner.create(pinned, request)
        return Placed(run_id=run_id, via="queue")
    run_id, created = await runner.create(pinned, replace(request, trigger={**request.trigger, **POOL}))
    if created and link is not None:
        link.handing.give(await platform.store.runs.get(run_id), pinned.document.inputs)
    return Placed(run_id=run_id, via="pool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a run went: Prefect's `pool`, the `queue` of all hosts, or `direct`, with the reason why not to the pool."""

    run_id: str
    via: str
    flow_run_id: str | None = None
    reason: str | None = None


async def start_in_pool(
    platform: Platform, link: PrefectLink | None, pinned: Pinned, request: Request
) -> Placed:
    """Create a run durably and hand it to the work pool.

    Raises:
        InvalidDocument: the inputs do not fit; nothing was created.
    """
    asked = replace(request, trigger={**request.trigger, **POOL})
    run_id, created = await platform.runner.create(pinned, asked)
    run = await platform.store.runs.get(run_id)
    if not created:
        return Placed(run_id=run_id, via="pool" if run.flow_run_id else "direct", flow_run_id=run.flow_run_id)
    reason = "Prefect is switched off (INTERLACE_PREFECT=off)."
    if link is not None:
        try:
            flow_run_id = await link.submit(run, pinned.document.inputs)
            return Placed(run_id=run_id, via="pool", flow_run_id=flow_run_id)
        except InterlaceError as error:
            reason = str(error)
    log.warning("the run starts without Prefect's work pool", run=run_id, reason=reason)
    await platform.runner.admission.admit(run_id)
    return Placed(run_id=run_id, via="direct", reason=reason)
