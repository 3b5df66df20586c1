"""What the loop works in: the node that hosts it, with keys of its own for each agent that works there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from interlace.agents.loop.spending import Budget, Spending
from interlace.engine.chat import CallSite, ChatModel
from interlace.engine.node import RunContext, RunInfo
from interlace.engine.principal import Principal
from interlace.engine.substeps import SubStep, SubStepKind
from interlace.engine.waits import Answer, Waiting

S = TypeVar("S")


class Work:
    """One agent at work within a node. Steps have keys: `3` is the third model call, `3.0` its first call of a tool.

    Args:
        ctx: the node that hosts the loop.
        prefix: what stands before the keys; `3.0/` for the delegate of that call.
        spending: what this agent uses up; a delegate's counts for the agent that called it too.
    """

    def __init__(self, ctx: RunContext, prefix: str = "", spending: Spending | None = None) -> None:
        self.ctx = ctx
        self.prefix = prefix
        self.spending = spending or Spending()
        self.budget: Budget | None = None
        """The limits of the agent that works here, once it does."""
        self.steps = ctx.substeps

    @property
    def is_delegate(self) -> bool:
        """Whether another agent called this one."""
        return bool(self.prefix)

    def models(self, name: str) -> ChatModel:
        """The models as this run may use them in a step."""
        return self.ctx.service(ChatModel, step=self.prefix + name)

    @property
    def site(self) -> CallSite:
        """Who asks models."""
        return CallSite.of(self.ctx)

    def get(self, name: str) -> SubStep | None:
        """What is recorded of a step."""
        return self.steps.get(self.prefix + name)

    def finished(self, name: str) -> Mapping[str, Any] | None:
        """What a finished step gave."""
        step = self.steps.get(self.prefix + name)
        return None if step is None else step.finished

    def names(self) -> list[str]:
        """What stands in the record of this agent, by the names of its steps and requests."""
        return [key.removeprefix(self.prefix) for key in self.steps.keys(self.prefix)]

    def record(self, kind: SubStepKind, name: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Record a step; gives what stands in the record."""
        return self.steps.record(kind, self.prefix + name, data)

    def request(self, name: str) -> Waiting | None:
        """A request to people that this agent has not gone on with."""
        return self.steps.request(self.prefix + name)

    def answer(self, name: str) -> Answer | None:
        """What ended it."""
        return self.steps.answer(self.prefix + name)

    def take(self, name: str) -> None:
        """Note that this agent goes on with the answer."""
        self.steps.take(self.prefix + name)

    def nested(self, name: str) -> Work:
        """The work of a delegate that a call of a tool starts."""
        return Work(self.ctx, f"{self.prefix}{name}/", Spending(self.spending))

    def call(self, name: str, call_id: str = "") -> CallContext:
        """What one call of a tool acts with; `call_id` is what the model calls it."""
        return CallContext(self, name, call_id)


class CallContext:
    """What one call of a tool acts with. Implements `ToolContext`; `work` lets a tool start a delegate."""

    __slots__ = ("_name", "_nested", "_work", "call_id", "path", "run")

    def __init__(self, work: Work, name: str, call_id: str = "") -> None:
        self._work = work
        self._name = name
        self._nested: Work | None = None
        self.call_id = call_id
        self.run: RunInfo = work.ctx.run
        self.path: str = work.ctx.path

    @property
    def principal(self) -> Principal:
        """Whose rights the call acts with."""
        return self._work.ctx.principal

    @property
    def idempotency_key(self) -> str:
        """Stable for this call over repetitions: `<run>:<path>:<step>`."""
        return f"{self._work.ctx.idempotency_key}:{self._work.prefix}{self._name}"

    @property
    def began(self) -> float:
        """When the call was begun first, Unix time by the run's clock: the same when it is made again."""
        step = self._work.get(self._name)
        started = None if step is None else step.started
        return self.now() if started is None else float(started.get("at", self.run.started_at))

    @property
    def work(self) -> Work:
        """The work of a delegate that this call starts."""
        if self._nested is None:
            self._nested = self._work.nested(self._name)
        return self._nested

    @property
    def budget(self) -> Budget | None:
        """The limits of the agent that makes the call; they hold for its delegate too."""
        return self._work.budget

    @property
    def spent(self) -> Spending | None:
        """What a delegate of this call has used up; None where there was none."""
        return None if self._nested is None else self._nested.spending

    def service(self, protocol: type[S]) -> S:
        """The implementation of a protocol that this process offers."""
        return self._work.ctx.service(protocol, step=self._work.prefix + self._name)

    def hide(self, name: str, value: str) -> None:
        """Keep a secret value out of all that the run records."""
        self._work.ctx.hide(name, value)

    def now(self) -> float:
        """Unix time in seconds, by the run's clock."""
        return self._work.ctx.now()

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event to the journal."""
        self._work.ctx.emit(kind, data)
