"""The recording side: every answer from outside becomes an event of the run, without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from interlace.engine.errors import NodeError
from interlace.engine.protocols import Clock, Journal
from interlace.engine.recording import Caller
from interlace.engine.waits import Answer, Phase, Waiting
from interlace.flows.recording.boundaries import BOUNDARIES
from interlace.flows.recording.outside import (
    CALL,
    UNANSWERED,
    Form,
    error_kept,
    hash_of,
    masked,
    plain,
)
from interlace.flows.recording.turns import NotingJournal, Turns

S = TypeVar("S")
T = TypeVar("T")


class Recorder:
    """Implements the engine's `Recording`: it lets everything through and keeps what comes back."""

    offline = False

    def __init__(self, journal: Journal, clock: Clock, *, began: bool) -> None:
        self._turns = Turns()
        self.journal = NotingJournal(journal, self._turns)
        self._clock = clock
        self._began = began
        self._masks: dict[str, dict[str, str]] = {}
        self._moments: dict[str, tuple[tuple[int, int], datetime]] = {}

    def names(self, names: dict[str, Any]) -> dict[str, Any]:
        """Keep what expressions read of the run and its environment."""
        if not self._began:
            self._keep("", "run", {name: names[name] for name in ("run", "trigger", "env")})
        return names

    def service(self, protocol: type[S], service: S, caller: Caller) -> S:
        """The service with its answers kept."""
        wrap = BOUNDARIES.get(protocol)
        if wrap is None:
            return service
        wrapped: S = wrap(service, RecordedOutside(caller, self._masks.setdefault(caller.path, {})))
        return wrapped

    def clock(self, path: str) -> Callable[[], datetime]:
        """The present moment, read once a try."""

        def now() -> datetime:
            turn = self._turns.of(path), self._turns.resumed.get(path, 0)
            known = self._moments.get(path)
            if known is None or known[0] != turn:
                moment = datetime.fromtimestamp(self._clock.now(), UTC)
                known = self._moments[path] = turn, moment
                self._keep(path, "clock", moment.isoformat())
            return known[1]

        return now

    async def latest(self, path: str) -> None:
        """The store is asked; the event that tells of the change has what was found."""

    def waited(self, path: str, phase: Phase, wait: Waiting, answer: Answer) -> None:
        """Keep what ended a wait."""
        kept = {
            "action": answer.action, "form": dict(answer.form), "by": answer.by, "at": answer.at,
            "comment": answer.comment, "answers": [dict(entry) for entry in answer.answers],
        }  # fmt: skip
        self._keep(path, f"wait.{phase}", kept, plain(dict(wait.request)))

    def answer(self, path: str, phase: Phase, request: Mapping[str, Any]) -> Answer | None:
        """People and time are waited for."""
        del path, phase, request
        return None

    def _keep(self, path: str, service: str, answer: Any, request: Any = None) -> None:
        data = {"service": service, "request": request, "hash": hash_of(request), "answer": answer}
        self.journal.append(CALL, path, 0, data)


class RecordedOutside:
    """Implements `Outside` for one attempt."""

    offline = False

    def __init__(self, caller: Caller, masks: dict[str, str]) -> None:
        self.caller = caller
        self._masks = masks  # of all services that the node asks

    def hide(self, text: str, mask: str) -> None:
        """Let requests show a mask."""
        self._masks[text] = mask

    async def ask(
        self, service: str, request: Mapping[str, Any], perform: Callable[[], Awaitable[T]], form: Form[T],
        *, local: bool = False,
    ) -> T:  # fmt: skip
        """Make the call and keep its answer, or its error."""
        del local
        try:
            answer = await perform()
        except NodeError as error:
            self._keep(service, request, "error", error_kept(error))
            raise
        except asyncio.CancelledError:
            self._keep(service, request, "error", dict(UNANSWERED))
            raise
        self._keep(service, request, "answer", form.kept(answer))
        return answer

    def _keep(self, service: str, request: Mapping[str, Any], name: str, value: Any) -> None:
        # Masked after the call: it may have read secrets of its own.
        shown = self.caller.redact(masked(plain(request), self._masks))
        self.caller.emit(CALL, {"service": service, "request": shown, "hash": hash_of(shown), name: value})
