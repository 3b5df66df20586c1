"""The offline side: what a recorded run heard from outside is given again, and nothing is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from interlace.engine.errors import NodeError, StoreError
from interlace.engine.protocols import Clock, Environment, Files, Journal
from interlace.engine.recording import Caller
from interlace.engine.run.secrets import Secrets
from interlace.engine.waits import Answer, Phase, Waiting
from interlace.flows.comparison import differences
from interlace.flows.recording.boundaries import BOUNDARIES
from interlace.flows.recording.outside import CALL, UNANSWERED, Form, error_restored, hash_of, plain
from interlace.flows.recording.turns import LATEST, NotingJournal, Turns, all_events
from interlace.store import Store
from interlace.store.journal import RunJournal
from interlace.store.references import resolve_data

S = TypeVar("S")
T = TypeVar("T")

_AT_ONCE = ("run", "clock", "wait.")
"""What is asked for where nothing can be awaited; it is read when the run starts."""


@dataclass(slots=True)
class Entry:
    """One kept answer."""

    service: str
    data: Mapping[str, Any]
    used: bool = False


class KeptEnvironment:
    """The environment of the recorded run; secrets are their own masks. Implements `Environment`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def settings(self) -> Mapping[str, Any]:
        """The values of `env` as they were."""
        return self._settings

    def secret(self, name: str) -> str:
        """What stands for a secret in the record."""
        return f"[secrets.{name}]"


class SkippingClock:
    """Time in which pauses take no time. Implements `Clock`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._skipped = 0.0

    def now(self) -> float:
        """The present, and all pauses that were skipped."""
        return self._clock.now() + self._skipped

    async def sleep(self, seconds: float) -> None:
        """Skip a pause."""
        self._skipped += max(seconds, 0.0)
        await asyncio.sleep(0)


class Player:
    """Implements the engine's `Recording` from the `call.recorded` events that the run was made with."""

    offline = True

    def __init__(
        self, entries: Mapping[tuple[str, int], list[Entry]], turns: Turns, journal: RunJournal, clock: Clock
    ) -> None:
        self._entries = entries
        self._turns = turns
        self._loads = journal
        self.journal: Journal = NotingJournal(journal, turns)
        self.clock_of_run = clock
        self._moments: dict[str, tuple[tuple[int, int], datetime]] = {}
        kept = self.find("", "run", None)
        self.kept: dict[str, Any] = dict(kept["answer"])

    @classmethod
    async def open(cls, store: Store, run_id: str, journal: RunJournal, clock: Clock) -> Player:
        """Read what the run was made with, and how far it has come.

        Raises:
            StoreError: it was made with no record.
        """
        entries: dict[tuple[str, int], list[Entry]] = {}
        turns = Turns()
        async for event in all_events(store, run_id):
            if event.type != CALL:
                if event.path:
                    turns.note(event.type, event.path)
                continue
            data = event.data
            if str(data["service"]).startswith(_AT_ONCE):
                data = await resolve_data(data, journal.load)
            entries.setdefault((event.path, data["turn"]), []).append(Entry(data["service"], data))
        if ("", 0) not in entries:
            raise StoreError(f"run {run_id!r} has no record to be replayed from")
        return cls(entries, turns, journal, clock)

    def names(self, names: dict[str, Any]) -> dict[str, Any]:
        """What expressions read as it was in the recorded run."""
        return {**names, **self.kept, "secrets": Secrets(KeptEnvironment(self.kept["env"]))}

    def service(self, protocol: type[S], service: S, caller: Caller) -> S:
        """The service, answered from the record."""
        wanted: Any = protocol
        if wanted is Files:
            return service
        if wanted is Environment:
            kept: Any = KeptEnvironment(self.kept["env"])
            return kept  # type: ignore[no-any-return]
        wrap = BOUNDARIES.get(wanted)
        if wrap is None:
            raise NodeError(
                f"{caller.path} uses {protocol.__name__}, which is not recorded, so it cannot run offline",
                kind="record_mismatch", retryable=False,
            )  # fmt: skip
        wrapped: S = wrap(service, KeptOutside(caller, self))
        return wrapped

    def clock(self, path: str) -> Callable[[], datetime]:
        """The moment that the recorded run read."""

        def now() -> datetime:
            turn = self._turns.of(path), self._turns.resumed.get(path, 0)
            known = self._moments.get(path)
            if known is None or known[0] != turn:
                moment = datetime.fromisoformat(self.find(path, "clock", None)["answer"])
                known = self._moments[path] = turn, moment
            return known[1]

        return now

    async def latest(self, path: str) -> Mapping[str, Any]:
        """What the recorded run found."""
        found: dict[str, Any] = (await self.load(self.find(path, LATEST, None)))["answer"]
        return found

    def waited(self, path: str, phase: Phase, wait: Waiting, answer: Answer) -> None:
        """It came from the record and is kept there."""
        del path, phase, wait, answer

    def answer(self, path: str, phase: Phase, request: Mapping[str, Any]) -> Answer:
        """What ended the wait; pauses are over at once."""
        if phase == "pause":
            return Answer(at=self.clock_of_run.now())
        shown = plain(dict(request))
        try:
            kept = self.find(path, f"wait.{phase}", shown)["answer"]
        except Mismatch as mismatch:
            if mismatch.recorded is None:
                raise
            found = _difference(mismatch.recorded["request"], shown)
            raise Mismatch(path, f"wait.{phase}", mismatch.recorded, found) from None
        return Answer(**{**kept, "answers": tuple(kept["answers"])})

    def find(self, path: str, service: str, request: Any) -> Mapping[str, Any]:
        """The first answer of the try in hand that is not used yet and was given to this request.

        Raises:
            NodeError: `record_mismatch`.
        """
        left = [
            entry
            for entry in self._entries.get((path, self._turns.of(path)), ())
            if entry.service == service and not entry.used
        ]
        wanted = hash_of(request)
        for entry in left:
            if entry.data["hash"] == wanted:
                entry.used = True
                return entry.data
        raise Mismatch(path, service, left[0].data if left else None)

    async def load(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """An entry with its large values."""
        return await resolve_data(data, self._loads.load)


class Mismatch(NodeError):  # noqa: N818 - the name of its kind
    """The recorded run asked for nothing, or for something else; `recorded` is what it asked for next."""

    def __init__(self, path: str, service: str, recorded: Mapping[str, Any] | None, found: str = "") -> None:
        what = f"{path or 'the run'} asks {service}"
        if recorded is None:
            text = f"{what} for what the recorded run did not ask for"
        else:
            text = f"{what} for something else than in the recorded run{found and ': ' + found}"
        super().__init__(text, kind="record_mismatch", retryable=False)
        self.recorded = recorded


class KeptOutside:
    """Implements `Outside` for one attempt."""

    offline = True

    def __init__(self, caller: Caller, player: Player) -> None:
        self.caller = caller
        self._player = player

    def hide(self, text: str, mask: str) -> None:
        """Nothing is new in a replay."""
        del text, mask

    async def ask(
        self, service: str, request: Mapping[str, Any], perform: Callable[[], Awaitable[T]], form: Form[T],
        *, local: bool = False,
    ) -> T:  # fmt: skip
        """The kept answer."""
        shown = self.caller.redact(plain(request))
        try:
            kept = await self._player.load(self._player.find(self.caller.path, service, shown))
        except Mismatch as mismatch:
            if local:
                return await perform()
            if mismatch.recorded is None:
                raise
            recorded = await self._player.load(mismatch.recorded)
            raise Mismatch(
                self.caller.path, service, recorded, _difference(recorded["request"], shown)
            ) from None
        if "error" not in kept:
            return form.restored(kept["answer"])
        if kept["error"]["type"] == UNANSWERED["type"]:
            raise self.caller.too_long()
        raise error_restored(kept["error"])


def _difference(recorded: Any, asked: Any) -> str:
    found = differences(recorded, asked)
    parts = [f"{change.path or 'it'} was {change.before} and is {change.after} now" for change in found[:3]]
    more = f", and {len(found) - 3} more" if len(found) > 3 else ""  # noqa: PLR2004 - as many as are shown
    return "; ".join(parts) + more
