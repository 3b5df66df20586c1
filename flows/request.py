"""What a run is started with, whoever starts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.store.run_row import Run

POOL = {"via": "pool"}
"""In a run's trigger: Prefect's work pool starts it, and Prefect shows it itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Inputs and circumstances of a new run; `parent` is the run whose node at `parent_path` starts it."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"kind": "manual"})
    environment: str = "dev"
    owner: str = "local"
    scheduled_for: float | None = None
    parent: Run | None = None
    parent_path: str | None = None
    tags: tuple[str, ...] = ()
    idempotency_key: str | None = None
