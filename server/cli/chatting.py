"""How `interlace chat` talks: asks on the server or here, shows a turn while it is made, answers its confirmations."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass
from typing import Any

from interlace.engine.events import FINAL_EVENTS, Event
from interlace.engine.principal import LOCAL, Principal
from interlace.flows.answering import Given, record_answer
from interlace.flows.orphans import taking_over
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.server.cli.output import emit_json, note, say
from interlace.server.cli.session import is_shared, platform
from interlace.server.cli.watching import CancelOnInterrupt
from interlace.server.client import ServerClient, find_server
from interlace.server.encoding import to_json
from interlace.store.sessions import Message, Session

_ARGUMENTS = 200
_AFTER_SECONDS = 10.0
"""For what follows a turn here: its title."""
_OWNER = Person(name="owner", roles=frozenset({"owner"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line asks for."""

    agent: str | None
    workflow: str | None
    session: str | None
    message: str | None
    as_json: bool


async def converse(wanted: Wanted) -> str:
    """Talk until there is no more input; gives the status of the last answer, or `suspended`.

    Raises:
        InterlaceError: there is no such session or agent, or the server refuses.
    """
    async with platform() as opened, contextlib.AsyncExitStack() as around:
        by = await opened.store.users.principal(LOCAL.user_id)
        server = await find_server(opened.settings)
        if server is not None:
            await around.enter_async_context(server)
        else:
            await around.enter_async_context(
                taking_over(opened.store, opened.runner, local=is_shared(opened))
            )
            await around.enter_async_context(opened.waits.watching())
            await opened.chat.catch_up()
        if wanted.session is not None:
            session = await opened.store.sessions.get(wanted.session, owner=by.user_id)
        else:
            session = await opened.chat.create(by=by, agent=wanted.agent, workflow=wanted.workflow)
        talk = _Talk(opened, server, by, session, wanted)
        try:
            return await talk.go()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_AFTER_SECONDS):
                    await opened.runner.idle()


class _Talk:
    """One conversation at the terminal."""

    def __init__(
        self, opened: Platform, server: ServerClient | None, by: Principal, session: Session, wanted: Wanted
    ) -> None:
        self._opened = opened
        self._server = server
        self._by = by
        self._session = session
        self._wanted = wanted
        self._lines = _Lines()
        self._shows = not wanted.as_json
        self._in_text = False
        self._said = ""
        """What was shown of the answer while it was made."""

    async def go(self) -> str:
        """Ask what is given, or line by line."""
        if self._wanted.message is not None:
            return await self._turn(self._wanted.message)
        if self._shows:
            note(f"session {self._session.id}; an empty line or Ctrl-D ends")
        status = "succeeded"
        while (line := await self._lines.next("> ")) is not None and line.strip():
            status = await self._turn(line)
        return status

    async def _turn(self, text: str) -> str:
        self._said = ""
        with CancelOnInterrupt() as interrupt:
            answer_id, run_id = await self._ask(text)
            interrupt.arm(self._cancelling(run_id))
            suspended = not await self._watch(run_id)
        self._break()
        answer = await self._opened.chat.settle(await self._opened.store.sessions.message(answer_id))
        if self._wanted.as_json:
            emit_json(_as_json(answer, suspended=suspended))
        elif answer.status == "succeeded" and not self._said.strip().endswith(answer.content.strip()):
            say(answer.content)  # nothing, or something else, was streamed
        elif answer.status in ("failed", "cancelled"):
            note(f"✗ {answer.data.get('error', {}).get('message', answer.status)}")
        return "suspended" if suspended else answer.status

    async def _ask(self, text: str) -> tuple[str, str]:
        if self._server is not None:
            asked = await self._server.ask(self._session.id, {"content": text})
            return str(asked["answer"]), str(asked["run_id"])
        turn = await self._opened.chat.send(self._session.id, text, by=self._by)
        assert turn.answer.run_id is not None
        return turn.answer.id, turn.answer.run_id

    def _cancelling(self, run_id: str) -> Callable[[], Coroutine[Any, Any, Any]]:
        server, runner = self._server, self._opened.runner
        return lambda: runner.cancel(run_id) if server is None else server.cancel(run_id)

    async def _watch(self, run_id: str) -> bool:
        """Show a turn to its end; False where somebody has to confirm something, and nobody here can."""
        async for event in self._opened.store.events.follow(run_id):
            self._show(event)
            if event.type in FINAL_EVENTS:
                return True
            if event.type == "run.suspended" and not await self._confirm(run_id):
                return False
        return True

    def _show(self, event: Event) -> None:
        if not self._shows:
            return
        data = event.data
        if event.type == "node.delta":
            if data.get("restart") and self._in_text:
                self._break()
                note("↻ the answer begins anew")
            self._said += str(data.get("text", ""))
            sys.stdout.write(str(data.get("text", "")))
            sys.stdout.flush()
            self._in_text = self._in_text or bool(data.get("text"))
        elif event.type == "tool.started":
            self._break()
            arguments = to_json(data.get("arguments", {})).decode()
            cut = arguments if len(arguments) <= _ARGUMENTS else f"{arguments[:_ARGUMENTS]}…"
            note(f"⚙ {data.get('name')} {cut}")
        elif event.type == "tool.finished":
            self._break()
            text = str(data.get("text") or "").strip().partition("\n")[0][:_ARGUMENTS]
            note(f"{'✗' if data.get('is_error') else '✓'} {data.get('name')} {text}".rstrip())

    def _break(self) -> None:
        """End a line of the answer that is being written."""
        if self._in_text:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._in_text = False

    async def _confirm(self, run_id: str) -> bool:
        """Ask here what the turn asks people; whether all of it was answered."""
        self._break()
        waits = [wait for wait in await self._opened.store.waits.of_run(run_id) if wait.kind == "human"]
        for wait in waits:
            actions = [str(action) for action in wait.request.get("actions", ["approve", "reject"])]
            note(f"? {wait.title or 'a confirmation is asked for'}")
            if wait.request.get("config"):
                note(f"  {to_json(wait.request['config']).decode()}")
            said = await self._choice(actions) if self._can_ask else None
            if said is None:
                note(f"  answer with: interlace approvals answer {wait.id} {'|'.join(actions)}")
                return False
            await self._answer(wait.id, said, wait.org_id, wait.title)
        return True

    @property
    def _can_ask(self) -> bool:
        return not self._wanted.as_json and (self._wanted.message is None or sys.stdin.isatty())

    async def _choice(self, actions: list[str]) -> str | None:
        """One of the actions, by its name or a beginning of it that is no other's."""
        while (line := await self._lines.next(f"  {'/'.join(actions)}? ")) is not None:
            found = [action for action in actions if line.strip() and action.startswith(line.strip().lower())]
            if len(found) == 1:
                return found[0]
        return None

    async def _answer(self, request_id: str, action: str, org_id: str | None, title: str | None) -> None:
        opened, given = self._opened, Given(action=action)
        if self._server is not None:
            await record_answer(opened.store, request_id, given, _OWNER, opened.runner.clock.now())
        else:
            await opened.waits.answer(request_id, given, _OWNER)
        await opened.store.audit.record(
            LOCAL, "approval.answer", "approval", request_id, name=title or "", org_id=org_id,
            detail={"action": action, "as": _OWNER.name},
        )  # fmt: skip


class _Lines:
    """Lines of standard input, read by a thread that nobody waits for at the end."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._started = False

    async def next(self, prompt: str) -> str | None:
        """The next line; None at the end of the input."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._read, daemon=True).start()
        if sys.stdin.isatty():
            sys.stderr.write(prompt)
            sys.stderr.flush()
        return await self._queue.get()

    def _read(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            for line in sys.stdin:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, line.rstrip("\n"))
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)


def _as_json(answer: Message, *, suspended: bool) -> dict[str, Any]:
    shown = asdict(answer)
    return {
        "session": answer.session_id, "answer": answer.id, "run_id": answer.run_id,
        "status": "suspended" if suspended else answer.status, "content": answer.content,
        "data": {name: value for name, value in shown["data"].items() if name != "variables"},
    }  # fmt: skip
