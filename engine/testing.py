"""An in-memory journal and a one-call runner: for tests of nodes and documents, without a database.

They are the real engine; only durability is missing.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from interlace.engine.clock import SystemClock
from interlace.engine.document import Document
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Clock, Services
from interlace.engine.registry import Registry
from interlace.engine.run import Recorded, RunResult, compile_plan, prepare
from interlace.engine.run.memory import MemoryJournal

__all__ = ["MemoryJournal", "edges", "run_document"]


async def run_document(
    document: Document | Mapping[str, Any],
    inputs: Mapping[str, Any] | None = None,
    *,
    registry: Registry,
    services: Services | None = None,
    journal: MemoryJournal | None = None,
    clock: Clock | None = None,
    recorded: Mapping[str, Recorded] | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> RunResult:
    """Run a document to its end in memory. Inputs are taken as they are; see `engine.inputs` for checking them."""
    if not isinstance(document, Document):
        document = Document.model_validate(document)
    plan = compile_plan(document, registry)
    info = RunInfo(
        id=uuid.uuid4().hex,
        workflow=document.name,
        started_at=time.time(),
        trigger=trigger or {"kind": "manual"},
    )
    execution = prepare(
        plan, info, inputs or {}, journal=journal or MemoryJournal(), services=services or Services(),
        clock=clock or SystemClock(), recorded=recorded,
    )  # fmt: skip
    return await execution.run()


def edges(*short: str) -> Sequence[dict[str, str]]:
    """Edges in short form: `edges("start -> a", "a.large -> b")`."""
    found = []
    for text in short:
        source, target = (part.strip() for part in text.split("->"))
        name, _, handle = source.partition(".")
        found.append({"from": name, "handle": handle or "out", "to": target})
    return found
