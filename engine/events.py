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
SUB_STEP_EVENTS = frozenset({"model.finished", "tool.started", "tool.finished"})
"""Steps of a node's own work, from which it goes on after a crash or a wait; `step` names the step."""
OTHER_EVENTS = SUB_STEP_EVENTS | {"iteration.item", "loop.round", "call.recorded"}
EVENT_TYPES = RUN_EVENTS | NODE_EVENTS | OTHER_EVENTS
FINAL_EVENTS = frozenset({"run.succeeded", "run.failed", "run.cancelled"})


@dataclass(slots=True)
class Event:
    """One entry of a run's journal.

    `seq` counts from 1 within the run without gaps; `at` is Unix time in seconds; `path` names the node
    (`each[2].call`, empty for events of the run); `attempt` counts from 1.

    What `data` holds, by type:
    - `run.started` {inputs, variables?}; `run.succeeded` {outputs}; `run.failed` {error}; `run.cancelled` {reason};
    - `node.started` {effects}; `node.succeeded` {outputs, handles, elapsed_ms, variables?, kept?, why?};
      `node.failed` {error, handled?, variables?}; `node.skipped` {reason, handles?};
      `node.retrying` {error, delay, variables?}; `node.suspended` {until}; `node.unknown` {effects};
      `node.log` {message}; `node.delta` {text, reasoning?, restart?}; a container's `variables` are those that its body set further out;
    - `node.suspended` {id, kind, phase, until, request, hash, state, rules, …}; `node.resumed` {id, phase, action, by, hash};
      `run.suspended` {waiting: [id]};
    - several requests of one node: `node.suspended` has a `key` each; {requests: [id]} says that it waits for earlier ones again;
    - `model.finished` {step, text, tool_calls, finish_reason, usage, model, injected?, …}; `tool.started` {step, name, arguments, effects};
      `tool.finished` {step, name, text, value?, is_error, …}: what a node such as AGENT has done within its attempt;
    - `iteration.item` {index, status}; `loop.round` {round, variables};
    - `call.recorded` {service, request, hash, answer or error}: an answer from outside, in a recorded run.

    `kept` has the numbers of the writes of variables that outlive the run; `latest`, in recorded runs, what a change found.
    A result that is taken from another run has that run's id under `reused`; given outputs that stand in for a node
    have `pinned`.
    """

    type: str
    path: str = ""
    attempt: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    seq: int = 0
    at: float = 0.0
