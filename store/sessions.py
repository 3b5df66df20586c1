"""Chat sessions: each belongs to one user, and its messages are a tree, so that no answer is lost to an edit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Row, Text, and_, bindparam, delete, exists, insert, or_, select, update

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.tables import injections, messages, places, sessions

Role = Literal["user", "assistant"]
Status = Literal["running", "succeeded", "failed", "cancelled"]
TitledBy = Literal["question", "model", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation; times in Unix seconds. Without agent and workflow everything visible is there (Auto)."""

    id: str
    owner: str
    agent_id: str | None
    workflow_id: str | None
    title: str
    titled_by: TitledBy
    head: str | None
    """The message at which the conversation stands."""
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A question or an answer. Several of one parent are branches; an answer's `run_id` is the turn that makes it."""

    id: str
    session_id: str
    parent_id: str | None
    role: Role
    content: str
    files: list[dict[str, Any]] = field(default_factory=list)
    run_id: str | None = None
    status: Status = "succeeded"
    data: dict[str, Any] = field(default_factory=dict)
    """Of an answer: what came with it (`usage`, `citations`, …), `error`, and `variables` of the conversation after it."""
    created_at: float = 0.0
    finished_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """What a person said to a turn at work."""

    id: str
    text: str
    created_at: float


class SessionRepository:
    """The sessions of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        self._insert = compiler(insert(sessions))
        one = sessions.c.id == bindparam("session", type_=Text)
        head, new = bindparam("known", type_=Text), bindparam("new", type_=Text)
        stands = or_(sessions.c.head == head, and_(sessions.c.head.is_(None), head.is_(None)))
        moved = {"head": new, "updated_at": bindparam("now")}
        self._move = compiler(update(sessions).where(one, stands).values(**moved))
        self._turn = compiler(update(sessions).where(one).values(**moved))
        self._title = compiler(
            update(sessions)
            .where(one, sessions.c.titled_by != bindparam("unless", type_=Text))
            .values(title=bindparam("text", type_=Text), titled_by=bindparam("who", type_=Text))
            .returning(sessions.c.id),
            returns=True,
        )
        names = [column.name for column in messages.columns]
        row = select(*(literal_of(name) for name in names)).where(
            exists(select(sessions.c.id).where(one, sessions.c.head == new))
        )
        self._add = compiler(insert(messages).from_select(names, row).returning(messages.c.id), returns=True)
        of = bindparam("message", type_=Text)
        running = and_(messages.c.id == of, messages.c.status == "running")
        self._started = compiler(update(messages).where(running).values(run_id=bindparam("run", type_=Text)))
        self._finish = compiler(
            update(messages)
            .where(running)
            .values(
                status=bindparam("ended", type_=Text), content=bindparam("text", type_=Text),
                data=bindparam("what", type_=Text), finished_at=bindparam("now"),
            )
            .returning(messages.c.id),
            returns=True,
        )  # fmt: skip
        said = select(*(
            bindparam(f"i_{column.name}", type_=column.type).label(column.name) for column in injections.columns
        )).where(exists(select(messages.c.id).where(
            messages.c.id == bindparam("i_message_id", type_=Text), messages.c.status == "running"
        )))  # fmt: skip
        names = [column.name for column in injections.columns]
        self._inject = compiler(
            insert(injections).from_select(names, said).returning(injections.c.id), returns=True
        )
        self._done = compiler(delete(injections).where(injections.c.message_id == of))
        self._delete = [
            compiler(delete(injections).where(injections.c.message_id.in_(
                select(messages.c.id).where(messages.c.session_id == bindparam("session", type_=Text))
            ))),
            compiler(delete(messages).where(messages.c.session_id == bindparam("session", type_=Text))),
            compiler(delete(places).where(places.c.session_id == bindparam("session", type_=Text))),
            compiler(delete(sessions).where(one)),
        ]  # fmt: skip

    async def create(
        self, *, owner: str, agent_id: str | None = None, workflow_id: str | None = None, title: str = ""
    ) -> Session:
        """A new session without messages; a title that is given is the user's."""
        now = time.time()
        made = Session(
            id=uuid7(), owner=owner, agent_id=agent_id, workflow_id=workflow_id, title=title,
            titled_by="user" if title else "question", head=None, created_at=now, updated_at=now,
        )  # fmt: skip
        values = {name: getattr(made, name) for name in _SESSION}
        await self._database.write(self._insert(**values))
        return made

    async def get(self, session_id: str, *, owner: str | None = None) -> Session:
        """A session of a user, or whose it may be.

        Raises:
            NotFoundError: that user has none of that id.
        """
        statement = select(sessions).where(sessions.c.id == session_id)
        if owner is not None:
            statement = statement.where(sessions.c.owner == owner)
        row = await self._database.first(statement)
        if row is None:
            raise NotFoundError(f"no session {session_id!r}")
        return _session(row)

    async def list(
        self, *, owner: str, limit: int = 50, cursor: str | None = None, words: str = ""
    ) -> Page[Session]:
        """A user's sessions, the newest first; with `words` those whose title or messages hold them."""
        statement = select(sessions).where(sessions.c.owner == owner).order_by(sessions.c.id.desc())
        if words:
            said = messages.c.content.icontains(words, autoescape=True)
            statement = statement.where(
                or_(
                    sessions.c.title.icontains(words, autoescape=True),
                    exists(select(messages.c.id).where(messages.c.session_id == sessions.c.id, said)),
                )
            )
        if cursor is not None:
            statement = statement.where(sessions.c.id < cursor)
        found = [_session(row) for row in await self._database.rows(statement.limit(limit + 1))]
        return page(found, limit, [entry.id for entry in found])

    async def rename(self, session_id: str, title: str, *, who: TitledBy) -> bool:
        """Give a session a title; one that its user gave is left alone by everybody else. Whether it has it now."""
        unless = "" if who == "user" else "user"
        return bool(
            await self._database.write(self._title(session=session_id, text=title, who=who, unless=unless))
        )

    async def delete(self, session_id: str) -> None:
        """Remove a session with its messages; their runs are the caller's to remove."""
        await self._database.write(*(statement(session=session_id) for statement in self._delete))

    # -- messages ------------------------------------------------------------------------------------------------------

    async def messages(self, session_id: str) -> Sequence[Message]:
        """All messages of a session, all branches, the oldest first."""
        statement = select(messages).where(messages.c.session_id == session_id).order_by(messages.c.id)
        return [_message(row) for row in await self._database.rows(statement)]

    async def message(self, message_id: str, *, session_id: str | None = None) -> Message:
        """One message.

        Raises:
            NotFoundError: there is none, or it belongs to another session.
        """
        statement = select(messages).where(messages.c.id == message_id)
        if session_id is not None:
            statement = statement.where(messages.c.session_id == session_id)
        row = await self._database.first(statement)
        if row is None:
            raise NotFoundError(f"no message {message_id!r}")
        return _message(row)

    async def of_run(self, run_id: str) -> Message | None:
        """The answer that a run makes."""
        row = await self._database.first(select(messages).where(messages.c.run_id == run_id))
        return None if row is None else _message(row)

    async def running(self, limit: int = 1000, *, after: str = "") -> Sequence[Message]:
        """Answers that are not written yet, of all sessions, oldest first."""
        statement = select(messages).where(messages.c.status == "running", messages.c.id > after)
        return [
            _message(row) for row in await self._database.rows(statement.order_by(messages.c.id).limit(limit))
        ]

    async def add(self, session: Session, new: Sequence[Message], *, anywhere: bool = False) -> None:
        """Add the messages of a turn, each the parent of the next, in one commit; the session stands at the last then.

        Args:
            session: as it was read.
            new: question and answer, or an answer alone.
            anywhere: whatever the session stands at now: a branch. Otherwise of two that ask at the same time one comes
                too late.

        Raises:
            ConflictError: it stands elsewhere by now.
        """
        last = new[-1].id
        now = time.time()
        move = (
            self._turn(session=session.id, new=last, now=now)
            if anywhere
            else self._move(session=session.id, known=session.head, new=last, now=now)
        )
        rows = [self._add(session=session.id, new=last, **_values(message)) for message in new]
        await self._database.write(move, *rows)
        if not rows[-1].rows:
            raise ConflictError(
                "somebody asked something else in this session just now, or deleted it; look at it again"
            )

    async def started(self, message_id: str, run_id: str) -> None:
        """Note the run that makes an answer."""
        await self._database.write(self._started(message=message_id, run=run_id))

    async def finish(self, message_id: str, status: Status, content: str, data: Mapping[str, Any]) -> bool:
        """Write an answer; of several who do, the first one counts. Whether it was this one."""
        what = encode(dict(data)).decode()
        done = self._finish(message=message_id, ended=status, text=content, what=what, now=time.time())
        return bool(await self._database.write(done))

    async def stand_at(self, session_id: str, message_id: str) -> None:
        """Let a session stand at another message of it: the branch that goes on."""
        await self._database.write(self._turn(session=session_id, new=message_id, now=time.time()))

    # -- what is said to a turn at work --------------------------------------------------------------------------------

    async def inject(self, run_id: str, message_id: str, text: str) -> Injection:
        """Keep what a person says to a turn at work.

        Raises:
            ConflictError: its answer is written by now, so nobody would look for this any more.
        """
        made = Injection(id=uuid7(), text=text, created_at=time.time())
        kept = await self._database.write(
            self._inject(
                i_id=made.id,
                i_run_id=run_id,
                i_message_id=message_id,
                i_text=text,
                i_created_at=made.created_at,
            )
        )
        if not kept:
            raise ConflictError("the answer is made by now; ask it as the next question")
        return made

    async def unasked(self, limit: int = 1000, *, after: str = "") -> Sequence[Message]:
        """Written answers to whose turns something was said that may not have been taken up, oldest first."""
        statement = select(messages).where(
            messages.c.status != "running",
            messages.c.id > after,
            messages.c.id.in_(select(injections.c.message_id)),
        )
        return [
            _message(row) for row in await self._database.rows(statement.order_by(messages.c.id).limit(limit))
        ]

    async def heard_out(self, message_id: str) -> None:
        """Forget what was said to the turn of an answer: all of it was taken up, or asked."""
        await self._database.write(self._done(message=message_id))

    async def injected(self, run_id: str, after: str = "") -> Sequence[Injection]:
        """What was said to a run after the entry of that id, in order."""
        statement = select(injections).where(injections.c.run_id == run_id, injections.c.id > after)
        return [
            Injection(id=row.id, text=row.text, created_at=row.created_at)
            for row in await self._database.rows(statement.order_by(injections.c.id))
        ]


_SESSION = (
    "id", "owner", "agent_id", "workflow_id", "title", "titled_by", "head", "created_at", "updated_at",
)  # fmt: skip


def literal_of(name: str) -> Any:
    """A bound value that becomes a column."""
    return bindparam(f"m_{name}", type_=messages.c[name].type).label(name)


def _values(message: Message) -> dict[str, Any]:
    values = {name: getattr(message, name) for name in messages.columns.keys()}  # noqa: SIM118 - a column collection
    values |= {"files": encode(message.files).decode(), "data": encode(message.data).decode()}
    return {f"m_{name}": value for name, value in values.items()}


def _session(row: Row[*tuple[Any, ...]]) -> Session:
    return Session(**row._mapping)  # noqa: SLF001 - the documented name of a row's mapping


def _message(row: Row[*tuple[Any, ...]]) -> Message:
    values = dict(row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
    return Message(**{**values, "files": decode(row.files), "data": decode(row.data)})
