"""Who may fill in a form: whoever has its link, or somebody who is signed in and sees the workflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import Request

from interlace.engine.errors import InterlaceError
from interlace.engine.principal import Principal
from interlace.flows.people import NotAllowed, Person
from interlace.flows.platform import Platform
from interlace.flows.published import Published
from interlace.server.api.approvals import person_of
from interlace.server.auth import caller, name_of
from interlace.server.problems import ApiError
from interlace.server.scopes import holds
from interlace.store.errors import NotFoundError
from interlace.store.forms import PublicForm
from interlace.store.keys import Key
from interlace.store.wait_row import Wait

PATH: Final = "/forms"
SUBMITTER: Final = "submitter"
"""How requests name whoever filled in a public form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A form as somebody may fill it in.

    Args:
        place: what stands in its address.
        found: the workflow.
        by: whose rights the runs have.
        key: the key of who is signed in; None where the link is all there is.
        name: who fills it in.
    """

    place: str
    found: Published
    by: Principal
    key: Key | None
    name: str

    @property
    def address(self) -> str:
        """The path of the form."""
        return f"{PATH}/{self.place}"

    def may_answer(self, wait: Wait) -> bool:
        """Whether a request is put to whoever fills in the form: of the public only what names the submitter."""
        if self.key is None:
            return SUBMITTER in wait.assignees
        if not holds(self.key.scopes, "approvals:answer"):
            return False
        try:
            self.person(wait).check(wait)
        except NotAllowed:
            return False
        return True

    def person(self, wait: Wait) -> Person:
        """Whoever answers a request."""
        if self.key is None:
            return Person(name=SUBMITTER, owner=self.by)
        return person_of(self.key, self.by, self.name, wait)


def link(platform: Platform, form: PublicForm) -> str:
    """The path of a public form; what is in it nobody can make up."""
    return f"{PATH}/{form.workflow_id}.{platform.callbacks.sign(_what(form))}"


def _what(form: PublicForm) -> str:
    return f"form {form.workflow_id} {form.generation}"


async def access(request: Request, platform: Platform, place: str) -> Access:
    """The form at an address.

    Raises:
        ApiError: 401 for one who has to sign in, 403 without the scope, 404 where there is none.
    """
    workflow_id, dot, signature = place.partition(".")
    if dot:
        form = await platform.store.forms.of(workflow_id)
        if form is None or not platform.callbacks.signed(_what(form), signature):
            raise _none()
        by = await platform.store.users.principal(form.owner)
        return Access(
            place=place, found=await _published(platform, workflow_id, by), by=by, key=None, name=SUBMITTER
        )
    key = await caller(request)
    if not holds(key.scopes, "runs:write"):
        raise ApiError(403, "missing_scope", f"the key {key.name!r} has no scope runs:write")
    by = await platform.store.users.principal(key.owner)
    found = await _published(platform, workflow_id, by)
    return Access(place=found.workflow.id, found=found, by=by, key=key, name=await name_of(platform, key))


async def _published(platform: Platform, workflow: str, by: Principal) -> Published:
    try:
        return await platform.published.find(workflow, by)
    except InterlaceError:
        raise _none() from None


def _none() -> ApiError:
    return ApiError(404, "not_found", "There is no such form, or it takes nothing at the moment.")


def receipt(platform: Platform, place: str, run_id: str) -> str:
    """What stands for a run in the addresses of a form; nobody finds another one's."""
    return f"{run_id}.{platform.callbacks.sign(f'receipt {place} {run_id}')}"


def run_of(platform: Platform, place: str, given: str) -> str:
    """The run that a receipt stands for.

    Raises:
        NotFoundError: it is none of this form's.
    """
    run_id, _, signature = given.partition(".")
    if not platform.callbacks.signed(f"receipt {place} {run_id}", signature):
        raise NotFoundError("there is no such result")
    return run_id
