"""The engine's run of a document beside what the interpreter says, in three ways: at once, in random order, resumed."""

from __future__ import annotations

import random
import re
from typing import Any

from interlace.engine.events import Event
from interlace.engine.run import Recorded, RunResult
from interlace.engine.testing import MemoryJournal, run_document
from interlace.store.state import fold

from .interpreter import Ambiguous, Interpreter, Meaning
from .kinds import Clock, Order, registry

QUICK, SLOW = registry(slow=False), registry(slow=True)
NOT_RUN = {"not run", "pending", "running", "cancelled", "not_reached"}
FINISHED = {"succeeded", "failed", "skipped"}


class Disagreement(AssertionError):
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
    kinds = SLOW if "slow" in way else QUICK
    Order.reset(seed)
    journal = MemoryJournal()
    result = await run_document(document, inputs, registry=kinds, journal=journal, clock=Clock())
    found = differences(meaning, result, journal.events)
    if not found and "resumed" in way:
        found = await resumed(meaning, document, inputs, journal.events, seed)
        way += f", cut after {cut_of(document, journal.events, seed)} of {len(journal.events)} events"
    if found:
        raise Disagreement("\n".join([f"{way}:", *found]))
    return True


def cut_of(document: Any, events: list[Event], seed: int) -> int:
    """A place to cut the journal, not inside an attempt that may be retried: nothing says whether that one counts."""
    cut = random.Random(seed).randrange(len(events))
    retried = set(re.findall(r"'id': '(\w+)', 'type': 'FAIL', 'config': {[^}]*}, 'retry'", str(document)))
    while any(node.path.rpartition(".")[2] in retried for node in fold(events[:cut]).unfinished):
        cut += 1
    return cut


async def resumed(meaning: Meaning, document: Any, inputs: Any, events: list[Event], seed: int) -> list[str]:
    """Go on from a prefix of the journal, in another order."""
    before = events[: cut_of(document, events, seed)]
    known = fold(before).nodes
    recorded = {
        path: Recorded(
            status=node.status, attempt=max(node.attempt, 1), outputs=node.outputs, handles=node.handles, error=node.error,
            reason=node.reason, variables=node.variables, why=node.why, wait_until=node.wait_until,
        )
        for path, node in known.items()
    }  # fmt: skip
    Order.reset(seed + 1, [event.path for event in before if event.type == "node.retrying"])
    journal = MemoryJournal()
    kinds = SLOW if seed % 8 > 3 else QUICK
    result = await run_document(
        document, inputs, registry=kinds, journal=journal, clock=Clock(), recorded=recorded
    )
    started = {event.path for event in journal.events if event.type == "node.started"} | set(Order.ran)
    again = [path for path, node in known.items() if node.status in FINISHED and path in started]
    found = [f"{path} had {known[path].status} before the cut and ran again" for path in again]
    return found + differences(meaning, result, [*before, *journal.events], frozenset({"attempt"}))


def differences(
    meaning: Meaning, result: RunResult, events: list[Event], ignored: frozenset[str] = frozenset()
) -> list[str]:
    """What is not as it must be; an interrupted attempt has a number, so those are `ignored` after a resume."""
    found = []
    if result.status != meaning.status:
        found.append(f"status: engine {result.status} ({result.error}), interpreter {meaning.status} {meaning.errors}")
    elif meaning.status == "succeeded" and plain(result.outputs, ignored) != plain(meaning.outputs, ignored):
        found.append(f"outputs: engine {result.outputs}, interpreter {meaning.outputs}")
    elif meaning.status == "failed" and not any(same(result.error or {}, error, ignored) for error in meaning.errors):
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
    return all(error.get(key) == value for key, value in expected.items() if value not in own and key not in ignored)


def plain(value: Any, ignored: frozenset[str]) -> Any:
    """Without what only people read, and with the engine's own kinds of errors left out."""
    if isinstance(value, list):
        return [plain(entry, ignored) for entry in value]
    if not isinstance(value, dict):
        return value
    if {"type", "node", "attempt"} <= value.keys():
        value = {"node": value["node"], "attempt": value["attempt"]}
    return {key: plain(entry, ignored) for key, entry in value.items() if not any(word in key for word in ignored)}
