"""The pools whose runs and nodes this process takes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from interlace.flows.settings import Settings

NONE = "none"
"""As the name of the only pool: this process takes no runs, it only starts them for others."""


@dataclass(frozen=True, slots=True)
class Served:
    """Implements the engine's `Places`. A run that names no pool belongs to the pool `default`."""

    pools: frozenset[str] = frozenset({"interlace"})
    default: str = "interlace"

    @classmethod
    def of(cls, settings: Settings, pools: Collection[str] | None = None) -> Served:
        """The pools of the settings, or others."""
        wanted = frozenset(pools or settings.pools or [settings.prefect_pool])
        return cls(wanted - {NONE} if wanted == {NONE} else wanted, settings.prefect_pool)

    def serves(self, pool: str | None) -> bool:
        """Whether runs or nodes of a pool run here."""
        return (pool or self.default) in self.pools

    def name(self, pool: str | None) -> str:
        """The name of a run's pool."""
        return pool or self.default
