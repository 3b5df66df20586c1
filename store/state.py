"""What a journal adds up to: the state of a run and of each of its nodes.

`runs show`, resume and replay read nothing else. Values are as the events have them: large ones are references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.document import Effects
from interlace.engine.events import Event, NodeStatus, RunStatus
from interlace.engine.substeps import SubStep


@dataclass(slots=True, kw_only=True)
class NodeRecord:
    """One node at one path (`each[2].call`): its newest attempt.

    `status` is `running` exactly while an attempt was started and not ended; a node that waits for its next attempt
    is `pending` with that attempt's number. Times in Unix seconds.
    """

    path: str
    status: NodeStatus = "pending"
    attempt: int = 0
    retries: int = 0
    """Attempts that failed and were followed by another."""
    outputs: dict[str, Any] | None = None
    handles: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    handled: str | None = None
    reason: str | None = None
    why: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    effects: Effects | None = None
    key: str | None = None
    wait_until: float | None = None
    wait: dict[str, Any] | None = None
    """The data of the node's last `node.suspended`."""
    confirmed: str | None = None
    """The hash of what a person confirmed for the node."""
    started_at: float | None = None
    ended_at: float | None = None
    elapsed_ms: float | None = None
    reused: str | None = None
    """The run whose result this is, where the node did not run in this one."""
    pinned: bool = False
    """Whether given outputs stand in for the node."""
    items: dict[int, str] = field(default_factory=dict)
    """An ITERATION's items by index: their status."""
    round: int | None = None
    """A LOOP's newest round."""
    round_variables: dict[str, Any] = field(default_factory=dict)
    """The LOOP's own variables after it; `variables` are those from further out that the node has set."""
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By key: the requests of a node with several that it has not gone on with."""
    substeps: dict[str, SubStep] = field(default_factory=dict)
    """What an unfinished node has done within its attempts."""
    heard: str = ""
    """The id of the newest thing said to the run that the node has taken up."""
    calls: dict[str, int] = field(default_factory=dict)
    """How many calls of `models` and `tools` the node has made."""


@dataclass(slots=True, kw_only=True)
class RunState:
    """A run: `last_seq` is the number of the newest event that is part of it."""

    status: RunStatus = "queued"
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    reason: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    first_variables: dict[str, Any] = field(default_factory=dict)
    """Those that the run was begun with, in the place of the document's."""
    nodes: dict[str, NodeRecord] = field(default_factory=dict)
    started_at: float | None = None
    finished_at: float | None = None
    last_seq: int = 0

    @property
    def unfinished(self) -> list[NodeRecord]:
        """Attempts that were started and whose end is not recorded."""
        return [node for node in self.nodes.values() if node.status == "running"]


def fold(events: Iterable[Event]) -> RunState:
    """The state after some events, from the first on."""
    folding = Folding()
    for event in events:
        folding.add(event)
    return folding.state


class Folding:
    """Folds events one by one."""

    def __init__(self) -> None:
        self.state = RunState()

    def add(self, event: Event) -> None:
        """Take the next event."""
        self.state.last_seq = event.seq
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self.state, event)


def _started(state: RunState, event: Event) -> None:
    state.status = "running"
    state.started_at = state.started_at or event.at
    state.inputs = event.data.get("inputs", state.inputs)
    if given := event.data.get("variables"):
        state.first_variables = given
        state.variables |= given


def _suspended(state: RunState, event: Event) -> None:
    del event
    state.status = "suspended"


def _ended(status: RunStatus) -> Callable[[RunState, Event], None]:
    def end(state: RunState, event: Event) -> None:
        state.status = status
        state.finished_at = event.at
        state.outputs = event.data.get("outputs")
        state.error = event.data.get("error")
        state.reason = event.data.get("reason")

    return end


def _node(state: RunState, event: Event) -> NodeRecord:
    node = state.nodes.get(event.path)
    if node is None:
        node = state.nodes[event.path] = NodeRecord(path=event.path)
    if event.attempt:
        node.attempt = event.attempt
    return node


def _node_started(state: RunState, event: Event) -> None:
    node = _node(state, event)
    node.status = "running"
    node.started_at = event.at
    node.ended_at = node.elapsed_ms = node.error = node.outputs = node.reason = None
    node.effects = event.data.get("effects")
    node.key = event.data.get("key")


def _node_over(state: RunState, event: Event, status: NodeStatus) -> NodeRecord:
    node = _node(state, event)
    node.status = status
    node.ended_at = event.at
    if status in ("succeeded", "failed", "skipped"):
        node.requests, node.substeps = {}, {}
    return node


def _node_succeeded(state: RunState, event: Event) -> None:
    node, data = _node_over(state, event, "succeeded"), event.data
    node.reused, node.pinned = data.get("reused"), data.get("pinned", False)
    node.outputs = data.get("outputs")
    node.handles = tuple(data.get("handles", ()))
    node.elapsed_ms = data.get("elapsed_ms")
    node.why = data.get("why", {})
    _written(state, node, event)


def _written(state: RunState, node: NodeRecord, event: Event) -> None:
    node.variables = event.data.get("variables", {})
    state.variables |= node.variables


def _node_failed(state: RunState, event: Event) -> None:
    node, data = _node_over(state, event, "failed"), event.data
    node.reused = data.get("reused")
    node.error = data.get("error")
    node.handled = data.get("handled")
    node.handles = tuple(data.get("handles", ()))
    node.outputs = data.get("outputs")
    _written(state, node, event)
    if node.started_at is not None:
        node.elapsed_ms = data.get("elapsed_ms", round((event.at - node.started_at) * 1000, 3))


def _node_retrying(state: RunState, event: Event) -> None:
    node = _node_over(state, event, "pending")
    node.error = event.data.get("error")
    node.attempt = event.attempt + 1
    node.retries += 1
    _written(state, node, event)
    node.items, node.round, node.round_variables = {}, None, {}
    inside = (f"{event.path}[", f"{event.path}#")
    for path in [path for path in state.nodes if path.startswith(inside)]:
        del state.nodes[path]


def _node_skipped(state: RunState, event: Event) -> None:
    node = _node_over(state, event, "skipped")
    node.reason = event.data.get("reason")
    node.reused = event.data.get("reused")
    node.handles = tuple(event.data.get("handles", ()))


def _node_suspended(state: RunState, event: Event) -> None:
    node = _node(state, event)
    node.status = "suspended"
    if "requests" in event.data:  # it waits again for what it asked before
        return
    node.wait_until = event.data.get("until")
    node.wait = event.data
    if event.data.get("key"):
        node.requests[event.data["key"]] = event.data
    node.variables = event.data.get("variables", node.variables)


def _node_resumed(state: RunState, event: Event) -> None:
    # The node stays suspended until its result, or its start, is recorded; one with several requests is at work.
    if event.data.get("key"):
        node = _node(state, event)
        node.status = "running"
        node.requests.pop(event.data["key"], None)
    if event.data.get("phase") == "confirm" and event.data.get("action") == "approve":
        _node(state, event).confirmed = event.data.get("hash")


def _node_cancelled(state: RunState, event: Event) -> None:
    node = _node_over(state, event, "cancelled")
    node.reason = event.data.get("reason")
    node.requests = {key: wait for key, wait in node.requests.items() if wait["id"] != event.data.get("id")}


def _node_unknown(state: RunState, event: Event) -> None:
    _node_over(state, event, "unknown")


def _model_finished(state: RunState, event: Event) -> None:
    _substep(state, event, "models").finished = event.data
    node = _node(state, event)
    node.heard = max([node.heard, *event.data.get("injected", ())])


def _tool_started(state: RunState, event: Event) -> None:
    _substep(state, event, None).started = event.data


def _tool_finished(state: RunState, event: Event) -> None:
    _substep(state, event, "tools").finished = event.data


def _substep(state: RunState, event: Event, counted: str | None) -> SubStep:
    node = _node(state, event)
    if counted is not None:
        node.calls[counted] = node.calls.get(counted, 0) + 1
    return node.substeps.setdefault(event.data.get("step", ""), SubStep())


def _item(state: RunState, event: Event) -> None:
    _node(state, event).items[event.data["index"]] = event.data["status"]


def _round(state: RunState, event: Event) -> None:
    node = _node(state, event)
    node.round = event.data["round"]
    node.round_variables = event.data.get("variables", {})


_HANDLERS: dict[str, Callable[[RunState, Event], None]] = {
    "run.started": _started,
    "run.resumed": _started,
    "run.suspended": _suspended,
    "run.succeeded": _ended("succeeded"),
    "run.failed": _ended("failed"),
    "run.cancelled": _ended("cancelled"),
    "node.started": _node_started,
    "node.retrying": _node_retrying,
    "node.succeeded": _node_succeeded,
    "node.failed": _node_failed,
    "node.skipped": _node_skipped,
    "node.suspended": _node_suspended,
    "node.resumed": _node_resumed,
    "node.cancelled": _node_cancelled,
    "node.unknown": _node_unknown,
    "model.finished": _model_finished,
    "tool.started": _tool_started,
    "tool.finished": _tool_finished,
    "iteration.item": _item,
    "loop.round": _round,
}
