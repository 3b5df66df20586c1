from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.events import EVENT_TYPES, Event
from interlace.store.state import RunState, fold


def state(*events: tuple[str, str, int, dict[str, Any]]) -> RunState:
    return fold(
        Event(kind, path, attempt, data, seq, 100.0 + seq)
        for seq, (kind, path, attempt, data) in enumerate(events, 1)
    )


def test_a_run_that_succeeded() -> None:
    found = state(
        ("run.queued", "", 0, {}),
        ("run.started", "", 0, {"inputs": {"a": 1}}),
        ("node.started", "n", 1, {"effects": "none", "key": "k"}),
        (
            "node.succeeded", "n", 1,
            {"outputs": {"x": 1}, "handles": ["a", "b"], "elapsed_ms": 2.5, "variables": {"v": 3}, "why": {"c": "no"}},
        ),
        ("node.skipped", "m", 0, {"reason": "edge n.c not taken"}),
        ("run.succeeded", "", 0, {"outputs": {"y": 2}}),
    )  # fmt: skip
    assert (found.status, found.inputs, found.outputs, found.error) == ("succeeded", {"a": 1}, {"y": 2}, None)
    assert (found.started_at, found.finished_at, found.last_seq, found.variables) == (
        102.0,
        106.0,
        6,
        {"v": 3},
    )
    node = found.nodes["n"]
    assert (node.status, node.attempt, node.outputs, node.handles) == ("succeeded", 1, {"x": 1}, ("a", "b"))
    assert (node.started_at, node.ended_at, node.elapsed_ms) == (103.0, 104.0, 2.5)
    assert (node.effects, node.key, node.why) == ("none", "k", {"c": "no"})
    assert (found.nodes["m"].status, found.nodes["m"].reason) == ("skipped", "edge n.c not taken")
    assert found.unfinished == []


def test_an_attempt_without_an_end_is_unfinished_and_one_between_attempts_is_not() -> None:
    error = {"type": "http_503", "message": "busy"}
    begun: list[tuple[str, str, int, dict[str, Any]]] = [
        ("node.started", "n", 1, {"effects": "once"}),
        ("node.retrying", "n", 1, {"error": error, "delay": 1.0}),
    ]
    waiting = state(*begun)
    assert waiting.unfinished == []
    node = waiting.nodes["n"]
    assert (node.status, node.attempt, node.error) == ("pending", 2, error)
    (node,) = state(*begun, ("node.started", "n", 2, {"effects": "once"})).unfinished
    assert (node.status, node.attempt, node.error, node.effects) == ("running", 2, None, "once")


def test_a_run_that_failed_says_how() -> None:
    error = {"type": "x", "message": "m", "node": "n"}
    found = state(
        ("run.started", "", 0, {"inputs": {}}),
        ("node.started", "n", 1, {}),
        (
            "node.failed",
            "n",
            1,
            {"error": error, "handled": "branch", "handles": ["error"], "outputs": {"o": None}},
        ),
        ("node.started", "slow", 1, {}),
        ("node.cancelled", "slow", 1, {}),
        ("node.unknown", "sent", 2, {"effects": "once"}),
        ("run.failed", "", 0, {"error": error, "outputs": {"part": 1}}),
    )
    assert (found.status, found.error, found.outputs) == ("failed", error, {"part": 1})
    node = found.nodes["n"]
    assert (node.status, node.error, node.handled, node.handles) == ("failed", error, "branch", ("error",))
    assert (node.outputs, node.elapsed_ms) == ({"o": None}, 1000.0)
    assert (found.nodes["slow"].status, found.nodes["sent"].status, found.nodes["sent"].attempt) == (
        "cancelled",
        "unknown",
        2,
    )


def test_a_retry_of_a_container_forgets_what_its_body_did() -> None:
    found = state(
        ("run.started", "", 0, {"inputs": {}}),
        ("node.started", "each", 1, {}),
        ("node.succeeded", "each[0].a", 1, {"outputs": {}}),
        ("iteration.item", "each", 1, {"index": 0, "status": "succeeded"}),
        ("node.succeeded", "each_other", 1, {"outputs": {}}),
        (
            "node.retrying",
            "each",
            1,
            {"error": {"type": "x", "message": "m"}, "delay": 1.0, "variables": {"n": 1}},
        ),
    )
    assert sorted(found.nodes) == ["each", "each_other"]
    each = found.nodes["each"]
    assert (each.status, each.attempt, each.retries, each.items, each.variables) == (
        "pending",
        2,
        1,
        {},
        {"n": 1},
    )
    assert found.variables == {"n": 1}


def test_waiting_bodies_and_resuming() -> None:
    found = state(
        ("run.started", "", 0, {"inputs": {"a": 1}, "variables": {"total": 0}}),
        ("node.suspended", "wait", 0, {"until": 500.0}),
        ("run.suspended", "", 0, {}),
    )
    assert (found.status, found.nodes["wait"].status, found.nodes["wait"].wait_until) == (
        "suspended",
        "suspended",
        500.0,
    )
    found = state(
        ("run.started", "", 0, {"inputs": {"a": 1}, "variables": {"total": 0}}),
        ("node.started", "each", 1, {}),
        ("iteration.item", "each", 1, {"index": 0, "status": "succeeded"}),
        ("iteration.item", "each", 1, {"index": 1, "status": "failed"}),
        ("loop.round", "loop", 1, {"round": 2, "variables": {"x": 5}}),
        ("run.resumed", "", 0, {}),
        ("run.cancelled", "", 0, {"reason": "stopped"}),
    )
    assert (found.inputs, found.variables, found.started_at) == ({"a": 1}, {"total": 0}, 101.0)
    assert found.nodes["each"].items == {0: "succeeded", 1: "failed"}
    assert (found.nodes["loop"].round, found.nodes["loop"].round_variables) == (2, {"x": 5})
    assert (found.status, found.reason) == ("cancelled", "stopped")


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES - {"iteration.item", "loop.round"}))
def test_every_event_may_come_without_data(kind: str) -> None:
    path = "n" if kind.startswith("node.") else ""
    assert state((kind, path, 1, {})).last_seq == 1


def test_deltas_and_logs_change_nothing() -> None:
    quiet = state(
        ("node.delta", "n", 1, {"text": "a"}),
        ("node.log", "n", 1, {"message": "m"}),
    )
    assert quiet == RunState(last_seq=2)


def test_steps_within_a_node_are_kept_until_it_has_ended() -> None:
    events = [
        ("run.started", "", 0, {"inputs": {}}),
        ("node.started", "n", 1, {"effects": "idempotent"}),
        ("model.finished", "n", 1, {"step": "1", "text": "", "injected": ["a", "b"]}),
        ("tool.started", "n", 1, {"step": "1.0", "name": "add"}),
        ("tool.finished", "n", 1, {"step": "1.0", "name": "add", "value": 3}),
        ("tool.started", "n", 1, {"step": "1.1", "name": "send"}),
        (
            "node.suspended",
            "n",
            1,
            {"id": "w1", "key": "1.2", "kind": "human", "phase": "node", "until": None},
        ),
        (
            "node.suspended",
            "n",
            1,
            {"id": "w2", "key": "1.3", "kind": "human", "phase": "node", "until": None},
        ),
    ]
    node = state(*events).nodes["n"]
    assert (node.status, node.heard, node.calls) == ("suspended", "b", {"models": 1, "tools": 1})
    assert {key: (s.started is not None, s.finished is not None) for key, s in node.substeps.items()} == {
        "1": (False, True), "1.0": (True, True), "1.1": (True, False),
    }  # fmt: skip
    assert sorted(node.requests) == ["1.2", "1.3"]
    resumed = [
        *events,
        ("node.resumed", "n", 1, {"id": "w2", "key": "1.3", "phase": "node", "action": "approve"}),
    ]
    node = state(*resumed).nodes["n"]
    assert (node.status, sorted(node.requests)) == ("running", ["1.2"])
    again = [*resumed, ("node.suspended", "n", 1, {"kind": "human", "phase": "node", "requests": ["w1"]})]
    node = state(*again).nodes["n"]
    assert (node.status, sorted(node.requests)) == ("suspended", ["1.2"])
    given_up = state(*again, ("node.cancelled", "n", 1, {"id": "w1", "reason": "over"})).nodes["n"]
    assert given_up.requests == {}
    ended = state(*again, ("node.succeeded", "n", 1, {"outputs": {}, "handles": ["out"]})).nodes["n"]
    assert (ended.substeps, ended.requests, ended.heard, ended.calls["tools"]) == ({}, {}, "b", 1)
