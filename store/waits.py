"""Waits: found by who has to do with them, ended once, handed to their runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Double, Integer, Select, Text, and_, bindparam, func, not_, or_, select, true, update

from interlace.engine.waits import Answer
from interlace.store.asked import Asked, may_answer
from interlace.store.claims import free
from interlace.store.database import Database
from interlace.store.encoding import encode
from interlace.store.errors import NotFoundError
from interlace.store.paging import Page, page
from interlace.store.run_row import FINAL
from interlace.store.tables import runs, waits
from interlace.store.uploads import Uses
from interlace.store.visibility import Asker, seen_by
from interlace.store.wait_row import Wait, WaitStatus, wait_of
from interlace.store.wait_statements import next_at

_HISTORY = 200


class WaitRepository:
    """The waits of all owners; methods that take an `owner` see only that owner's."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        self._uses = Uses(compiler)
        unchanged = (
            update(waits)
            .where(
                waits.c.id == bindparam("wait", type_=Text),
                waits.c.status == "pending",
                waits.c.version == bindparam("known", type_=Integer),
            )
            .returning(waits.c.id)
        )
        self._settle = compiler(
            unchanged.values(
                status=bindparam("ended", type_=Text),
                action=bindparam("chosen", type_=Text),
                form=bindparam("filled", type_=Text),
                answered_by=bindparam("who", type_=Text),
                answered_at=bindparam("moment", type_=Double),
                comment=bindparam("said", type_=Text),
                answers=bindparam("all_answers", type_=Text),
                version=waits.c.version + 1,
            ),
            returns=True,
        )
        self._collect = compiler(
            unchanged.values(answers=bindparam("all_answers", type_=Text), version=waits.c.version + 1),
            returns=True,
        )
        self._advance = compiler(
            unchanged.values(
                schedule=bindparam("left_over", type_=Text),
                next_at=bindparam("due", type_=Double),
                assignees=bindparam("people", type_=Text),
                reminded=waits.c.reminded + bindparam("more", type_=Integer),
                version=waits.c.version + 1,
            ),
            returns=True,
        )
        self._assign = compiler(
            unchanged.values(
                assignees=bindparam("people", type_=Text),
                history=bindparam("told", type_=Text),
                version=waits.c.version + 1,
            ),
            returns=True,
        )
        self._note = compiler(
            update(waits)
            .where(
                waits.c.id == bindparam("wait", type_=Text),
                waits.c.version == bindparam("known", type_=Integer),
            )
            .values(history=bindparam("told", type_=Text), version=waits.c.version + 1)
            .returning(waits.c.id),
            returns=True,
        )
        self._consume = compiler(
            update(waits).where(waits.c.id == bindparam("wait", type_=Text)).values(consumed=true())
        )

    # -- reading --------------------------------------------------------------------------------------------

    async def get(self, wait_id: str, *, owner: Asker | None = None) -> Wait:
        """One wait.

        Raises:
            NotFoundError: there is none of that id, or it is another owner's.
        """
        statement = select(waits).where(waits.c.id == wait_id)
        row = await self._database.first(
            statement if owner is None else statement.where(seen_by(waits, owner))
        )
        if row is None:
            raise NotFoundError(
                f"no request {wait_id!r}; `interlace approvals list` shows those that wait for an answer"
            )
        return wait_of(row)

    async def list(
        self,
        *,
        owner: Asker | None = None,
        status: WaitStatus | None = "pending",
        run_id: str | None = None,
        asked: Asked | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Wait]:
        """Requests to people, the newest first; `status` None gives those that have ended too.

        With `asked` only those that this person may answer.
        """
        wanted = {waits.c.status: status, waits.c.run_id: run_id}
        statement = select(waits).where(
            waits.c.kind == "human",
            *(column == value for column, value in wanted.items() if value is not None),
        )
        if owner is not None:
            statement = statement.where(seen_by(waits, owner))
        if asked is not None:
            statement = statement.where(may_answer(self._database.location.kind, asked))
        if cursor is not None:
            statement = statement.where(waits.c.id < cursor)
        found = await self._waits(statement.order_by(waits.c.id.desc()).limit(limit + 1))
        return page(found, limit, [wait.id for wait in found])

    async def of_run(self, run_id: str) -> Sequence[Wait]:
        """What the nodes of a run wait for now, oldest first."""
        pending = (waits.c.run_id == run_id, waits.c.status == "pending", waits.c.phase != "deadline")
        return await self._waits(select(waits).where(*pending).order_by(waits.c.id))

    async def answers(self, run_id: str) -> dict[str, Answer]:
        """What has come for the waits of a run, by their ids."""
        ended = select(waits).where(waits.c.run_id == run_id, waits.c.status.in_(["answered", "timed_out"]))
        return {wait.id: wait.answer for wait in await self._waits(ended)}

    async def by_child(self, run_id: str) -> Wait | None:
        """The wait of a parent for that run, as long as it waits."""
        return await self._first(select(waits).where(waits.c.ref == run_id, waits.c.status == "pending"))

    async def by_token(self, token_hash: str) -> Wait | None:
        """The wait that a call from outside ends: the newest, where a body that was tried again asked again."""
        wanted = select(waits).where(waits.c.token_hash == token_hash)
        return await self._first(wanted.order_by(waits.c.id.desc()))

    async def due(self, now: float, limit: int = 200) -> Sequence[Wait]:
        """Waits of which something is due: their end, a reminder, an escalation; the earliest first."""
        statement = select(waits).where(waits.c.status == "pending", waits.c.next_at <= now)
        return await self._waits(statement.order_by(waits.c.next_at).limit(limit))

    async def next_due(self) -> float | None:
        """When the next of them is."""
        row = await self._database.first(
            select(waits.c.next_at)
            .where(waits.c.status == "pending", waits.c.next_at.is_not(None))
            .order_by(waits.c.next_at)
        )
        return None if row is None else row.next_at

    async def has_ended(self, run_id: str) -> bool:
        """Whether a wait of a run has ended with which it has not gone on."""
        ended = (waits.c.run_id == run_id, waits.c.status != "pending", not_(waits.c.consumed))
        return await self._first(select(waits).where(*ended)) is not None

    async def unconsumed(
        self, pools: Collection[str], default: str, limit: int = 200, *, after: str = ""
    ) -> Sequence[Wait]:
        """Waits that have ended and whose runs have not gone on, the oldest first, `after` an id.

        Of runs that are for hosts of other pools (a run that names none belongs to `default`) only what is due
        wherever they belong: time-outs, and what is to be cleared away.
        """
        statement = (
            select(waits)
            .select_from(waits.outerjoin(runs, runs.c.id == waits.c.run_id))
            .where(
                waits.c.status != "pending",
                not_(waits.c.consumed),
                waits.c.id > after,
                or_(
                    runs.c.id.is_(None),
                    runs.c.status.in_(sorted(FINAL)),
                    func.coalesce(runs.c.pool, default).in_(sorted(pools)),
                    waits.c.status == "cancelled",
                    and_(waits.c.status == "timed_out", waits.c.phase != "pause"),
                ),
            )
        )
        return await self._waits(statement.order_by(waits.c.id).limit(limit))

    async def placed(self, pools: Collection[str], limit: int = 200, *, after: str = "") -> Sequence[Wait]:
        """Waits of suspended runs for a host of one of these pools, the oldest first, `after` an id."""
        statement = (
            select(waits)
            .join(runs, runs.c.id == waits.c.run_id)
            .where(
                waits.c.kind == "place",
                waits.c.status == "pending",
                waits.c.ref.in_(sorted(pools)),
                waits.c.id > after,
                runs.c.status == "suspended",
                free(runs),
            )
        )
        return await self._waits(statement.order_by(waits.c.id).limit(limit))

    async def ended_children(self, limit: int = 200) -> Sequence[Wait]:
        """Waits for child runs that have ended, or are gone."""
        statement = (
            select(waits)
            .select_from(waits.outerjoin(runs, runs.c.id == waits.c.ref))
            .where(
                waits.c.kind == "child",
                waits.c.status == "pending",
                waits.c.ref.is_not(None),
                or_(runs.c.id.is_(None), runs.c.status.in_(sorted(FINAL))),
            )
        )
        return await self._waits(statement.limit(limit))

    # -- ending ---------------------------------------------------------------------------------------------

    async def settle(self, wait: Wait, status: WaitStatus, answer: Answer) -> bool:
        """End a wait as it was read; False when it has changed since: somebody else was first."""
        form, answers = _text(dict(answer.form)), _text(list(answer.answers))
        rows = await self._database.write(
            *self._uses.of(form, answer.at),
            self._settle(
                wait=wait.id, known=wait.version, ended=status, chosen=answer.action, filled=form,
                who=answer.by, moment=answer.at, said=answer.comment, all_answers=answers,
            ),
        )  # fmt: skip
        return bool(rows)

    async def collect(self, wait: Wait, answers: Sequence[Mapping[str, Any]]) -> bool:
        """Note answers that do not decide yet; False when the wait has changed since it was read."""
        text = _text(list(answers))
        used = self._uses.of(text, self._database.now())
        return bool(
            await self._database.write(
                *used, self._collect(wait=wait.id, known=wait.version, all_answers=text)
            )
        )

    async def advance(
        self, wait: Wait, *, schedule: Sequence[Sequence[Any]], assignees: Sequence[str], reminded: int
    ) -> bool:
        """Note what was done while nobody answered; False when another process did it."""
        operation = self._advance(
            wait=wait.id, known=wait.version, left_over=_text([list(entry) for entry in schedule]), due=next_at(schedule, wait.until),
            people=_text(list(assignees)), more=reminded,
        )  # fmt: skip
        return bool(await self._database.write(operation))

    async def assign(self, wait: Wait, *, assignees: Sequence[str], entry: Mapping[str, Any]) -> bool:
        """Ask others, and keep an entry of that in the request's history; False when it has changed since it was read."""
        operation = self._assign(
            wait=wait.id,
            known=wait.version,
            people=_text(list(assignees)),
            told=_text([*wait.history, dict(entry)]),
        )
        return bool(await self._database.write(operation))

    async def note(self, wait_id: str, entry: Mapping[str, Any]) -> None:
        """Add to a request's history, whether it waits or has ended; the oldest entries give way to the newest.

        Raises:
            NotFoundError: there is no such request.
        """
        while True:
            wait = await self.get(wait_id)
            told = [*wait.history, dict(entry)][-_HISTORY:]
            if await self._database.write(self._note(wait=wait_id, known=wait.version, told=_text(told))):
                return

    async def consumed(self, wait_ids: Iterable[str]) -> None:
        """Note that nothing follows from these waits any more."""
        operations = [self._consume(wait=wait_id) for wait_id in wait_ids]
        if operations:
            await self._database.write(*operations)

    async def _first(self, statement: Select[Any]) -> Wait | None:
        row = await self._database.first(statement)
        return None if row is None else wait_of(row)

    async def _waits(self, statement: Select[Any]) -> Sequence[Wait]:
        return [wait_of(row) for row in await self._database.rows(statement)]


def _text(value: Any) -> str:
    return encode(value).decode()
