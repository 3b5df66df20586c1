"""Requests of the wire format as turns of sessions: begun, gone on with, followed, and remembered."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.engine.document import Document
from interlace.engine.principal import Principal
from interlace.engine.waits import Answer
from interlace.flows.platform import Platform
from interlace.flows.stateless import (
    Asked,
    Entry,
    Found,
    Stateless,
    Target,
    chain,
    chain_start,
    question_of,
    split,
)
from interlace.server.asked import Pending, pending_of
from interlace.server.encoding import to_json
from interlace.server.openai.errors import WireError
from interlace.server.openai.following import Ended, Following, Piece, Text, streamed_nodes
from interlace.server.openai.pending import answer_by, is_nudge, notice
from interlace.store.keys import Key
from interlace.store.places import Place
from interlace.store.sessions import Message

_AGAIN_SECONDS = 900.0
"""So long a request that is sent again is taken for the one before."""


_KEY_SECONDS = 86_400.0
"""So long an Idempotency-Key stands for its request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A turn that is wanted.

    Args:
        target: of whom.
        document: the workflow's.
        entries: the conversation.
        asked: what for besides: see `flows.conversation.ASKED`.
        session: the session to go on in, where the client names it; the conversation is what is new then.
        found: the place where to go on, where the client names an answer.
        key: names this very request: sent again, it is not asked again.
        again: whether the client says that it sends the request again.
    """

    target: Target
    document: Document | None
    entries: Sequence[Entry]
    asked: Mapping[str, Any]
    session: str | None = None
    found: Found | None = None
    key: str | None = None
    again: bool = False


@dataclass(slots=True, kw_only=True)
class Begun:
    """A turn at work, as one request sees it: from event `after` on; `then` is asked when it has ended."""

    found: Found
    answer: Message
    after: int
    wanted: Wanted
    then: str | None = None
    note: str | None = None
    """Said at once, instead of following: the turn waits for people."""
    pending: Pending = field(default_factory=Pending)
    unsaid: tuple[str, ...] = ()
    used: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    """What runs had used up before."""
    until: float | None = None
    """When whoever waits gives up, by the event loop's clock."""

    patient: bool = False
    """Whether it is followed to its end, however long it waits."""

    @property
    def continues(self) -> bool:
        """Whether the turn was begun by an earlier request."""
        return self.found.place is not None and "run" in self.found.place.data


class Turns:
    """The turns of one caller."""

    def __init__(self, platform: Platform, by: Principal, key: Key, leaving: asyncio.Event) -> None:
        self._platform = platform
        self._stateless = Stateless(platform.store, platform.chat)
        self._by = by
        self._key = key
        self._leaving = leaving

    @property
    def leaving(self) -> bool:
        """Whether the server is ending, so that what it follows is not over."""
        return self._leaving.is_set()

    @staticmethod
    def left() -> WireError:
        """What is told of a turn whose server ends before it: sent again, the request finds it."""
        return WireError(
            503,
            "the server is restarting; the turn goes on, and the same request finds it",
            code="restarting",
        )

    # -- beginning -----------------------------------------------------------------------------------------------------

    async def begin(self, wanted: Wanted) -> Begun:
        """Begin a turn, or go on with one.

        Raises:
            WireError, InterlaceError: it cannot be.
        """
        names = self._names(wanted)
        if wanted.key is None:
            return await self._known(wanted, names) or await self._begin(wanted, names)
        answers, asked = self._platform.store.answers, _fingerprint(wanted, names)
        claim = hashlib.sha256(f"/v1\n{self._by.user_id}\n{wanted.key}".encode()).hexdigest()
        before = await answers.claim(claim, asked)
        if before is not None and before.fingerprint != asked:
            raise WireError(
                422,
                "the Idempotency-Key was sent with another request before; give each request a key of its own",
                code="idempotency_mismatch",
            )
        if before is not None and before.status is None:
            raise WireError(
                409,
                "the request with this Idempotency-Key is being begun; send it again",
                code="idempotency_at_work",
            )
        try:
            begun = await self._known(wanted, names) or await self._begin(wanted, names)
        except BaseException:
            if before is None:
                await answers.forget(claim)
            raise
        if before is None:
            await answers.keep(claim, 200, b"", lasts=_KEY_SECONDS)
        return begun

    async def _begin(self, wanted: Wanted, names: Sequence[str]) -> Begun:
        found = wanted.found or await self._find(wanted)
        if found.place is not None and "run" in found.place.data:
            begun = await self._go_on(found, found.place, wanted)
        else:
            text, files = question_of(found.said)
            turn = await self._stateless.ask(found, Asked(text, files, wanted.asked), by=self._by)
            begun = Begun(found=found, answer=turn.answer, after=0, wanted=wanted)
        place = Place(
            key="", session_id=found.session_id, message_id=begun.answer.id, data={"seq": begun.after}
        )
        asked = {"asked": _fingerprint(wanted, names)}
        await self._note(self._by.user_id, place, place.data, dict.fromkeys(names, asked))
        return begun

    def _names(self, wanted: Wanted) -> list[str]:
        """The keys by which this very request is known when it is sent again."""
        after = wanted.session or (wanted.found.parent_id if wanted.found is not None else None) or ""
        found = [f"sent:{after}:{chain(wanted.target.key, wanted.entries)[-1]}"]
        if wanted.key is not None:
            found.append(f"key:{hashlib.sha256(wanted.key.encode()).hexdigest()}")
        return found

    async def _known(self, wanted: Wanted, names: Sequence[str]) -> Begun | None:
        """The turn that an earlier sending of the request has begun."""
        looked = [name for name in names if name.startswith("key:") or wanted.again]
        places = await self._platform.store.places.find(self._by.user_id, looked) if looked else {}
        for place in places.values():
            if place.key.startswith("key:"):
                if place.data.get("asked") != _fingerprint(wanted, names):
                    continue
            elif time.time() - place.at > _AGAIN_SECONDS:
                continue
            answer = await self._platform.store.sessions.message(place.message_id)
            before, said = split(wanted.entries)
            found = wanted.found or Found(
                session_id=place.session_id,
                parent_id=answer.parent_id,
                place=None,
                said=said,
                before=(chain(wanted.target.key, before) or [chain_start(wanted.target.key)])[-1],
            )
            return Begun(found=found, answer=answer, after=int(place.data.get("seq", 0)), wanted=wanted)
        return None

    async def _find(self, wanted: Wanted) -> Found:
        if wanted.session is None:
            return await self._stateless.find(wanted.target, wanted.entries, by=self._by)
        session = await self._platform.store.sessions.get(wanted.session, owner=self._by.user_id)
        if any(entry.role == "assistant" for entry in wanted.entries):
            raise WireError(
                400,
                "a session holds its history itself: send what is new only",
                code="invalid_value",
                param="messages",
            )
        if (session.agent_id, session.workflow_id) != (wanted.target.agent_id, wanted.target.workflow_id):
            raise WireError(400, "the session talks to another model", code="invalid_value", param="model")
        start = f"session:{session.id}:{session.head or ''}"
        places = await self._platform.store.places.find(self._by.user_id, [start])
        return Found(
            session_id=session.id, parent_id=session.head, place=places.get(start), said=tuple(wanted.entries),
            before=start,
        )  # fmt: skip

    # -- going on ------------------------------------------------------------------------------------------------------

    async def _go_on(self, found: Found, place: Place, wanted: Wanted) -> Begun:
        store, data = self._platform.store, place.data
        answer = await self._platform.chat.settle(await store.sessions.message(place.message_id))
        run_id = str(data["run"])
        said = [entry.text for entry in found.said if entry.role == "user" and entry.text]
        results = {str(entry.call_id): entry.text for entry in found.said if entry.role == "tool"}
        begun = Begun(
            found=found, answer=answer, after=int(data.get("seq", 0)), wanted=wanted,
            used={run_id: await store.usage.of_runs([run_id])},
        )  # fmt: skip
        if calls := data.get("calls"):
            await self._give(run_id, calls, results)
            begun.then = "\n\n".join(said) or None
            return begun
        unsaid = tuple(data.get("unsaid", ()))
        text = "\n\n".join(said)
        pending = Pending() if answer.status != "running" else await pending_of(self._platform, run_id)
        if not pending.people:
            begun.then = None if is_nudge(text, data.get("actions", ())) else text
        else:
            taken, problem = await answer_by(self._platform, pending.people, text, key=self._key, by=self._by)
            if taken and problem is None:
                pending = await pending_of(self._platform, run_id)
            elif not taken and not is_nudge(text, ()):
                unsaid = (*unsaid, text)
            if pending.people:
                begun.note = notice(self._platform, pending.people, problem)
                begun.pending, begun.unsaid = pending, unsaid
                return begun
        begun.then = "\n\n".join(one for one in (*unsaid, begun.then) if one) or None
        return begun

    async def _give(self, run_id: str, calls: Sequence[str], results: Mapping[str, str]) -> None:
        """Hand the results of the client's tools to the run."""
        missing = [call for call in calls if call not in results]
        if missing:
            raise WireError(
                400, "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
                f" 'tool_call_id'. These have no result: {', '.join(missing)}", code="invalid_value", param="messages",
            )  # fmt: skip
        store, now = self._platform.store, self._platform.runner.clock.now()
        waiting = await pending_of(self._platform, run_id)
        for wait in waiting.calls:
            call = str(wait.request["client_tool"]["id"])
            if call in results:
                form = {"result": results[call]}
                await store.waits.settle(wait, "answered", Answer(action="result", form=form, at=now))
        await self._platform.waits.wake(run_id)

    # -- following -----------------------------------------------------------------------------------------------------

    async def pieces(self, begun: Begun) -> AsyncIterator[Piece | None]:
        """The pieces of an answer, the last one its end; None whenever nothing came for a while."""
        if begun.note is not None:
            yield Text(begun.note)
            yield Ended(status="asked", answer=begun.answer, seq=begun.after, pending=begun.pending)
            return
        spoken = False
        async for piece in self._followed(begun):
            if not isinstance(piece, Ended):
                spoken = spoken or isinstance(piece, Text)
                yield piece
                continue
            if piece.status in ("failed", "cancelled") and begun.continues:
                message = (piece.error or {}).get("message", piece.status)
                yield Text(("\n\n" if spoken else "") + f"(This did not come to its end: {message})")
                piece = replace(piece, status="done", error=None, text=None)  # noqa: PLW2901
            if begun.then is None or piece.status not in ("done", "length"):
                async for last in self._end(begun, piece, spoken=spoken):
                    yield last
                return
            yield Text("\n\n")
            async for more in self._next(begun, piece):
                yield more
            return

    async def _next(self, begun: Begun, ended: Ended) -> AsyncIterator[Piece | None]:
        """What was said while the turn was at work, asked after it."""
        assert begun.then is not None
        after = replace(begun.found, parent_id=ended.answer.id, place=None)
        turn = await self._stateless.ask(after, Asked(begun.then, (), begun.wanted.asked), by=self._by)
        begun.used.setdefault(str(begun.answer.run_id), (0, 0, 0, 0))
        begun.then, begun.answer, begun.after = None, turn.answer, 0
        spoken = False
        async for piece in self._followed(begun):
            if isinstance(piece, Ended):
                async for last in self._end(begun, piece, spoken=spoken):
                    yield last
                return
            spoken = spoken or isinstance(piece, Text)
            yield piece

    async def _end(self, begun: Begun, ended: Ended, *, spoken: bool) -> AsyncIterator[Piece]:
        """The end, after a notice where people are asked."""
        if begun.then is not None:
            begun.unsaid = (*begun.unsaid, begun.then)
        if ended.status == "asked":
            yield Text(("\n\n" if spoken else "") + notice(self._platform, ended.pending.people))
        elif ended.status == "running" and not self.leaving and not begun.patient:
            yield Text(
                ("\n\n" if spoken else "") + "(This is still being worked on; write `continue` for the rest.)"
            )
        yield ended

    def _followed(self, begun: Begun) -> AsyncIterator[Piece | None]:
        return Following(
            platform=self._platform, answer=begun.answer, after=begun.after, leaving=self._leaving,
            nodes=streamed_nodes(begun.wanted.document), as_data="output_schema" in begun.wanted.asked,
            until=begun.until, patient=begun.patient,
        ).pieces()  # fmt: skip

    # -- remembering ---------------------------------------------------------------------------------------------------

    async def remember(
        self, begun: Begun, text: str, ended: Ended, named: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Note where the conversation stands for whoever comes back with it.

        `named` are other names of this answer, with what is to be known by them alone.
        """
        owner, named = self._by.user_id, named or {}
        place = Place(key="", session_id=begun.found.session_id, message_id=begun.answer.id)
        if ended.status in ("failed", "cancelled"):
            await self._note(owner, place, {}, named)
            return
        calls = ended.calls if ended.status == "calls" else []
        data: dict[str, Any] = {}
        if ended.status in ("calls", "asked", "running"):
            actions = [action for wait in ended.pending.people for action in wait.request.get("actions", ())]
            data = {
                "run": begun.answer.run_id, "seq": ended.seq, "calls": [call["id"] for call in calls],
                "actions": sorted(set(actions)), "unsaid": list(begun.unsaid),
            }  # fmt: skip
        said = Entry(role="assistant", text=text, calls=tuple(calls))
        keys = chain(begun.wanted.target.key, [*begun.found.said, said], begun.found.before)[-1:]
        keys.append(f"session:{begun.found.session_id}:{begun.answer.id}")
        await self._note(owner, place, data, {**{key: {} for key in keys}, **named})

    async def name(self, begun: Begun, named: Mapping[str, Mapping[str, Any]]) -> None:
        """Let a turn at work be found by other names."""
        place = Place(key="", session_id=begun.found.session_id, message_id=begun.answer.id)
        await self._note(self._by.user_id, place, {}, named)

    async def _note(
        self, owner: str, place: Place, data: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]
    ) -> None:
        places = [replace(place, key=key, data={**data, **more}) for key, more in named.items()]
        if places:
            await self._platform.store.places.put(owner, *places)

    async def usage(self, begun: Begun) -> tuple[int, int, int, int]:
        """What the models took for this request: input, output, cached and reasoning tokens."""
        runs = {*begun.used, *([begun.answer.run_id] if begun.answer.run_id else [])}
        now = await self._platform.store.usage.of_runs(sorted(runs))
        found = [total - sum(used[index] for used in begun.used.values()) for index, total in enumerate(now)]
        return found[0], found[1], found[2], found[3]


def _fingerprint(wanted: Wanted, names: Sequence[str]) -> str:
    """What tells a request from another one under the same key."""
    return hashlib.sha256(names[0].encode() + b"\n" + to_json(dict(wanted.asked))).hexdigest()
