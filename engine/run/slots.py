"""The run's max_concurrency: places for running nodes, and the line of those that wait for one."""

from __future__ import annotations

from collections import deque

from interlace.engine.run.plan import NodePlan
from interlace.engine.run.scope import Scope


class Slots:
    """At most `limit` nodes of a run at once; the others wait in the order in which they became ready."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: deque[tuple[Scope, NodePlan]] = deque()

    @property
    def full(self) -> bool:
        """Whether a node that is ready now has to wait."""
        return self._free <= 0

    def wait(self, scope: Scope, plan: NodePlan) -> None:
        """Stand in line."""
        self._waiting.append((scope, plan))

    def take(self) -> None:
        """Occupy a place."""
        self._free -= 1

    def give_back(self) -> None:
        """Leave a place."""
        self._free += 1

    def next(self) -> tuple[Scope, NodePlan] | None:
        """The first in line whose scope still lives, when there is a place."""
        while self._waiting and self._free > 0:
            scope, plan = self._waiting.popleft()
            if not scope.is_over():
                return scope, plan
        return None
