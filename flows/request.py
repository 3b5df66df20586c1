"""What a run is started with, whoever starts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.principal import Principal
from interlace.store.run_row import Run, Seed
from interlace.store.runs import Also

POOL = {"via": "pool"}
"""In a run's trigger: Prefect's work pool starts it, and Prefect shows it itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Inputs and circumstances of a new run; `parent` is the run whose node at `parent_path` starts it."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"kind": "manual"})
    environment: str = "dev"
    owner: str = "local"
    """The user whose rights the run acts with."""
    principal: Principal | None = None
    """The same user as a principal, where it is known already; else it is looked up."""
    org_id: str | None = None
    """The organisation whose workflow it is: its members see the run's requests to people."""
    scheduled_for: float | None = None
    parent: Run | None = None
    parent_path: str | None = None
    depth: int = 0
    """How many of our runs called each other from outside until this one came about; a child counts from its parent."""
    tags: tuple[str, ...] = ()
    idempotency_key: str | None = None
    test: bool = False
    """A test run: given outputs may stand in for nodes, and nothing follows from how it ends."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How it is run: `record`, `offline`, `pins` {node: {outputs, handles}}, `replay` {from, set, version}."""
    replayed_from: str | None = None
    seeds: tuple[Seed, ...] = ()
    """Results of the run `replayed_from` that this one begins with."""
    also: Also | None = None
    """What is committed together with the run's row."""
