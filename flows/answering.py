"""Answers of people: checked against what was shown and asked, the first valid one wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.inputs import prepare_inputs
from interlace.engine.problems import Problem, nearest
from interlace.engine.waits import Answer
from interlace.flows.people import Person
from interlace.flows.report import instant_text
from interlace.store import Store
from interlace.store.errors import ConflictError
from interlace.store.wait_row import Wait


class Answered(ConflictError):  # noqa: N818 - the name says what happened
    """The request has ended already; `by` and `at` (Unix time) say who answered when, `action` what."""

    code = "already_answered"

    def __init__(self, wait: Wait) -> None:
        self.by, self.at, self.action, self.status = (
            wait.answered_by,
            wait.answered_at,
            wait.action,
            wait.status,
        )
        if wait.status == "answered" and wait.kind == "callback":
            text = f"it was called already at {instant_text(wait.answered_at or 0.0)}"
        elif wait.status == "answered":
            text = f"{wait.answered_by} answered {wait.action!r} at {instant_text(wait.answered_at or 0.0)}"
        elif wait.status == "timed_out":
            text = f"nobody answered in time; it ended at {instant_text(wait.answered_at or 0.0)}"
        else:
            text = "it is not needed any more: its run went on without it or ended"
        super().__init__(f"request {wait.id} takes no answer: {text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer as it is given; `shown_hash` binds it to what the person saw."""

    action: str
    form: Mapping[str, Any] = field(default_factory=dict)
    comment: str | None = None
    shown_hash: str | None = None


async def record_answer(store: Store, wait_id: str, given: Given, person: Person, now: float) -> Wait:
    """Check and record an answer; gives the wait as it is then.

    Raises:
        NotFoundError: this person's owner has no such request.
        NotAllowed: somebody else is asked.
        InvalidDocument: the action does not exist or the form does not fit.
        Answered: it was answered already, or has ended otherwise.
        ConflictError: this person answered already, or something else was shown.
    """
    while True:
        wait = await store.waits.get(wait_id, owner=person.owner)
        if wait.status != "pending":
            raise Answered(wait)
        form = check_answer(wait, given, person)
        entry = {"by": person.name, "at": now, "action": given.action, "form": form, "comment": given.comment}
        answers = [*wait.answers, entry]
        if given.action == wait.request["actions"][0] and len(answers) < wait.quorum:
            done = await store.waits.collect(wait, answers)
        else:
            answer = Answer(
                action=given.action, form=form, by=person.name, at=now, comment=given.comment,
                answers=tuple(answers),
            )  # fmt: skip
            done = await store.waits.settle(wait, "answered", answer)
        if done:
            return await store.waits.get(wait_id)


def check_answer(wait: Wait, given: Given, person: Person) -> dict[str, Any]:
    """Whether a person may give this answer; gives the form with its defaults."""
    person.check(wait)
    if given.shown_hash is not None and given.shown_hash != wait.hash:
        raise ConflictError("the request is not the one that was shown; look at it again before answering")
    actions = wait.request.get("actions", [])
    if given.action not in actions:
        guess = nearest(given.action, actions)
        hint = f"did you mean {guess!r}?" if guess else f"the actions are {', '.join(actions)}"
        raise InvalidDocument(
            [Problem(code="action", field="action", message=f"no action {given.action!r}; {hint}")]
        )
    if any(entry["by"] == person.name for entry in wait.answers):
        raise ConflictError(
            f"{person.name} has answered this request already; {wait.quorum} different people must agree"
        )
    schema = wait.request.get("form")
    if not schema:
        if given.form:
            raise InvalidDocument(
                [Problem(code="form", field="form", message="this request has no form to fill in")]
            )
        return {}
    try:
        return prepare_inputs(schema, given.form)
    except InvalidDocument as error:
        raise InvalidDocument(
            [replace(problem, code="form", field=_of_form(problem.field)) for problem in error.problems]
        ) from None


def _of_form(field: str | None) -> str:
    return f"form{(field or '').removeprefix('inputs')}"
