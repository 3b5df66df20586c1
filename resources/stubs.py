"""Short forms of stored resources, kept in memory for as long as the resources stay as they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from interlace.engine.principal import Principal
from interlace.store.resources import Resource, ResourceRepository

T = TypeVar("T")
_KEPT = 10_000


class Stubs(Generic[T]):
    """What a turn is told of all resources of a kind: one quick query while nothing has changed.

    Args:
        resources: where they are kept.
        kind: the kind.
        make: the short form of a resource.
    """

    def __init__(self, resources: ResourceRepository, kind: str, make: Callable[[Resource], T]) -> None:
        self._resources = resources
        self._kind = kind
        self._make = make
        self._known: OrderedDict[str, tuple[int, T]] = OrderedDict()

    async def visible(self, *, by: Principal) -> list[T]:
        """Those of the active resources that `by` sees: one's own first, then organisations', then the market's."""
        marks = await self._resources.marks(self._kind, by=by, active=True)
        found: dict[str, T] = {}
        for mark in marks:
            known = self._known.get(mark.id)
            if known is not None and known[0] == mark.version:
                self._known.move_to_end(mark.id)
                found[mark.id] = known[1]
        missing = {mark.id for mark in marks} - found.keys()
        for resource in await self._resources.many(missing, by=by):
            made = found[resource.id] = self._make(resource)
            self._known[resource.id] = resource.version, made
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return [found[mark.id] for mark in marks if mark.id in found]
