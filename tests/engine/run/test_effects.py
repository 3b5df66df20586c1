"""Effects that are asked before each attempt: what an interruption means, and what may be tried again."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.node import Node, RunContext
from interlace.engine.testing import MemoryJournal, run_document

from .kinds import EchoConfig, EchoOutput, registry
from .resuming import recorded_from
from .test_edges import document, end


class Asking(Node[EchoConfig, EchoOutput]):
    """Its effects are looked up; the first attempts are lost."""

    kind = "ASKING"
    effects = "once"
    answers: ClassVar[list[Effects]] = []
    lost: ClassVar[int] = 0

    async def effects_of(self, ctx: RunContext) -> Effects:
        del ctx
        if not self.answers:
            raise NodeError("it is not there", kind="resource_not_found")
        return self.answers.pop(0)

    async def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        del config
        if ctx.attempt <= self.lost:
            raise NodeError("the connection broke", kind="connection")
        return EchoOutput(value=ctx.attempt)


KINDS = registry()
KINDS.add(Asking)


def asking(**more: Any) -> dict[str, Any]:
    retry = {"max": 1, "delay": 0, "jitter": False}
    return document(
        [{"id": "n", "type": "ASKING", "retry": retry, **more}, end(v="{{ n.value }}")],
        "start -> n",
        "n -> end",
    )


async def played(doc: dict[str, Any], answers: list[Effects], lost: int) -> tuple[Any, MemoryJournal]:
    Asking.answers, Asking.lost = list(answers), lost
    journal = MemoryJournal()
    return await run_document(doc, registry=KINDS, journal=journal), journal


def effects(journal: MemoryJournal) -> list[str]:
    return [
        event.data["effects"]
        for event in journal.events
        if event.type == "node.started" and event.path == "n"
    ]


@pytest.mark.parametrize(
    ("answers", "more", "status", "started"),
    [
        (["none", "none"], {}, "succeeded", ["none", "none"]),
        (["once"], {}, "failed", ["once"]),
        (["none", "once"], {}, "succeeded", ["none", "once"]),
        ([], {}, "failed", ["once"]),
        (["once", "once"], {"effects": "idempotent"}, "succeeded", ["idempotent", "idempotent"]),
    ],
)
async def test_a_lost_attempt_is_repeated_by_what_was_asked(
    answers: list[Effects], more: dict[str, Any], status: str, started: list[str]
) -> None:
    result, journal = await played(asking(**more), answers, 1)
    assert (result.status, effects(journal)) == (status, started)


@pytest.mark.parametrize(("first", "asks"), [("none", False), ("once", True)])
async def test_an_interruption_means_what_was_known_when_the_attempt_began(
    first: Effects, asks: bool
) -> None:
    _, whole = await played(asking(), [first], 0)
    started = next(
        n for n, event in enumerate(whole.events, 1) if (event.type, event.path) == ("node.started", "n")
    )
    Asking.answers = ["once" if first == "none" else "none"]  # the resource has changed since
    journal = MemoryJournal()
    result = await run_document(
        asking(), registry=KINDS, journal=journal, recorded=recorded_from(whole.events[:started])
    )
    assert (result.status == "suspended") is asks
    assert ("node.unknown" in journal.of("n")) is asks
