"""Chat: every turn of a session is a run, and what the run gives is written into the session once, whoever is there.

The question is durable before its run is started, and the run's idempotency key is the answer's id: after a crash the
turn goes on, or is begun, by itself. Answers are written by whichever process sees the run's end first: the one that
ran it, the next one that starts, or a reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import structlog

from interlace.engine.errors import InterlaceError, NodeError
from interlace.engine.principal import Principal
from interlace.engine.run import RunResult
from interlace.flows.aftermath import Aftermath
from interlace.flows.answers import Answers
from interlace.flows.attachments import is_image, with_texts
from interlace.flows.chat_document import chat_document
from interlace.flows.conversation import (
    ASKED,
    SAID,
    check_place,
    check_question,
    first_title,
    history_of,
    path_to,
    turn_inputs,
    variables_of,
    with_said,
)
from interlace.flows.documents import Documents, Pinned
from interlace.flows.request import Request
from interlace.flows.retention import delete_run
from interlace.flows.runner import ClosingError, Runner
from interlace.flows.titles import Titles
from interlace.resources.documents.extractor import Extractor
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.sessions import Message, Session

KIND: Final = "chat"
_CANCEL_SECONDS = 5.0
_GIVEN = object()

_PAGE = 1000

log = structlog.get_logger("interlace.chat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question and the answer that is being made."""

    session: Session
    question: Message
    answer: Message


class Chat:
    """The sessions of all users.

    Args:
        store: where they are kept.
        documents: the workflows that answer.
        runner: runs the turns.
        titles: makes better titles than the first line of the question.
        extractor: reads attached documents.
        environment: what runs read as `env`.
    """

    def __init__(
        self,
        store: Store,
        documents: Documents,
        runner: Runner,
        titles: Titles,
        extractor: Extractor,
        *,
        environment: str = "dev",
    ) -> None:
        self._store = store
        self._documents = documents
        self._runner = runner
        self._extractor = extractor
        self._environment = environment
        self._answers = Answers(store, documents)
        self._aftermath = Aftermath(store, self._answers, titles, self.send)
        runner.ended_of[KIND] = self._ended

    # -- sessions ------------------------------------------------------------------------------------------------------

    async def create(
        self, *, by: Principal, agent: str | None = None, workflow: str | None = None, title: str = ""
    ) -> Session:
        """A new session: with an agent, with a chat workflow, or with neither (Auto).

        Raises:
            NotFoundError: `by` sees no such agent or workflow.
            ConflictError: both are given, the agent is switched off, or it is no workflow for chats.
        """
        if agent is not None and workflow is not None:
            raise ConflictError("a session talks to an agent or to a workflow, not to both")
        agent_id = workflow_id = None
        if agent is not None:
            chosen = await self._store.resources.find("agent", agent, by=by)
            if not chosen.active:
                raise ConflictError(f"the agent {chosen.name!r} is switched off")
            agent_id = chosen.id
        if workflow is not None:
            pinned = await self._documents.stored(workflow, owner=by)
            if not pinned.document.settings.chat:
                raise ConflictError(f"workflow {workflow!r} is not for chats; it needs settings.chat: true")
            workflow_id = pinned.workflow_id
        return await self._store.sessions.create(
            owner=by.user_id, agent_id=agent_id, workflow_id=workflow_id, title=title.strip()
        )

    async def read(self, session_id: str, *, by: Principal) -> tuple[Session, list[Message]]:
        """A session with all its messages; answers whose runs have ended meanwhile are written by this.

        Raises:
            NotFoundError: `by` has no such session.
        """
        session = await self._store.sessions.get(session_id, owner=by.user_id)
        found = [await self.settle(message) for message in await self._store.sessions.messages(session.id)]
        return session, found

    async def history(self, session: str, *, by: Principal) -> list[dict[str, Any]]:
        """What was said in a session up to where it stands. Implements `Conversations`.

        Raises:
            NodeError: `resource_not_found`.
        """
        try:
            found, messages = await self.read(session, by=by)
        except NotFoundError as error:
            raise NodeError(str(error), kind="resource_not_found", retryable=False) from None
        return history_of(path_to(messages, found.head), tools=True)

    async def delete(self, session_id: str, *, by: Principal) -> None:
        """Remove a session with its messages and runs; what is at work is cancelled.

        Raises:
            NotFoundError: `by` has no such session.
        """
        session = await self._store.sessions.get(session_id, owner=by.user_id)
        messages = await self._store.sessions.messages(session.id)
        await self._store.sessions.delete(session.id)
        for run_id in {message.run_id for message in messages if message.run_id is not None}:
            self._runner.background(self._remove_run(run_id))

    async def _remove_run(self, run_id: str) -> None:
        try:
            if await self._runner.cancel(run_id):
                await self._runner.wait(run_id, _CANCEL_SECONDS)
            await delete_run(self._store, run_id, force=True)
        except InterlaceError as error:
            log.warning("the run of a deleted session stays until it is old", run=run_id, error=str(error))

    # -- turns ---------------------------------------------------------------------------------------------------------

    async def send(
        self,
        session_id: str,
        text: str,
        *,
        by: Principal,
        files: Sequence[str] = (),
        parent: Any = _GIVEN,
        key: str | None = None,
        asked: Mapping[str, Any] | None = None,
        said_to: str | None = None,
    ) -> Turn:
        """Ask something; the answer is made whether anybody waits for it or not.

        Args:
            session_id: the session.
            text: what is asked.
            by: whose session it is.
            files: references of uploads of `by`.
            parent: the message after which it is asked: an answer, or None for a first question. A branch, where
                something stands there already. If not given, where the session stands.
            key: the same question with the same key is asked once.
            asked: what it asks for besides: see `ASKED`.
            said_to: the run to which it was said, and which did not take it up.

        Raises:
            NotFoundError: there is no such session, message or file of `by`.
            ConflictError: an answer is being made at that place.
            BadMessage: there is nothing to ask, or too much.
        """
        session, messages = await self.read(session_id, by=by)
        known = next((m for m in messages if key is not None and m.data.get("key") == key), None)
        if known is not None:
            answer = next(m for m in messages if m.parent_id == known.id)
            return Turn(session=session, question=known, answer=answer)
        check_question(text, files)
        branching = parent is not _GIVEN
        place = parent if branching else session.head
        if place is not None:
            check_place(next((m for m in messages if m.id == place), None), str(place))
        uploads = self._store.files.of_owner(by.user_id)
        attached = [asdict(await uploads.find(ref)) for ref in files]
        question = Message(
            id=uuid7(), session_id=session.id, parent_id=place, role="user", content=text, files=attached,
            data={**({} if key is None else {"key": key}), **({ASKED: dict(asked)} if asked else {})},
        )  # fmt: skip
        if not messages:
            await self._store.sessions.rename(session.id, first_title(text), who="question")
        branching = branching and not (said_to and place == session.head)
        every = [*messages, question]
        return await self._ask(session, every, question, by, new=True, branching=branching, said_to=said_to)

    async def edit(
        self,
        session_id: str,
        message_id: str,
        text: str,
        *,
        by: Principal,
        files: Sequence[str] | None = None,
    ) -> Turn:
        """Ask a question in other words; the earlier one and what followed stay as another branch. Raises as `send`."""
        await self._store.sessions.get(session_id, owner=by.user_id)
        before = await self._store.sessions.message(message_id, session_id=session_id)
        if before.role != "user":
            raise ConflictError("an answer is not edited; make it again instead")
        kept = [str(file["ref"]) for file in before.files] if files is None else files
        return await self.send(session_id, text, by=by, files=kept, parent=before.parent_id)

    async def regenerate(self, session_id: str, message_id: str, *, by: Principal) -> Turn:
        """Make an answer again; the earlier one stays as another branch.

        Raises:
            NotFoundError: there is no such session or message of `by`.
            ConflictError: it is no answer, or it is being made.
        """
        session, messages = await self.read(session_id, by=by)
        before = next((message for message in messages if message.id == message_id), None)
        if before is None:
            raise NotFoundError(f"no message {message_id!r}")
        if before.role != "assistant":
            raise ConflictError("only answers are made again; edit the question instead")
        check_place(before, message_id)
        question = next(message for message in messages if message.id == before.parent_id)
        said = before.data.get(SAID)
        return await self._ask(session, messages, question, by, new=False, branching=True, said=said)

    async def again(self, session_id: str, question_id: str, *, by: Principal) -> Turn:
        """Answer a question once more, also while another answer to it is being made. Raises as `regenerate`."""
        session, messages = await self.read(session_id, by=by)
        question = next((m for m in messages if m.id == question_id and m.role == "user"), None)
        if question is None:
            raise NotFoundError(f"no question {question_id!r}")
        return await self._ask(session, messages, question, by, new=False, branching=True)

    async def _ask(
        self, session: Session, messages: Sequence[Message], question: Message, by: Principal, *, new: bool, branching: bool,
        said_to: str | None = None, said: Sequence[str] | None = None,
    ) -> Turn:  # fmt: skip
        answer = Message(
            id=uuid7(), session_id=session.id, parent_id=question.id, role="assistant", content="", status="running",
            data={SAID: said} if said else {},
        )  # fmt: skip
        added = [replace(message, created_at=self._runner.clock.now()) for message in (question, answer)]
        await self._store.sessions.add(
            session, added if new else added[1:], anywhere=branching, said_to=said_to
        )
        run_id = await self._begin(session, messages, answer, by)
        return Turn(session=session, question=added[0], answer=replace(added[1], run_id=run_id))

    async def _begin(
        self, session: Session, messages: Sequence[Message], answer: Message, by: Principal
    ) -> str:
        """Start the run of an answer, or find the one that was started for it."""
        try:
            path = path_to(messages, answer.parent_id)
            path[-1] = replace(path[-1], content=with_said(path[-1].content, answer))
            pinned = await self._pinned(session, path[-1], by)
            variables = variables_of(pinned.document, path)
            inputs = turn_inputs(pinned.document, path)
            if session.workflow_id is None and inputs["files"]:
                inputs["message"] = await with_texts(
                    inputs["message"],
                    inputs["files"],
                    self._store.files.of_owner(by.user_id).load,
                    self._extractor,
                )
                inputs["files"] = [file for file in inputs["files"] if is_image(file)]
            request = Request(
                inputs=inputs,
                trigger={"kind": KIND, "session": session.id, "message": answer.id},
                environment=self._environment, owner=by.user_id, principal=by, idempotency_key=f"{KIND}:{answer.id}",
                options={"variables": variables} if variables else {},
            )  # fmt: skip
            run_id = await self._runner.start(pinned, request)
        except ClosingError:
            raise  # the next process begins it
        except InterlaceError as error:
            failed = {"error": {"type": getattr(error, "code", "error"), "message": str(error)}}
            await self._store.sessions.finish(answer.id, "failed", "", failed)
            raise
        await self._store.sessions.started(answer.id, run_id)
        return run_id

    async def _pinned(self, session: Session, question: Message, by: Principal) -> Pinned:
        if session.workflow_id is not None:
            return await self._documents.stored(session.workflow_id, owner=by)
        text = chat_document(session.agent_id, question.data.get(ASKED))
        return await self._documents.from_text(text, owner=by)

    # -- what happens to a turn ----------------------------------------------------------------------------------------

    async def inject(self, session_id: str, text: str, *, by: Principal) -> str:
        """Say something to the turn at work; gives its run. What it does not take up any more is asked after it.

        Raises:
            NotFoundError: `by` has no such session.
            ConflictError: no answer is being made.
        """
        check_question(text, ())
        answer = await self.at_work(session_id, by=by)
        assert answer.run_id is not None
        await self._store.sessions.inject(answer.run_id, answer.id, text)
        return answer.run_id

    async def cancel(self, session_id: str, *, by: Principal) -> Message:
        """End the turn at work; what has been said of the answer stays. Raises as `inject`."""
        answer = await self.at_work(session_id, by=by)
        assert answer.run_id is not None
        await self._runner.cancel(answer.run_id, "cancelled in the session")
        await self._runner.wait(answer.run_id, _CANCEL_SECONDS)
        return await self.settle(answer)

    async def at_work(self, session_id: str, *, by: Principal) -> Message:
        """The answer that is being made where the session stands.

        Raises:
            NotFoundError: `by` has no such session.
            ConflictError: there is none.
        """
        session, messages = await self.read(session_id, by=by)
        head = next((message for message in messages if message.id == session.head), None)
        if head is None or head.status != "running" or head.run_id is None:
            raise ConflictError("no answer is being made in this session")
        return head

    async def settle(self, message: Message) -> Message:
        """The message, with what its run gave where that has ended; written once, whoever does it."""
        written, run = await self._answers.settle(message)
        if run is not None:
            self._runner.background(self._aftermath.follow(written))
        return written

    async def _ended(self, run_id: str, result: RunResult) -> None:
        if result.status == "suspended":
            return
        try:
            message = await self._store.sessions.of_run(run_id)
            if message is None:  # it ended before its id was noted
                run = await self._store.runs.get(run_id)
                message = replace(
                    await self._store.sessions.message(str(run.trigger.get("message"))), run_id=run_id
                )
            await self.settle(message)
        except NotFoundError:
            return  # the session was deleted
        except InterlaceError as error:
            log.warning("an answer is written when somebody looks for it", run=run_id, error=str(error))

    async def catch_up(self) -> None:
        """Begin turns whose process died before it started them, and write answers that came while nobody was there.

        And ask what was said to a turn and not taken up, where nobody could any more.
        """
        after = ""
        while found := await self._store.sessions.running(_PAGE, after=after):
            after = found[-1].id
            for message in found:
                try:
                    await self._catch_up(message)
                except InterlaceError as error:
                    log.warning("a turn is taken up later", message=message.id, error=str(error))
            if len(found) < _PAGE:
                break
        await self._aftermath.catch_up()

    async def _catch_up(self, message: Message) -> None:
        if message.run_id is not None:
            await self.settle(message)
            return
        session = await self._store.sessions.get(message.session_id)
        by = await self._store.users.principal(session.owner)
        await self._begin(session, await self._store.sessions.messages(session.id), message, by)
