"""The steps within nodes of one run, and the requests of nodes that have several."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from interlace.engine.substeps import OnUnknown, SubStep, SubStepKind
from interlace.engine.waits import Answer, Phase, Waiting, Wanted

if TYPE_CHECKING:
    from interlace.engine.run.context import Context
    from interlace.engine.run.execution import Execution
    from interlace.engine.run.result import Recorded
    from interlace.engine.run.waiting import Suspended


class NodeSubSteps:
    """The steps of one node. Implements `SubSteps`."""

    __slots__ = ("_context", "_execution", "_held", "_steps")

    def __init__(self, execution: Execution, context: Context) -> None:
        self._execution = execution
        self._context = context
        self._held = execution.waits.requests
        self._steps = self._held.steps_of(context.path)

    @property
    def on_unknown(self) -> OnUnknown:
        """What the document says about work whose outcome nobody knows."""
        return self._context.plan.spec.on_unknown

    def get(self, key: str) -> SubStep | None:
        """What is recorded of a step."""
        return self._steps.get(key)

    def keys(self, prefix: str) -> list[str]:
        """The keys of steps and requests that begin so."""
        requests = self._held.of(self._context.path)
        return [key for key in dict.fromkeys((*self._steps, *requests)) if key.startswith(prefix)]

    def redact(self, data: dict[str, Any]) -> dict[str, Any]:
        """Data as it would stand in the record."""
        kept: dict[str, Any] = self._execution.redact(data)
        return kept

    def record(self, kind: SubStepKind, key: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Record a step; gives what stands in the record."""
        context = self._context
        kept: dict[str, Any] = self._execution.redact({"step": key, **data})
        self.take(key)
        self._execution.emit(kind, context.path, context.attempt, kept)
        step = self._steps.setdefault(key, SubStep())
        if kind == "tool.started":
            step.started = kept
        else:
            step.finished = kept
        return kept

    def take(self, key: str) -> None:
        """Note that the node goes on with an answer."""
        self._held.take(self._context.path, key, self._context.attempt)

    async def commit(self) -> None:
        """Wait until all that was recorded is durable."""
        await self._execution.commit()

    @asynccontextmanager
    async def once(self) -> AsyncIterator[None]:
        """Around work that must not be done twice."""
        execution = self._execution
        if execution.draining:
            await asyncio.get_running_loop().create_future()  # until the process lets go of the run
        execution.fragile += 1
        try:
            yield
        finally:
            execution.fragile -= 1

    @property
    def heard(self) -> str:
        """The id of the newest thing said to the run that a node has taken up."""
        return self._held.heard

    def hear(self, said: str) -> None:
        """Take up what was said until that id."""
        self._held.heard = max(self._held.heard, said)

    def request(self, key: str) -> Waiting | None:
        """A request of the node that it has not gone on with."""
        return self._held.of(self._context.path).get(key)

    def answer(self, key: str) -> Answer | None:
        """What ended the request of that key."""
        wait = self.request(key)
        return None if wait is None else self._execution.waits.answers.get(wait.id)


class Requests:
    """What is held in memory of nodes with steps: these, and the requests that they have not gone on with."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._open: dict[str, dict[str, Waiting]] = {}
        self._paths: dict[str, str] = {}
        """Path by the id of a request."""
        self._steps: dict[str, dict[str, SubStep]] = {}
        self.heard = max((record.heard for record in execution.recorded.values()), default="")

    def steps_of(self, path: str) -> dict[str, SubStep]:
        """The steps of a node by their keys; the first call takes what an earlier turn recorded."""
        if path not in self._steps:
            record = self._execution.recorded.get(path)
            self._steps[path] = {} if record is None else dict(record.substeps)
        return self._steps[path]

    def of(self, path: str) -> dict[str, Waiting]:
        """The requests of a node by their keys."""
        if path not in self._open:
            record = self._execution.recorded.get(path)
            self._open[path] = {} if record is None else dict(record.requests)
            self._paths.update((wait.id, path) for wait in self._open[path].values())
        return self._open[path]

    def knows(self, wait_id: str) -> bool:
        """Whether a request belongs to a node that goes on with it."""
        return wait_id in self._paths

    def suspend(
        self, node: Suspended, wanted: Sequence[Wanted], phase: Phase, known: Sequence[Answer | None]
    ) -> str:
        """Record that a node waits for several answers; gives the id of the first request.

        What it asked for before stays as it is: neither lost nor asked twice.
        """
        waits, held = self._execution.waits, self.of(node.path)
        kept = [held[entry.key].id for entry in wanted if entry.key in held]
        fresh = [
            (entry, answer) for entry, answer in zip(wanted, known, strict=True) if entry.key not in held
        ]
        for wait_id in kept:
            waits.hold(wait_id, node)
        for entry, answer in fresh:
            wait = waits.note(node, entry, phase)
            held[entry.key] = wait
            self._paths[wait.id] = node.path
            if answer is not None:
                waits.answers[wait.id] = answer
        if not fresh:
            data = {"kind": wanted[0].kind, "phase": phase, "until": None, "requests": kept}
            self._execution.journal.append("node.suspended", node.path, node.record.attempt, data)
        node.record.requests = held
        if any(wait.id in waits.answers for wait in held.values()):
            waits.go_on(node)
        return held[wanted[0].key].id

    def still(self, node: Suspended, record: Recorded) -> bool:
        """Take up the recorded requests of a node; False when one of them has been answered."""
        waits, held = self._execution.waits, self.of(node.path)
        record.requests = held
        if any(wait.id in waits.answers for wait in held.values()):
            return False
        for wait in held.values():
            waits.hold(wait.id, node)
        return bool(held)

    def take(self, path: str, key: str, attempt: int) -> None:
        """Note that a node goes on with an answer."""
        wait = self.of(path).get(key)
        answer = None if wait is None else self._execution.waits.answers.get(wait.id)
        if wait is None or answer is None:
            return
        del self._open[path][key], self._paths[wait.id]
        data = {
            "id": wait.id, "key": key, "phase": wait.phase, "action": answer.action, "by": answer.by, "hash": wait.hash,
        }  # fmt: skip
        self._execution.journal.append("node.resumed", path, attempt, data)
        if self._execution.recording is not None:
            self._execution.recording.waited(path, wait.phase, wait, answer)

    def close(self, path: str, attempt: int) -> None:
        """Forget a node that has ended; requests that are still open are given up."""
        self._steps.pop(path, None)
        if path in self._execution.recorded:
            self.of(path)
        for wait in self._open.pop(path, {}).values():
            self._paths.pop(wait.id, None)
            if wait.id not in self._execution.waits.answers:
                data = {"id": wait.id, "reason": "it is not needed any more"}
                self._execution.journal.append("node.cancelled", path, attempt, data)
