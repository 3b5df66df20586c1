"""What a run's events do to the rows of its waits, in the same commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Boolean,
    Double,
    Integer,
    Text,
    bindparam,
    case,
    insert,
    literal_column,
    select,
    true,
    update,
)

from interlace.engine.events import FINAL_EVENTS
from interlace.store.encoding import encode
from interlace.store.statements import Compiler, Operation
from interlace.store.tables import runs, waits

WAIT_EVENTS = (
    frozenset({"node.suspended", "node.resumed", "node.cancelled", "run.suspended", "run.resumed"})
    | FINAL_EVENTS
)

_TEXTS = (
    "id", "run_id", "path", "kind", "phase", "ref", "token_hash", "starter", "hash", "title", "assignees", "schedule",
    "channels", "request",
)  # fmt: skip
_TIMES = ("until", "next_at", "created_at")


class WaitStatements:
    """Compiled once per open store."""

    def __init__(self, compiler: Compiler) -> None:
        given: dict[str, Any] = {name: bindparam(name, type_=Text) for name in _TEXTS}
        given |= {name: bindparam(name, type_=Double) for name in _TIMES}
        given |= {
            "quorum": bindparam("quorum", type_=Integer),
            "allow_self": bindparam("allow_self", type_=Boolean),
        }
        shared = case(
            (runs.c.org_id.is_(None), literal_column("'private'", Text)), else_=literal_column("'org'", Text)
        )
        given |= {"owner": runs.c.owner, "org_id": runs.c.org_id, "visibility": shared}
        given |= {"status": literal_column("'pending'", Text)}
        self._insert = compiler(
            insert(waits).from_select(
                list(given), select(*given.values()).where(runs.c.id == bindparam("run_id", type_=Text))
            )
        )
        one = update(waits).where(waits.c.id == bindparam("wait"))
        pending = waits.c.status == "pending"
        # What is cancelled needs nothing more, except a child run, which is cancelled in its turn.
        # A pause whose time has come may be gone on from before anybody has noted its end.
        self._expire = compiler(one.where(pending).values(status="timed_out"))
        self._consume = compiler(one.values(consumed=true()))
        self._cancel = compiler(
            one.where(pending).values(status="cancelled", consumed=waits.c.kind != "child")
        )
        self._no_deadline = compiler(
            update(waits)
            .where(waits.c.run_id == bindparam("run"), waits.c.phase == "deadline")
            .values(status="cancelled", consumed=true())
        )
        self._cancel_all = compiler(
            update(waits)
            .where(waits.c.run_id == bindparam("run"), pending)
            .values(status="cancelled", consumed=waits.c.kind != "child")
        )

    def of(
        self, run_id: str, kind: str, path: str, data: Mapping[str, Any], now: float
    ) -> Iterator[Operation]:
        """The operations of one event."""
        if kind in FINAL_EVENTS:
            yield self._cancel_all(run=run_id)
        elif kind == "run.resumed":
            yield self._no_deadline(run=run_id)
        elif kind == "run.suspended":
            if data.get("deadline") is not None:
                yield self._deadline(run_id, float(data["deadline"]), now)
        elif data.get("id"):
            if kind == "node.suspended":
                yield self._insertion(run_id, path, data, now)
            elif kind == "node.resumed":
                yield self._expire(wait=data["id"])
                yield self._consume(wait=data["id"])
            else:
                yield self._cancel(wait=data["id"])

    def _insertion(self, run_id: str, path: str, data: Mapping[str, Any], now: float) -> Operation:
        rules, at = data.get("rules", {}), float(data.get("at") or now)
        schedule: list[list[Any]] = [[at + after, []] for after in rules.get("reminders", ())]
        schedule += [[at + after, list(names)] for after, names in rules.get("escalation", ())]
        schedule.sort(key=lambda entry: float(entry[0]))
        until = data.get("until")
        request = data.get("request", {})
        return self._insert(
            id=data["id"], run_id=run_id, path=path, kind=data["kind"], phase=data["phase"], ref=data.get("ref"),
            token_hash=data.get("token_hash"), starter=data.get("starter"), hash=data.get("hash", ""),
            title=str(request.get("title", "")), assignees=_text(rules.get("assignees", [])), schedule=_text(schedule),
            channels=_text(rules.get("channels", [])), request=_text(request), until=until,
            next_at=next_at(schedule, until), created_at=at, quorum=rules.get("quorum", 1),
            allow_self=rules.get("allow_self", True),
        )  # fmt: skip

    def _deadline(self, run_id: str, at: float, now: float) -> Operation:
        """The end of the whole run's time: when it is due, the run is taken up and ends itself."""
        return self._insert(
            id=f"{run_id}-{now:.6f}", run_id=run_id, path="", kind="timer", phase="deadline", ref=None, token_hash=None,
            starter=None, hash="", title="", assignees="[]", schedule="[]", channels="[]", request="{}", until=at,
            next_at=at, created_at=now, quorum=1, allow_self=True,
        )  # fmt: skip


def next_at(schedule: Sequence[Sequence[Any]], until: float | None) -> float | None:
    """When something of a wait is due next."""
    times = [float(entry[0]) for entry in schedule] + ([] if until is None else [until])
    return min(times, default=None)


def _text(value: Any) -> str:
    return encode(value).decode()
