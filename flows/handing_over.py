"""A request is handed over: somebody who is asked has another person asked instead."""

from __future__ import annotations

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.flows.answering import Answered
from interlace.flows.people import NotAllowed, Person
from interlace.store import Store
from interlace.store.errors import ConflictError
from interlace.store.wait_row import Wait

_LONGEST = 200


async def hand_over(
    store: Store, wait_id: str, to: str, person: Person, now: float, *, comment: str | None = None
) -> Wait:
    """Ask `to` in the place of a person who is asked; gives the request as it is then.

    Raises:
        NotFoundError: this person's owner has no such request.
        NotAllowed: the request is not this person's to answer, or not `to`'s.
        InvalidDocument: `to` is no name of a person.
        Answered: it was answered already, or has ended otherwise.
        ConflictError: `to` has answered, or too few people would be left to answer.
    """
    while True:
        wait = await store.waits.get(wait_id, owner=person.owner)
        if wait.status != "pending":
            raise Answered(wait)
        person.check(wait)
        _check_name(wait, to, person)
        people = handed_over(wait, to, person)
        entry = {"at": now, "event": "assigned", "by": person.name, "from": wait.assignees, "to": people}
        if await store.waits.assign(wait, assignees=people, entry=entry | {"comment": comment}):
            return await store.waits.get(wait_id)


def handed_over(wait: Wait, to: str, person: Person) -> list[str]:
    """Who is asked once a person has handed a request to `to`.

    The person's own name gives way to the other. So does a role or group that the person is asked by, or everybody where
    nobody is named, unless several people must agree: a group of which one was left could not.

    Raises:
        ConflictError: fewer people would be asked than must agree.
    """
    replaced = {person.name} if wait.quorum > 1 else person.titles
    people = list(dict.fromkeys([*(name for name in wait.assignees if name not in replaced), to]))
    named = all(not name.startswith(("role:", "group:")) for name in people)
    agreed = {entry["by"] for entry in wait.answers}
    if named and len(agreed | set(people)) < wait.quorum:
        raise ConflictError(
            f"{wait.quorum} people must agree, and fewer would be asked; name more people in the document's `assignees`"
        )
    return people


def _check_name(wait: Wait, to: str, person: Person) -> None:
    if not to.strip() or len(to) > _LONGEST or to.startswith(("role:", "group:")):
        raise InvalidDocument([Problem(code="assign", field="to", message=f"{to!r} is no name of a person")])
    if to == person.name:
        raise ConflictError(f"{to} is asked already; hand the request to somebody else")
    if any(entry["by"] == to for entry in wait.answers):
        raise ConflictError(f"{to} has answered this request already")
    if not wait.allow_self and to == wait.starter:
        raise NotAllowed(f"{to} started the run and may not answer its request; somebody else must")
