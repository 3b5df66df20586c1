"""What is said to recorded and offline runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from interlace.engine.principal import Principal
from interlace.engine.protocols import Conversations, Inbox, Said
from interlace.flows.recording.outside import Form, Outside

_AS_IT_IS: Final[Form[list[dict[str, Any]]]] = Form(list, list)
_SAID: Final[Form[list[Said]]] = Form(
    lambda said: [asdict(entry) for entry in said], lambda kept: [Said(**entry) for entry in kept]
)


class RecordedConversations:
    """Implements `Conversations`: what was said in a session when the run read it."""

    def __init__(self, conversations: Conversations, outside: Outside) -> None:
        self._conversations = conversations
        self._outside = outside

    async def history(self, session: str, *, by: Principal) -> list[dict[str, Any]]:
        """What was said in a session."""
        return await self._outside.ask(
            "session", {"session": session}, lambda: self._conversations.history(session, by=by), _AS_IT_IS
        )


class RecordedInbox:
    """Implements `Inbox`: what came is kept with the step before which it came; offline nobody says anything else."""

    def __init__(self, inbox: Inbox, outside: Outside) -> None:
        self._inbox = inbox
        self._outside = outside

    async def after(self, run_id: str, last: str = "") -> Sequence[Said]:
        """What was said to a run."""
        offline = self._outside.offline
        found: list[Said] = [] if offline else list(await self._inbox.after(run_id, last))
        if not (found or offline):
            return []  # silence is not recorded

        async def perform() -> list[Said]:
            return found

        request = {"after": last, "step": self._outside.caller.step}
        return await self._outside.ask("inbox", request, perform, _SAID, local=True)
