"""The waits of one run: nodes that are suspended, their answers, and when the whole run is."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlace.engine.protocols import Places
from interlace.engine.run.plan import NodePlan
from interlace.engine.run.result import Recorded
from interlace.engine.run.scope import Scope
from interlace.engine.run.substeps import Requests
from interlace.engine.waits import Answer, Phase, Waiting, Wanted, shown_hash

if TYPE_CHECKING:
    from interlace.engine.run.execution import Execution


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended:
    """A node that waits: it holds no task and no slot; `record` is what it goes on from."""

    scope: Scope
    plan: NodePlan
    path: str
    record: Recorded


class Waits:
    """What the nodes of one execution wait for."""

    def __init__(self, execution: Execution, answers: Mapping[str, Answer] | None) -> None:
        self._execution = execution
        self._pending: dict[str, Suspended] = {}
        self.answers = dict(answers or {})
        """Answers by id of the wait, as far as they are known."""
        self.requests = Requests(execution)
        """Those of nodes with several, and the steps of nodes."""
        self.parked = 0
        """Containers that wait for their bodies and can do nothing until these go on."""

        self.deadlines: dict[str, float] = {}
        """By path: when the time of a container at work is over (Unix time)."""

    @property
    def pending(self) -> list[str]:
        """Ids of what is waited for."""
        return list(self._pending)

    def stops_all(self, tasks: int) -> bool:
        """Whether nothing goes on, with so many tasks in hand, before a wait ends."""
        return bool(self._pending) and tasks <= self.parked and not self._execution.draining

    def deadline(self) -> float | None:
        """When the time of the run, or of a container in it, is over while all that goes on is waiting."""
        seconds = self._execution.plan.document.settings.timeout
        ends = [*self.deadlines.values(), *([self._execution.info.started_at + seconds] if seconds else ())]
        return min(ends, default=None)

    def serves(self, pool: str) -> bool:
        """Whether nodes of a pool run in this process; in an engine of its own all do."""
        try:
            return self._execution.services.get(Places).serves(pool)
        except LookupError:
            return True

    def still(self, scope: Scope, plan: NodePlan, path: str, record: Recorded) -> bool:
        """Take up a recorded wait whose answer has not come; False when the node can go on."""
        wait = record.wait
        if record.status == "suspended" and record.requests and wait is not None and wait.phase == "node":
            return self.requests.still(Suspended(scope=scope, plan=plan, path=path, record=record), record)
        if record.status != "suspended" or wait is None or not wait.id or wait.id in self.answers:
            return False
        if wait.kind == "place" and plan.pool is not None and self.serves(plan.pool):
            return False
        if wait.kind == "timer" and wait.until is not None and wait.until <= self._execution.clock.now():
            return False
        self._pending[wait.id] = Suspended(scope=scope, plan=plan, path=path, record=record)
        return True

    def suspend(self, node: Suspended, wanted: Wanted, phase: Phase, answer: Answer | None = None) -> str:
        """Record that a node waits; gives the id of the wait, which is durable with the next commit.

        With an `answer` that is known already the node goes on at once.
        """
        wait = self.note(node, wanted, phase)
        if answer is not None:
            self.answer(wait.id, answer)
        return wait.id

    def note(self, node: Suspended, wanted: Wanted, phase: Phase) -> Waiting:
        """Record one wait of a node."""
        execution, record = self._execution, node.record
        request, state = execution.redact(dict(wanted.request)), execution.redact(dict(wanted.state))
        wait = Waiting(
            id=wait_id(), kind=wanted.kind, phase=phase, until=wanted.until, request=request,
            hash=shown_hash(request), state=state, key=wanted.key,
        )  # fmt: skip
        data: dict[str, Any] = {
            "id": wait.id, "kind": wait.kind, "phase": phase, "until": wait.until, "request": request,
            "hash": wait.hash, "state": state, "rules": execution.redact(wanted.rules.as_json()),
            "starter": execution.info.trigger.get("by"), "at": execution.clock.now(),
        }  # fmt: skip
        data |= {
            name: value
            for name, value in (
                ("token_hash", wanted.token_hash),
                ("ref", wanted.ref),
                ("key", wanted.key or None),
            )
            if value is not None
        }
        if record.variables:
            data["variables"] = dict(record.variables)
        attempt = 0 if phase == "pause" else record.attempt
        execution.journal.append("node.suspended", node.path, attempt, data)
        record.wait = wait
        self._pending[wait.id] = node
        return wait

    def hold(self, wait_id: str, node: Suspended) -> None:
        """Wait for what was recorded before."""
        self._pending[wait_id] = node

    def answer(self, wait_id: str, answer: Answer) -> bool:
        """Let a node go on; False when nothing of that id waits here."""
        if self._execution.ending.suspended:
            return False
        if wait_id not in self._pending:
            if self.requests.knows(wait_id):  # the node is at work; it hears of it before it waits again
                self.answers.setdefault(wait_id, answer)
            return False
        self.answers[wait_id] = answer
        self.go_on(self._pending.pop(wait_id))
        return True

    def go_on(self, node: Suspended) -> None:
        """Let a node go on; with several requests it waits for none of them until it says so again."""
        for wait in node.record.requests.values():
            self._pending.pop(wait.id, None)
        self._execution.recorded[node.path] = node.record
        self._execution.make_ready(node.scope, node.plan)

    def take(self, record: Recorded | None, phase: Phase, path: str) -> Answer | None:
        """The answer that a node was suspended for in that phase, noted as taken; None when it was not."""
        if (
            record is None
            or record.status != "suspended"
            or record.wait is None
            or record.wait.phase != phase
            or record.wait.key
        ):
            return None
        wait = record.wait
        answer = self.answers.get(wait.id) or Answer(at=self._execution.clock.now())
        if wait.id:
            data = {
                "id": wait.id,
                "phase": phase,
                "action": answer.action,
                "by": answer.by,
                "hash": wait.hash,
            }
            self._execution.journal.append("node.resumed", path, record.attempt, data)
            if self._execution.recording is not None:
                self._execution.recording.waited(path, phase, wait, answer)
        return answer

    def withdraw_inside(self, path: str) -> None:
        """Give up what the body of a container waited for in an earlier turn; the body is not begun again."""
        inside = (f"{path}[", f"{path}#")
        for inner, record in self._execution.recorded.items():
            wait = record.wait if inner.startswith(inside) else None
            if record.status == "suspended" and wait is not None and wait.id and wait.id not in self.answers:
                data = {"id": wait.id, "reason": "the time of the node around it is over"}
                self._execution.journal.append("node.cancelled", inner, record.attempt, data)

    def withdraw(self, scope: Scope) -> None:
        """Give up what the nodes of an ended scope wait for."""
        if not self._pending or self._execution.ending.lets_go:
            return
        for wait_id, node in list(self._pending.items()):
            if node.scope is scope:
                del self._pending[wait_id]
                data = {"id": wait_id, "reason": "it is not needed any more"}
                self._execution.journal.append("node.cancelled", node.path, node.record.attempt, data)


def wait_id() -> str:
    """A new id; later ones of a process sort after earlier ones."""
    moment = int(time.time() * 1000) & 0xFFFF_FFFF_FFFF
    _last[:] = (moment, _last[1] + 1) if moment == _last[0] else (moment, 0)
    return f"{moment:012x}{_last[1] & 0xFFFF:04x}{os.urandom(8).hex()}"


_last = [0, 0]
"""Of the newest id: its millisecond, and how many came before it in that one."""
