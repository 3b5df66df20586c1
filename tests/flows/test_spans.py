"""Spans made from a journal: who is whose parent, and how long that takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from interlace.engine.document import Document
from interlace.engine.events import Event
from interlace.engine.origin import Trace, span_id
from interlace.flows.telemetry.spans import MOST_NODES, RunSpans
from interlace.store.run_row import Run
from interlace.store.usage import MadeCall

RUN = "run"
DOCUMENT = Document.model_validate(
    {
        "name": "w",
        "nodes": [
            {"id": "each", "type": "ITERATION", "body": {"nodes": [{"id": "inner", "type": "AGENT"}], "edges": []}}
        ],
        "edges": [],
    }
)  # fmt: skip


def run() -> Run:
    absent: dict[str, Any] = dict.fromkeys(Run.__dataclass_fields__)
    known: dict[str, Any] = {
        "id": RUN, "name": "w", "status": "succeeded", "created_at": 0.0, "started_at": 0.0, "finished_at": 9e5,
        "trigger": {}, "outputs": {},
    }  # fmt: skip
    return Run(**{**absent, **known})


class Journal:
    """Events one second after another."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: str, path: str, attempt: int = 1, **data: Any) -> None:
        seq = len(self.events) + 1
        self.events.append(Event(kind, path, attempt, data, seq, float(seq)))

    def spans(self, calls: tuple[MadeCall, ...] = ()) -> list[ReadableSpan]:
        made = RunSpans(run(), DOCUMENT, Trace("1" * 32), Resource({}), content=False)
        made.add(self.events)
        return list(made.spans(calls))


def parents(spans: list[ReadableSpan]) -> Iterator[tuple[str, str]]:
    """Name of each span with its parent's id."""
    for span in spans:
        if span.parent is not None:
            yield span.name, f"{span.parent.span_id:016x}"


def test_what_a_retried_container_holds_belongs_to_the_attempt_it_was_in() -> None:
    journal = Journal()
    for attempt, end in ((1, "node.retrying"), (2, "node.succeeded")):
        journal.add("node.started", "each", attempt)
        journal.add("node.started", "each[0].inner")
        journal.add("tool.started", "each[0].inner", step="t1", name="add")
        journal.add("tool.finished", "each[0].inner", step="t1", name="add", value=3)
        journal.add("node.succeeded", "each[0].inner")
        journal.add(end, "each", attempt)
    found = list(parents(journal.spans()))
    own = span_id(RUN)
    agent = span_id(RUN, "each[0].inner", 1)
    assert [parent for name, parent in found if name == "ITERATION each"] == [own, own]
    assert [parent for name, parent in found if name == "invoke_agent inner"] == [
        span_id(RUN, "each", 1),
        span_id(RUN, "each", 2),
    ]
    assert [parent for name, parent in found if name == "execute_tool add"] == [agent, agent]


def test_spans_of_the_largest_run_take_no_quadratic_time() -> None:
    journal = Journal()
    journal.add("node.started", "each")
    for item in range(MOST_NODES - 1):
        path = f"each.a[{item}].b[{item}].c[{item}].d[{item}].inner"
        journal.add("node.started", path)
        journal.add("node.succeeded", path)
    began = time.process_time()
    spans = journal.spans()
    spent = time.process_time() - began
    assert len(spans) == MOST_NODES + 1
    # Measured: half a second; by looking through all nodes for each one it was seven.
    assert spent < 1.2
