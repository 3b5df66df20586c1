"""The flow that Prefect runs for every workflow: importable by path on any work pool.

Its body asks a runner that is bound late. The host sets one for each run. In a process of Prefect's own process,
Docker or Kubernetes pool it comes from `bind`, or from `INTERLACE_RUNNER=package.module:function` in the work pool's
environment: an async function of (run_id, workflow_id, inputs) that gives an `Outcome`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from tempfile import gettempdir
from typing import Any

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.exceptions import Pause
from prefect.filesystems import LocalFileSystem

from interlace.flows.prefect.connection import PrefectError
from interlace.flows.prefect.outcome import Outcome, state_of

RUNNER_VARIABLE = "INTERLACE_RUNNER"

Runner = Callable[[str | None, str | None, Mapping[str, Any]], Awaitable[Outcome]]

hosted: ContextVar[Runner | None] = ContextVar("hosted", default=None)
_bound: list[Runner] = []


def bind(runner: Runner | None) -> None:
    """Set the runner of this process, None to unset it."""
    _bound[:] = [] if runner is None else [runner]


@flow(name="interlace", persist_result=False, validate_parameters=False)
async def workflow_run(
    run_id: str | None = None, workflow_id: str | None = None, inputs: dict[str, Any] | None = None
) -> State[Any]:
    """Run, or go on with, one run of a workflow.

    Args:
        run_id: the run; None where Prefect started it, so that it has to be made first.
        workflow_id: the workflow.
        inputs: its inputs, or a note in their place where they are large.
    """
    outcome = await _runner()(run_id, workflow_id, inputs or {})
    return await _leave(outcome)


# Nothing is ever stored there: without a storage of its own, Prefect asks its server for one before every run.
workflow_run.result_storage = LocalFileSystem(basepath=gettempdir())


async def _leave(outcome: Outcome) -> State[Any]:
    """Give the state the flow run ends in, or park it: then this flow run's turn ends without an end."""
    state: State[Any] = State.model_validate(state_of(outcome))
    if state.is_final():
        return state
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        raise PrefectError("workflow_run was called outside a flow run, so there is nothing to suspend.")
    async with get_client() as client:
        answer = await client.set_flow_run_state(context.flow_run.id, state, force=state.is_scheduled())
    raise Pause(state=answer.state or state)


def _runner() -> Runner:
    runner = hosted.get() or next(iter(_bound), None) or _named()
    if runner is None:
        raise PrefectError(
            f"No runner is bound in this process: call interlace.flows.prefect.flow.bind(runner) or set "
            f"{RUNNER_VARIABLE}=package.module:function in the work pool's environment."
        )
    return runner


def _named() -> Runner | None:
    name = os.environ.get(RUNNER_VARIABLE)
    if not name:
        return None
    module, _, attribute = name.partition(":")
    try:
        runner: Runner = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PrefectError(f"{RUNNER_VARIABLE}={name!r} names no runner: {error}") from error
    return runner
