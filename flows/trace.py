"""What agents did in a run, step by step, out of its journal: model calls, tool calls, approvals, delegates.

Large values are references as in the journal's events. What an agent is told to be is never part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from interlace.engine.events import Event
from interlace.flows.recording.turns import all_events
from interlace.store import Store

_STEPS: Final = frozenset({"model.finished", "tool.started", "tool.finished"})
_SPENT: Final = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "latency_ms")
_KINDS: Final = {"check": "check", "summary": "summary", "synthesis": "synthesis", "data": "data"}
_BYTES_A_TOKEN: Final = 4
_OF_RESULTS: Final = ("is_error", "citations", "elapsed_ms", "hooks", "loaded", "usage")


async def agent_trace(store: Store, run_id: str) -> dict[str, Any]:
    """`{run_id, totals, agents: [{path, attempts, status, started_at, ended_at, stop_reason, totals, steps}]}`.

    A step of kind `model` has {step, purpose, at, model, text, reasoning, tool_calls, finish_reason, last, said, usage,
    prompt_tokens: {source: tokens}}; one of kind `tool` {step, name, asked, arguments, effects, outcome, started_at, at,
    elapsed_ms, result, text, is_error, hooks, approvals, steps}, where `steps` are those of a delegate, or of the calls
    of a program. Times are Unix seconds, durations milliseconds.

    Raises:
        NotFoundError: there is no such run.
    """
    await store.runs.get(run_id)
    trace = _Trace()
    async for event in all_events(store, run_id):
        trace.add(event)
    return {
        "run_id": run_id,
        "totals": _totals(trace.agents),
        "agents": [entry.shown() for entry in trace.agents],
    }


class _Trace:
    """The agents of one run, in the order in which they began."""

    def __init__(self) -> None:
        self.agents: list[_Agent] = []
        self._open: dict[str, _Agent] = {}
        self._started: dict[str, float] = {}

    def add(self, event: Event) -> None:
        """Take the next event of the journal."""
        path = event.path
        if event.type == "node.started":
            self._started.setdefault(path, event.at)
        if event.type in _STEPS:
            if path not in self._open:
                self._open[path] = agent = _Agent(path, self._started.get(path, event.at))
                self.agents.append(agent)
            self._open[path].step(event)
        elif path in self._open:
            self._open[path].note(event)
            if event.type in ("node.retrying", "node.succeeded", "node.failed"):
                del self._open[path]
                self._started.pop(path, None)


class _Agent:
    """One agent at work: a node, with its delegates inside."""

    def __init__(self, path: str, started_at: float) -> None:
        self.path = path
        self.status = "running"
        self.steps: dict[str, dict[str, Any]] = {}
        self._started_at = started_at
        self._ended_at: float | None = None
        self._attempts = 1
        self._stop_reason: Any = None
        self._requests: dict[str, tuple[str, dict[str, Any]]] = {}
        """By the id of a request: the step that it is about, and what is told of it."""

    def step(self, event: Event) -> None:
        """Take a step of its work."""
        data, key = event.data, str(event.data.get("step", ""))
        self._attempts = max(self._attempts, event.attempt)
        self.status = "running"
        if event.type == "model.finished":
            self.steps[key] = _model(key, event)
            return
        known = self._tool(key, str(data.get("name", "")))
        if event.type == "tool.started":
            known |= {
                "arguments": data.get("arguments"),
                "effects": data.get("effects"),
                "started_at": event.at,
            }
            known["outcome"] = "running"
            return
        made = bool(data.get("made"))
        known |= {"at": event.at, "result": data.get("value"), "text": data.get("text")}
        known |= {name: data[name] for name in _OF_RESULTS if name in data}
        known["arguments"] = data.get("arguments", known["arguments"])
        refused = "denied" if "deny" in data.get("hooks", ()) else "refused"
        known["outcome"] = ("failed" if data.get("is_error") else "made") if made else refused

    def note(self, event: Event) -> None:
        """Take an event of the node that hosts it."""
        data = event.data
        if event.type == "node.suspended" and data.get("key"):
            key = str(data["key"]).removesuffix("?")
            request = data.get("request", {})
            told = {
                "id": data.get("id"), "title": request.get("title"), "asked_at": event.at, "answered_at": None,
                "action": None, "by": None,
            }  # fmt: skip
            self._requests[str(data.get("id"))] = key, told
            tool = self._tool(key, "")
            tool["approvals"].append(told)
            tool["outcome"] = "waiting"
        elif event.type == "node.resumed" and str(data.get("id")) in self._requests:
            _, told = self._requests[str(data["id"])]
            told.update(answered_at=event.at, action=data.get("action"), by=data.get("by"))
        if event.type in (
            "node.suspended",
            "node.succeeded",
            "node.failed",
            "node.retrying",
            "node.cancelled",
        ):
            self.status = event.type.removeprefix("node.")
            self._ended_at = None if event.type == "node.suspended" else event.at
            outputs = data.get("outputs")
            self._stop_reason = outputs.get("stop_reason") if isinstance(outputs, dict) else None

    def shown(self) -> dict[str, Any]:
        """As programs are told of it; the steps of delegates stand in the calls that made them."""
        self._name()
        top: list[dict[str, Any]] = []
        for key, step in sorted(self.steps.items(), key=lambda entry: _order(entry[0])):
            outer = self.steps.get(key.rpartition("/")[0])
            (top if outer is None or outer is step else outer["steps"]).append(step)
        return {
            "path": self.path, "status": self.status, "attempts": self._attempts, "started_at": self._started_at,
            "ended_at": self._ended_at, "stop_reason": self._stop_reason, "totals": _totals([self]), "steps": top,
        }  # fmt: skip

    def _tool(self, key: str, name: str) -> dict[str, Any]:
        step = self.steps.get(key)
        if step is None:
            step = self.steps[key] = {
                "kind": "tool", "step": key, "name": name, "asked": None, "arguments": None, "effects": None,
                "outcome": "waiting", "started_at": None, "at": None, "elapsed_ms": None, "result": None, "text": None,
                "is_error": False, "hooks": [], "approvals": [], "steps": [],
            }  # fmt: skip
        step["name"] = name or step["name"]
        return step

    def _name(self) -> None:
        """Give each call what the model asked for, which hooks may have changed."""
        for key, step in list(self.steps.items()):
            if step["kind"] != "model":
                continue
            for index, call in enumerate(step["tool_calls"]):
                tool = self.steps.get(f"{key}.{index}")
                if tool is not None and isinstance(call, Mapping):
                    tool["name"] = tool["name"] or call.get("name")
                    tool["asked"] = call.get("arguments")


def _order(key: str) -> list[tuple[int, int, int]]:
    """Where a step stands: calls behind the turn that asked for them, a summary before its turn, what ends it behind."""
    found = []
    for part in key.split("/"):
        name, _, purpose = part.partition("+")
        turn, _, call = name.partition(".")
        rank = {"": 1, "summary": 0}.get(purpose, 2)
        found.append((int(turn or 0), rank, int(call) if call else -1))
    return found


def _model(key: str, event: Event) -> dict[str, Any]:
    data, usage = event.data, event.data.get("usage", {})
    purpose = key.rpartition("/")[2].partition("+")[2]
    calls, sizes = data.get("tool_calls", []), data.get("prompt")
    return {
        "kind": "model", "step": key, "purpose": _KINDS.get(purpose, "turn"), "at": event.at, "model": data.get("model"),
        "text": data.get("text"), "reasoning": data.get("reasoning"), "tool_calls": calls if isinstance(calls, list) else [],
        "finish_reason": data.get("finish_reason"), "last": data.get("last"), "said": data.get("before", []),
        "usage": usage, "prompt_tokens": _by_source(sizes, usage) if isinstance(sizes, dict) else None,
    }  # fmt: skip


def _by_source(sizes: Mapping[str, int], usage: Mapping[str, Any]) -> dict[str, int]:
    """The input tokens that the model's server counted, told apart by size; they add up to its number."""
    whole = sum(sizes.values())
    told = int(usage.get("input_tokens") or 0) or round(whole / _BYTES_A_TOKEN)
    found, given, seen = {}, 0, 0
    for source, size in sizes.items():
        seen += size
        until = round(told * seen / whole) if whole else 0
        found[source], given = until - given, until
    return found


def _totals(agents: list[_Agent]) -> dict[str, Any]:
    steps = [step for agent in agents for step in agent.steps.values()]
    models = [step["usage"] for step in steps if step["kind"] == "model"]
    tools = [step for step in steps if step["kind"] == "tool"]
    costs = [usage.get("cost") for usage in models]
    currencies = {usage.get("currency") for usage in models}
    return {
        "model_calls": len(models), "tool_calls": sum(step["outcome"] in ("made", "failed") for step in tools),
        **{name: round(sum(usage.get(name) or 0 for usage in models), 3) for name in _SPENT},
        "cost": sum(cost for cost in costs if cost is not None) if None not in costs else None,
        "currency": currencies.pop() if len(currencies) == 1 else None,
        "tool_ms": round(sum(step["elapsed_ms"] or 0.0 for step in tools), 3),
    }  # fmt: skip
