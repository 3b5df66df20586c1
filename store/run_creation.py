"""How a run comes into being: its row, its first events and all that they refer to, in one commit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from interlace.store.encoding import encode
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.links import Links
from interlace.store.payloads import Payloads
from interlace.store.references import Externalizer, references_of
from interlace.store.run_row import NewRun, Seed
from interlace.store.run_statements import RunStatements
from interlace.store.uploads import Uses
from interlace.store.writer import Batch, Lane

_ROOT = re.compile(r"[.\[#]")
_FIRST_SEED = 2
"""The number of the event after `run.queued`."""


class Creation:
    """Makes the batches that create runs."""

    def __init__(self, sql: RunStatements, payloads: Payloads, links: Links, uses: Uses) -> None:
        self._sql = sql
        self._uses = uses
        self._payloads = payloads
        self._links = links

    def of(self, new: NewRun, now: float) -> tuple[Batch, str, Sequence[tuple[Any, ...]]]:
        """The batch, the run's id, and the rows that are empty after the commit when an earlier run stands for it.

        Raises:
            NotJsonError: inputs, trigger or options are not JSON.
            ConflictError: neither document nor hash is given.
        """
        document_hash = new.document_hash
        batch = Batch(Lane(), independent=new.replayed_from is None)
        if new.document is not None:
            document_hash = hash_document(new.document)
            batch.execute(self._sql.document(hash=document_hash, text=new.document, created_at=now))
        if document_hash is None:
            raise ConflictError(f"a run of {new.name!r} needs its document, or the hash of a stored one")
        run_id = new.run_id or uuid7(now)  # queues go by ids: one clock for all machines
        encoder = Externalizer(self._payloads)
        values = asdict(replace(new, inputs={}, trigger={}, options={}, seeds=()))
        for name in ("document", "run_id", "lease_seconds", "seeds", "start_within"):
            del values[name]
        values |= {
            "id": run_id, "document_hash": document_hash, "status": "queued", "created_at": now,
            "inputs": encoder.map(new.inputs).decode(), "trigger": encoder.map(new.trigger).decode(),
            "options": encoder.map(new.options).decode(), "tags": encode(list(new.tags)).decode(),
            "lease_epoch": 1 if new.lease_owner else 0,
            "ttl": float(new.lease_seconds) if new.lease_owner else None,
            "within": None if new.start_within is None else float(new.start_within),
        }  # fmt: skip
        inserted = batch.execute(self._sql.create(**values))
        batch.execute(self._sql.queued(run=run_id, now=now))
        batch.operations.extend(self._uses.of_value(new.inputs, now))
        self._add_seeds(batch, run_id, new, encoder, now)
        for stored in encoder.fresh:
            batch.operations.extend(self._links.of(run_id, stored, now))
            batch.hooks.append(stored.secure)
        return batch, run_id, inserted

    def _add_seeds(self, batch: Batch, run_id: str, new: NewRun, encoder: Externalizer, now: float) -> None:
        """Let the run hold what it takes from another one, which may be deleted from then on."""
        if new.replayed_from is None:
            return
        source = batch.execute(self._sql.exists(run=new.replayed_from))

        def check() -> None:
            if not source:
                raise NotFoundError(f"run {new.replayed_from!r} was deleted just now")

        batch.hooks.append(check)
        shared: dict[str, int] = {}
        for seq, seed in enumerate(new.seeds, _FIRST_SEED):
            text = encode(dict(seed.data)) if seed.kept else encoder.data(seed.data)
            shared |= references_of(seed.data) if seed.kept else {}
            batch.execute(self._seed(run_id, seq, seed, text.decode(), now))
        # In one order, so that two replays of one run do not wait for each other's rows.
        for ref, size in sorted(shared.items()):
            stored = self._payloads.kept(ref, size)
            batch.operations.extend(self._links.of(run_id, stored, now))
            batch.hooks.append(stored.secure)
        batch.execute(self._sql.share_files(run=run_id, source=new.replayed_from))
        for node in dict.fromkeys(_ROOT.split(seed.path, maxsplit=1)[0] for seed in new.seeds if seed.path):
            batch.execute(self._sql.share_folder(run=run_id, source=new.replayed_from, node=node))

    def _seed(self, run_id: str, seq: int, seed: Seed, text: str, now: float) -> Any:
        return self._sql.seed(
            run=run_id, seq=seq, now=now, type=seed.type, path=seed.path, attempt=seed.attempt, data=text
        )


def hash_document(text: str) -> str:
    """The key of a canonical document."""
    return hashlib.sha256(text.encode()).hexdigest()
