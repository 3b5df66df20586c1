"""The one vocabulary of run events: journal, live progress, SSE and `runs events` all speak it.

The journal is the list of these events; everything else about a run (node states, outputs, edges, variables, why a
node did not run) is derived from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

RunStatus: TypeAlias = Literal["queued", "running", "suspended", "succeeded", "failed", "cancelled"]
NodeStatus: TypeAlias = Literal[
    "pending", "running", "suspended", "succeeded", "failed", "skipped", "cancelled", "not_reached", "unknown"
]

RUN_EVENTS = frozenset(
    f"run.{name}"
    for name in ("queued", "started", "suspended", "resumed", "succeeded", "failed", "cancelled")
)
NODE_EVENTS = frozenset(
    f"node.{name}"
    for name in (
        "started", "retrying", "succeeded", "failed", "skipped", "suspended", "resumed", "cancelled", "unknown", "delta",
        "log",
    )
)  # fmt: skip
OTHER_EVENTS = frozenset({"tool.started", "tool.finished", "iteration.item", "loop.round"})
EVENT_TYPES = RUN_EVENTS | NODE_EVENTS | OTHER_EVENTS
FINAL_EVENTS = frozenset({"run.succeeded", "run.failed", "run.cancelled"})


@dataclass(slots=True)
class Event:
    """One entry of a run's journal.

    `seq` counts from 1 within the run without gaps; `at` is Unix time in seconds; `path` names the node
    (`each[2].call`, empty for events of the run); `attempt` counts from 1.

    What `data` holds, by type:
    - `run.started` {inputs}; `run.succeeded` {outputs}; `run.failed` {error}; `run.cancelled` {reason};
    - `node.started` {effects}; `node.succeeded` {outputs, handles, elapsed_ms, variables?, why?};
      `node.failed` {error, handled?, variables?}; `node.skipped` {reason, handles?};
      `node.retrying` {error, delay, variables?}; `node.suspended` {until}; `node.unknown` {effects};
      `node.log` {message}; a container's `variables` are those that its body set further out;
    - `node.suspended` {id, kind, phase, until, request, hash, state, rules, …}; `node.resumed` {id, phase, action, by, hash};
      `run.suspended` {waiting: [id]};
    - `iteration.item` {index, status}; `loop.round` {round, variables}.
    """

    type: str
    path: str = ""
    attempt: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    seq: int = 0
    at: float = 0.0
