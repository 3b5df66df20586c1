"""Runs the passes of a container's body: one scope a pass, at most `parallel` at once, no task of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from interlace.engine.node import BodyOutcome
from interlace.engine.run.scope import Scope, ScopeEnd

if TYPE_CHECKING:
    from interlace.engine.run.context import Context
    from interlace.engine.run.execution import Execution


class BodyRunner:
    """The passes of one run of one container. Implements `Bodies`."""

    def __init__(self, execution: Execution, context: Context) -> None:
        self._execution = execution
        self._scope = context.scope
        self._plan = context.plan
        self._path = context.path
        self._next = 0
        if context.assigned is None:
            context.assigned = {}
        self._written = context.assigned

    async def run(
        self,
        passes: Iterable[Mapping[str, Any]],
        *,
        parallel: int,
        done: Callable[[int, BodyOutcome], bool],
        variables: dict[str, Any] | None = None,
    ) -> None:
        """Run one pass for each mapping of extra names; see `Bodies.run`."""
        batch = _Batch(self, iter(passes), parallel, done, variables)
        batch.launch()
        try:
            await batch.wait()
        finally:
            batch.abandon()

    def park(self, change: int) -> None:
        """Say that one container more, or less, waits for its body."""
        self._execution.waits.parked += change

    def open_pass(
        self,
        names: Mapping[str, Any],
        variables: dict[str, Any] | None,
        on_end: Callable[[int, Scope, ScopeEnd, dict[str, Any] | None], None],
    ) -> tuple[int, Scope]:
        """Start one pass and give its number and scope."""
        index, self._next = self._next, self._next + 1
        assert self._plan.body is not None
        prefix = f"{self._path}{type(self._plan.node).pass_format.format(index)}."
        scope = Scope(
            self._plan.body,
            self._scope,
            prefix,
            names=dict(names),
            on_end=_unset,
            variables=variables,
            written=self._written,
        )
        scope.on_end = partial(on_end, index, scope)
        self._execution.open_scope(scope)
        return index, scope

    def close_pass(self, scope: Scope) -> None:
        """End a pass that nobody waits for any more."""
        self._execution.abandon(scope)


class _Batch:
    """One call of `BodyRunner.run`."""

    def __init__(
        self,
        runner: BodyRunner,
        passes: Iterator[Mapping[str, Any]],
        parallel: int,
        done: Callable[[int, BodyOutcome], bool],
        variables: dict[str, Any] | None,
    ) -> None:
        self._runner = runner
        self._passes: Iterator[Mapping[str, Any]] | None = passes
        self._parallel = parallel
        self._done = done
        self._variables = variables
        self._active: dict[int, Scope] = {}
        self._parked = False
        self._finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self) -> None:
        """Wait until the batch is finished."""
        self._park(not self._finished.done())
        try:
            await self._finished
        finally:
            self._park(False)

    def _park(self, parked: bool) -> None:
        # Ended where the batch ends, not when its container hears of it: in between the run is not at a standstill.
        if parked is not self._parked:
            self._parked = parked
            self._runner.park(1 if parked else -1)

    def launch(self) -> None:
        """Start passes up to the limit; when none is left the batch is finished."""
        while self._passes is not None and len(self._active) < self._parallel:
            names = next(self._passes, None)
            if names is None:
                self._passes = None
                break
            index, scope = self._runner.open_pass(names, self._variables, self._ended)
            self._active[index] = scope
        if not self._active and not self._finished.done():
            self._park(False)
            self._finished.set_result(None)

    def _ended(self, index: int, scope: Scope, status: ScopeEnd, error: dict[str, Any] | None) -> None:
        if self._active.pop(index, None) is None or status == "abandoned":
            return
        try:
            go_on = self._done(index, BodyOutcome(status=status, names=scope, error=error))
        except Exception as failure:  # noqa: BLE001 - it belongs to the node that waits for the batch
            self._passes = None
            if not self._finished.done():
                self._park(False)
                self._finished.set_exception(failure)
            return
        if not go_on:
            self._passes = None
            self.abandon()
        self.launch()

    def abandon(self) -> None:
        """End the passes under way; nobody waits for them any more."""
        active, self._active = self._active, {}
        for scope in active.values():
            self._runner.close_pass(scope)


def _unset(_status: ScopeEnd, _error: dict[str, Any] | None) -> None:
    """Stand-in until the scope knows its number."""
