"""Starts, watches, cancels and resumes runs in this process.

Every run goes through here: command line, HTTP, Prefect's host, sub-workflows. A run row with its inputs is durable
before anybody is told that the run exists; a lease makes this process its only owner; the journal is the truth.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.clock import SystemClock
from interlace.engine.document import Document
from interlace.engine.errors import InterlaceError, RunCancelled, StoreError
from interlace.engine.inputs import prepare_inputs
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Children, Clock, Services
from interlace.engine.registry import Registry
from interlace.engine.run import Execution, Plan, Recorded, RunResult, compile_plan, prepare
from interlace.flows.children import ChildRuns
from interlace.flows.documents import Pinned, Workflows
from interlace.flows.settings import Settings
from interlace.store import NewRun, Store

_LEASE_SECONDS = 15.0
_BEAT_SECONDS = 0.4
"""Between two looks at cancel requests; a cancel from another process interrupts within a second."""


@dataclass(slots=True, kw_only=True)
class Request:
    """What a run is to be started with."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"kind": "manual"})
    scheduled_for: str | None = None
    parent_run_id: str | None = None
    parent_path: str | None = None
    depth: int = 0
    tags: tuple[str, ...] = ()
    idempotency_key: str | None = None


@dataclass(slots=True, eq=False)
class Active:
    """A run that this process executes."""

    run_id: str
    task: asyncio.Task[RunResult]
    execution: Execution | None = None
    cancelled: str | None = None
