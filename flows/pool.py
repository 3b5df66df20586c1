"""Runs handed to Prefect's work pool; where Prefect is not there they start in this process instead."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from interlace.engine.errors import InterlaceError
from interlace.flows.documents import Pinned
from interlace.flows.link import PrefectLink
from interlace.flows.platform import Platform
from interlace.flows.request import POOL, Request

log = structlog.get_logger("interlace.prefect")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a run went: `pool`, or `direct` with the reason why not there."""

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
    await platform.runner.resume(run)
    return Placed(run_id=run_id, via="direct", reason=reason)
