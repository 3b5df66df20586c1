"""What has to reach Prefect some time, whether or not it answers now: how runs ended, which may go on."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from interlace.flows.prefect.connection import PrefectApi, PrefectRefused, PrefectUnavailable
from interlace.flows.prefect.outcome import Outcome, state_of

_LOG = logging.getLogger(__name__)


class Settlement:
    """Outcomes and resumptions, kept until Prefect took them.

    Args:
        api: the client to use.
        shown: hears that Prefect shows the outcome of a run; of a flow run that Prefect does not have it hears nothing.
    """

    def __init__(self, api: PrefectApi, shown: Callable[[str, Outcome], Awaitable[None]]) -> None:
        self._api = api
        self._shown = shown
        self._outcomes: dict[UUID, tuple[str, Outcome]] = {}
        self._resumed: set[UUID] = set()

    async def show(self, flow_run_id: UUID, run_id: str, outcome: Outcome) -> None:
        """Make Prefect show the outcome of a run, now or later, whatever it shows."""
        self._outcomes[flow_run_id] = run_id, outcome
        with contextlib.suppress(PrefectUnavailable):
            await self.go_on()

    async def resume(self, flow_run_id: UUID) -> None:
        """Let a suspended flow run go on, now or later."""
        self._resumed.add(flow_run_id)
        with contextlib.suppress(PrefectUnavailable):
            await self.go_on()

    async def go_on(self) -> None:
        """Send what is left.

        Raises:
            PrefectUnavailable: Prefect does not answer; nothing is lost.
        """
        for flow_run_id, (run_id, outcome) in list(self._outcomes.items()):
            taken = await self._send(
                f"/flow_runs/{flow_run_id}/set_state", {"state": state_of(outcome), "force": True}
            )
            self._outcomes.pop(flow_run_id, None)
            if taken and outcome.state != "interrupted":
                await self._shown(run_id, outcome)
        for flow_run_id in list(self._resumed):
            await self._send(f"/flow_runs/{flow_run_id}/resume", {})
            self._resumed.discard(flow_run_id)

    async def _send(self, path: str, body: Mapping[str, Any]) -> bool:
        try:
            await self._api.post(path, body)
        except PrefectRefused as refusal:
            # The flow run was deleted: it is let go.
            _LOG.warning("%s", refusal)
            return False
        return True
