"""Changes of variables that outlive the run: made on their newest values, in the commit that records the node's success."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Generic

from interlace.engine.errors import StoreError
from interlace.engine.expressions import Missing, Names
from interlace.engine.node import O
from interlace.engine.run.faults import not_recorded
from interlace.engine.run.result import outputs_of
from interlace.engine.run.scope import Layered
from interlace.engine.variables import (
    ABSENT,
    VariableView,
    Written,
    check_value,
    kept_value,
    readable,
    unknown_variable,
)

if TYPE_CHECKING:
    from interlace.engine.run.context import Context
    from interlace.engine.run.execution import Execution


class Trial:
    """The variables with their newest values; what is assigned stays here. Implements `VariableView`."""

    def __init__(self, execution: Execution, context: Context, newest: Mapping[str, Any]) -> None:
        self._scope = context.scope
        self._declared = execution.plan.document.variables
        self._own: dict[str, Any] = execution.root.names["vars"]
        self._run = {**self._own, **newest}
        self._front: dict[str, Any] = {"vars": self._run}
        self.names: Names = Layered(self._front, context.scope)
        self.assigned: dict[str, Any] = {}

    def variable(self, name: str) -> Any:
        """Value of the nearest loop variable of that name, else of the run variable."""
        holder = self._scope.holder(name)
        if holder is not self._own:
            return self._front.get(name, holder[name])
        if name not in self._run:
            raise unknown_variable(name, self._declared)
        return readable(name, self._run[name])

    def assign(self, variable: str, value: Any) -> None:
        """Set it for what is assigned later."""
        if self._scope.holder(variable) is self._own:
            check_value(variable, value, self._declared)
            # A new mapping: a value may hold the one that was there.
            self._front["vars"] = self._run = {**self._run, variable: value}
        else:
            self._front[variable] = value
        self.assigned[variable] = value


class NodeChange(Generic[O]):
    """What one node does to kept variables. Implements `Change`."""

    def __init__(
        self, execution: Execution, context: Context, names: Sequence[str], work: Callable[[VariableView], O]
    ) -> None:
        self.names = names
        self.path = context.path
        self.attempt = context.attempt
        self.written: Written | None = None
        self.failure: Exception | None = None
        self.output: O | None = None
        self.assigned: dict[str, Any] = {}
        self._execution = execution
        self._context = context
        self._work = work
        self._variables = copy_context()  # the clock that the node's expressions read

    def compute(self, latest: Mapping[str, Any] | None) -> Written:
        """Do the node's work with the newest values."""
        self.written = self._variables.run(self._compute, latest)
        return self.written

    def refuse(self, error: StoreError) -> Written:
        """The node fails for what it would have kept."""
        self.failure = not_recorded(self._context.plan, error)
        self.written = self._nothing(None)
        return self.written

    def _compute(self, latest: Mapping[str, Any] | None) -> Written:
        execution, context = self._execution, self._context
        newest: dict[str, Any] = {}
        if latest is not None:
            declared = execution.plan.document.variables
            newest = {name: kept_value(name, declared[name], latest.get(name, ABSENT)) for name in self.names}
        trial, began = Trial(execution, context, newest), time.perf_counter()
        self.failure = self.output = None
        try:
            self.output = output = self._work(trial)
        except Exception as failure:  # noqa: BLE001 - the node boundary: the attempt fails for it
            self.failure = failure
            return self._nothing(newest)
        self.assigned = {name: execution.redact(value) for name, value in trial.assigned.items()}
        values = {name: self.assigned[name] for name in newest if name in self.assigned}
        taken = context.plan.handles[:1] if context.taken is None else context.taken
        data = context.result(
            execution.redact(outputs_of(output)), taken, (time.perf_counter() - began) * 1000,
            {**(context.assigned or {}), **self.assigned},
        )  # fmt: skip
        return Written(kind="node.succeeded", data=data | self._noted(newest), values=values)

    def _nothing(self, newest: Mapping[str, Any] | None) -> Written:
        message = self._execution.redact(f"no variable was changed: {self.failure}")
        return Written(kind="node.log", data={"message": message} | self._noted(newest))

    def _noted(self, newest: Mapping[str, Any] | None) -> dict[str, Any]:
        """For a recorded run: what it found, which an offline one is given again."""
        if self._execution.recording is None or newest is None:
            return {}
        found = {name: value for name, value in newest.items() if not isinstance(value, Missing)}
        return {"latest": self._execution.redact(found)}


async def keep(
    execution: Execution, context: Context, names: Sequence[str], work: Callable[[VariableView], O]
) -> O:
    """Do a node's work on the newest values of kept variables; gives its output once all of it is durable.

    Raises:
        NodeError: what the work raised; nothing was changed.
        StoreError: it could not be made durable.
    """
    change, recording = NodeChange(execution, context, names, work), execution.recording
    found = None if recording is None else await recording.latest(context.path)
    if found is not None:
        change.compute(found)
    else:
        await _through(execution.journal.change(change), change)
    if change.failure is not None:
        raise change.failure
    assert change.output is not None
    for variable, value in change.assigned.items():
        context.note_assigned(variable, value)
    context.recorded = found is None
    return change.output


async def _through(commit: Awaitable[None], change: NodeChange[Any]) -> None:
    """Wait for a commit. It cannot be called back: whoever is cancelled meanwhile has succeeded, if it does."""
    waiting, cancelled = asyncio.ensure_future(commit), False
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            cancelled = True
    waiting.result()
    if cancelled and change.failure is not None:
        raise asyncio.CancelledError
