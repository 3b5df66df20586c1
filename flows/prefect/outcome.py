"""How a turn of a run ended, as the host tells Prefect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

OutcomeState = Literal["succeeded", "failed", "cancelled", "suspended", "interrupted"]

_STATES: Mapping[OutcomeState, tuple[str, str]] = {
    "succeeded": ("COMPLETED", "Completed"),
    "failed": ("FAILED", "Failed"),
    "cancelled": ("CANCELLED", "Cancelled"),
    "suspended": ("PAUSED", "Suspended"),
    "interrupted": ("SCHEDULED", "AwaitingRetry"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a turn.

    `suspended`: the run waits and holds nothing; `interrupted`: it was not finished here and is to be taken up again.
    """

    state: OutcomeState
    message: str | None = None


def state_of(outcome: Outcome) -> dict[str, Any]:
    """Give the state that shows an outcome, as Prefect's API takes it."""
    kind, name = _STATES[outcome.state]
    details = {"pause_reschedule": True} if outcome.state == "suspended" else {}
    return {"type": kind, "name": name, "message": outcome.message, "state_details": details}


class Runs(Protocol):
    """The engine and its journal as the host sees them. Everything is called on the loop the host was started on."""

    async def adopt(self, flow_run_id: str, workflow_id: str, inputs: Mapping[str, Any]) -> str | None:
        """Make the run of a flow run that was started from Prefect's side; its run id, None to refuse it.

        Called again for the same flow run, it gives the same run id.
        """
        ...

    async def claim(self, flow_run_id: str, run_id: str) -> bool:
        """Take the run's lease; False if another has it, or the run is over."""
        ...

    async def release(self, flow_run_id: str, run_id: str) -> None:
        """Give a claimed run back that will not be executed here."""
        ...

    async def execute(self, run_id: str, inputs: Mapping[str, Any]) -> Outcome:
        """Run a claimed run until it ends or waits.

        `inputs` are those Prefect knows, a note in their place where they are large: the store has the real ones.
        Cancellation of this coroutine means that the host stops; the run is taken up elsewhere.
        """
        ...

    async def shown(self, run_id: str, outcome: Outcome) -> None:
        """Hear that Prefect shows the run's outcome now."""
        ...

    async def parked(self, flow_run_id: str, run_id: str) -> bool:
        """Hear that Prefect shows the run as suspended; True if what it waits for came meanwhile."""
        ...

    async def cancel(self, run_id: str) -> None:
        """Cancel the run, wherever it is; nothing happens to one that is over."""
        ...

    async def is_alive(self, run_id: str) -> bool:
        """Whether somebody holds the run's lease."""
        ...

    async def standing(self, run_id: str) -> Outcome | None:
        """How a run stands that Prefect shows at work: its end, `suspended`, or `interrupted` where nobody has it.

        None where somebody does, and of runs that are none of the pool's or not known here.
        """
        ...
