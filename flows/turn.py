"""The row that a new run begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine import origin
from interlace.flows.admission import slot_of
from interlace.flows.documents import Pinned
from interlace.flows.leases import LEASE_SECONDS
from interlace.flows.request import Request
from interlace.store.run_row import NewRun


def new_run(pinned: Pinned, request: Request, inputs: dict[str, Any], *, lease_owner: str | None) -> NewRun:
    """What a run is created from; its inputs are checked."""
    parent, principal = request.parent, request.principal
    options = dict(request.options)
    if pinned.document.settings.record and not options.get("offline"):
        options["record"] = True
    return NewRun(
        name=pinned.document.name,
        # A draft of a workflow is of no version, so nobody has stored it.
        document=pinned.text if pinned.version is None else None,
        document_hash=pinned.hash,
        inputs=inputs,
        trigger=_trigger(pinned, request),
        owner=parent.owner if parent else principal.user_id if principal else request.owner,
        org_id=parent.org_id if parent else request.org_id,
        workflow_id=pinned.workflow_id,
        version=pinned.version,
        environment=request.environment,
        idempotency_key=request.idempotency_key,
        parent_run_id=parent.id if parent else None,
        parent_path=request.parent_path,
        depth=parent.depth + 1 if parent else request.depth,
        scheduled_for=request.scheduled_for,
        tags=request.tags,
        node_count=len(pinned.document.nodes),
        lease_owner=lease_owner,
        lease_seconds=LEASE_SECONDS,
        replayed_from=request.replayed_from,
        test=request.test,
        options=options,
        seeds=request.seeds,
        **slot_of(pinned, parent.owner if parent else request.owner),
    )


def _trigger(pinned: Pinned, request: Request) -> Mapping[str, Any]:
    """What started the run; with a folder of this machine, and a place in a trace, where there are any."""
    more: dict[str, Any] = {}
    if pinned.folder:
        more["folder"] = pinned.folder
    traceparent = origin.cause()
    if traceparent is not None:
        more["traceparent"] = traceparent
    return {**request.trigger, **more} if more else request.trigger
