"""A run as one JSON object that says everything: for support cases, archives and other programs."""

from __future__ import annotations

from typing import Any

import orjson

from interlace.flows.documents import Documents
from interlace.flows.report import event_json, run_report
from interlace.store import Store


async def export_run(store: Store, documents: Documents, run_id: str) -> dict[str, Any]:
    """Document, report and events of a run, large values included.

    Raises:
        StoreError: there is no such run.
    """
    run = await store.runs.get(run_id)
    journal = store.journal(run_id, None)
    events: list[dict[str, Any]] = []
    last = 0
    while batch := await store.events.read(run_id, last):
        events.extend([event_json(await journal.load_event(event)) for event in batch])
        last = batch[-1].seq
    return {
        "interlace_run": 1,
        "document": orjson.loads(await store.runs.document(run.document_hash)),
        "inputs": (await store.runs.resolve(run)).inputs,
        "report": await run_report(store, documents, run_id),
        "events": events,
    }
