"""A wait's row as an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Row

from interlace.engine.waits import Answer
from interlace.store.encoding import decode

WaitStatus: TypeAlias = Literal["pending", "answered", "timed_out", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What a node of a run waits for. Times in Unix seconds.

    `consumed`: the run has gone on with the answer. `schedule`: what is still to be done while nobody answers, as
    `[at, names]`; without names it is a reminder, with names these may answer from then on. `history`: what happened
    meanwhile, oldest first: `{at, event: assigned, by, from, to, comment}` and
    `{at, event: announced, channel, reminder, error}`.
    """

    id: str
    run_id: str
    path: str
    owner: str
    kind: str
    phase: str
    status: WaitStatus
    consumed: bool
    version: int
    until: float | None
    next_at: float | None
    created_at: float
    ref: str | None
    token_hash: str | None
    quorum: int
    allow_self: bool
    starter: str | None
    reminded: int
    action: str | None
    answered_by: str | None
    answered_at: float | None
    comment: str | None
    hash: str
    title: str
    assignees: list[str]
    schedule: list[list[Any]]
    channels: list[dict[str, Any]]
    answers: list[dict[str, Any]]
    history: list[dict[str, Any]]
    form: dict[str, Any]
    request: dict[str, Any]
    org_id: str | None
    visibility: str

    @property
    def answer(self) -> Answer:
        """What ended the wait."""
        return Answer(
            action=self.action or "timeout", form=self.form, by=self.answered_by, at=self.answered_at or 0.0,
            comment=self.comment, answers=tuple(self.answers),
        )  # fmt: skip


def wait_of(row: Row[*tuple[Any, ...]]) -> Wait:
    """A wait from a row of the table."""
    values = dict(row._mapping)  # noqa: SLF001 - the documented name of a row's mapping
    for name in ("assignees", "schedule", "channels", "answers", "history", "form", "request"):
        values[name] = decode(values[name])
    return Wait(**values)
