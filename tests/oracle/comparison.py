"""The engine's run of a document beside what the interpreter says, in three ways: at once, in random order, resumed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from typing import Any

from interlace.engine.events import Event
from interlace.engine.run import RunResult
from interlace.engine.testing import MemoryJournal, run_document
from interlace.store.state import fold
from tests.engine.run.resuming import recorded_from

from .interpreter import Ambiguous, Interpreter, Meaning
from .kinds import Clock, Order, SlowJournal, registry

QUICK, SLOW = registry(slow=False), registry(slow=True)
NOT_RUN = {"not run", "pending", "running", "cancelled", "not_reached"}
FINISHED = {"succeeded", "failed", "skipped"}
LONGEST = 20.0
"""Seconds; a run takes some milliseconds, so one that takes longer hangs."""
DELICATE = {"node.failed", "node.retrying", "iteration.item", "loop.round"}


class Disagreement(AssertionError):  # noqa: N818 - a verdict, and the word of the reports
    """The two say different things."""


def meaning_of(document: Any, inputs: Any) -> Meaning | None:
    """What must come out; None where that depends on timing."""
    try:
        return Interpreter(document, inputs).run()
    except Ambiguous:
        return None


async def compare(seed: int, document: Any, inputs: Any) -> bool:
    """Run and compare; False when the document is ambiguous.

    Raises:
        Disagreement: naming all differences.
    """
    meaning = meaning_of(document, inputs)
    if meaning is None:
        return False
    way = ("quick", "slow", "resumed", "resumed slow")[seed % 4]
    pick = random.Random(seed)
    Order.reset(seed)
    result, events = await run(document, inputs, {}, slow="slow" in way)
    found = differences(meaning, result, events)
    for _ in range(pick.choice((1, 1, 2)) if "resumed" in way else 0):
        if not found:
            cut = cut_of(events, pick)
            way += f", cut after {cut} of {len(events)} events"
            result, events, found = await resumed(document, inputs, events[:cut], pick)
            found += differences(meaning, result, events, frozenset({"attempt"}))
    if found:
        raise Disagreement("\n".join([f"{way}:", *found]))
    return True


def sources(body: Any) -> dict[str, set[str]]:
    """The ids that each node has edges from, bodies included."""
    found = {
        node["id"]: {edge["from"] for edge in body["edges"] if edge["to"] == node["id"]}
        for node in body["nodes"]
    }
    for node in body["nodes"]:
        found |= sources(node["body"]) if "body" in node else {}
    return found


def cut_of(events: list[Event], pick: random.Random) -> int:
    """Where a crash ends the journal: anywhere, or just behind what is delicate."""
    delicate = [
        number for number, event in enumerate(events, 1) if event.type in DELICATE and number < len(events)
    ]
    return pick.choice(delicate) if delicate and pick.random() < 0.5 else pick.randrange(len(events))


async def run(document: Any, inputs: Any, recorded: Any, *, slow: bool) -> tuple[RunResult, list[Event]]:
    journal = SlowJournal(sources(document)) if slow else MemoryJournal()
    kinds = SLOW if slow else QUICK
    running = run_document(
        document, inputs, registry=kinds, journal=journal, clock=Clock(), recorded=recorded
    )
    try:
        async with asyncio.timeout(LONGEST):
            result = await running
    except TimeoutError:
        raise Disagreement(f"the run does not end within {LONGEST} s") from None
    if isinstance(journal, SlowJournal) and journal.early:
        raise Disagreement("\n".join(journal.early))
    return result, journal.events


async def resumed(
    document: Any, inputs: Any, before: list[Event], pick: random.Random
) -> tuple[RunResult, list[Event], list[str]]:
    """Go on from a prefix of the journal, in another order: the result, the whole journal, and what ran again."""
    known = fold(before).nodes
    failures = [event.path for event in before if event.type in ("node.retrying", "node.failed")]
    Order.reset(pick.randrange(1000), failures)
    result, after = await run(document, inputs, recorded_from(before), slow=pick.random() < 0.5)
    finished = {path: node.status for path, node in known.items() if node.status in FINISHED}
    again = ran_again(finished, after)
    return (
        result,
        [*before, *after],
        [f"{path} had {finished[path]} before the cut and ran again" for path in again],
    )


def ran_again(finished: Iterable[str], events: list[Event]) -> list[str]:
    """Which of the paths were started; a retry of a container around them may."""
    barred, again = set(finished), []
    for event in events:
        if event.type == "node.retrying":
            barred = {path for path in barred if not is_free(path, {event.path})}
        elif event.type == "node.started" and event.path in barred:
            again.append(event.path)
    return again


def differences(
    meaning: Meaning, result: RunResult, events: list[Event], ignored: frozenset[str] = frozenset()
) -> list[str]:
    """What is not as it must be; an interrupted attempt has a number, so those are `ignored` after a resume."""
    found = []
    if result.status != meaning.status:
        found.append(
            f"status: engine {result.status} ({result.error}), interpreter {meaning.status} {meaning.errors}"
        )
    elif meaning.status == "succeeded" and plain(result.outputs, ignored) != plain(meaning.outputs, ignored):
        found.append(f"outputs: engine {result.outputs}, interpreter {meaning.outputs}")
    elif meaning.status == "failed" and not any(
        same(result.error or {}, error, ignored) for error in meaning.errors
    ):
        found.append(f"error: engine {result.error}, interpreter {meaning.errors}")
    actual = {path: node.status for path, node in fold(events).nodes.items()}
    for path in sorted(actual.keys() | meaning.nodes.keys()):
        is_, should = actual.get(path, "not run"), meaning.nodes.get(path, "not run")
        if path and not is_free(path, meaning.free) and not agree(is_, should, meaning):
            found.append(f"{path}: engine {is_}, interpreter {should}")
    return found


def agree(is_: str, should: str, meaning: Meaning) -> bool:
    """Below a jump, a node may already be decided as skipped when the body ends."""
    return is_ == should or (should == "not run" and is_ in NOT_RUN | {"skipped"})


def is_free(path: str, free: set[str]) -> bool:
    return any(path == start or (path.startswith(start) and path[len(start)] in ".[#") for start in free)


def same(error: dict[str, Any], expected: dict[str, Any], ignored: frozenset[str]) -> bool:
    """Kinds of missing values, item lists and the like are the engine's own; the rest is fixed."""
    own = {"missing", "items"}
    return all(
        error.get(key) == value for key, value in expected.items() if value not in own and key not in ignored
    )


def plain(value: Any, ignored: frozenset[str]) -> Any:
    """Without what only people read, and with the engine's own kinds of errors left out."""
    if isinstance(value, list):
        return [plain(entry, ignored) for entry in value]
    if not isinstance(value, dict):
        return value
    if {"type", "node", "attempt"} <= value.keys():
        value = {"node": value["node"], "attempt": value["attempt"]}
    return {
        key: plain(entry, ignored) for key, entry in value.items() if not any(word in key for word in ignored)
    }
