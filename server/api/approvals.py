"""`/api/v1/approvals`: requests to people, and their answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from interlace.flows.answering import Answered, Given
from interlace.flows.people import Person
from interlace.server.auth import Caller, PlatformOf
from interlace.server.problems import ApiError
from interlace.store.keys import Key
from interlace.store.wait_row import Wait

router = APIRouter(prefix="/api/v1/approvals", tags=["approvals"])


class Wanted(BaseModel):
    """Which requests are listed."""

    status: Literal["pending", "answered", "timed_out", "cancelled", "all"] = "pending"
    run_id: str | None = None
    mine: bool = Field(False, description="Only those that the caller may answer.")
    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = None


class AnswerBody(BaseModel):
    """An answer."""

    action: str = Field(description="One of the request's actions.")
    form: dict[str, Any] = Field(default_factory=dict, description="Values by the request's form.")
    comment: str | None = Field(None, max_length=10_000)
    shown_hash: str | None = Field(
        None, description="The request's `hash` as it was shown: an answer to anything else is refused."
    )


@router.get("")
async def list_approvals(
    platform: PlatformOf, caller: Caller, wanted: Annotated[Wanted, Query()]
) -> dict[str, Any]:
    """Requests to people, the newest first."""
    page = await platform.store.waits.list(
        owner=caller.owner, status=None if wanted.status == "all" else wanted.status, run_id=wanted.run_id,
        limit=wanted.limit, cursor=wanted.cursor,
    )  # fmt: skip
    person = person_of(caller)
    items = [wait for wait in page.items if not wanted.mine or person.is_asked(wait)]
    return {"items": [approval_json(wait) for wait in items], "next_cursor": page.cursor}


@router.get("/{request_id}")
async def get_approval(request_id: str, platform: PlatformOf, caller: Caller) -> dict[str, Any]:
    """One request: what is asked, of whom, and its answer."""
    return approval_json(await _request(platform, request_id, caller))


@router.post("/{request_id}/answer")
async def answer_approval(
    request_id: str, body: AnswerBody, platform: PlatformOf, caller: Caller
) -> dict[str, Any]:
    """Answer a request; the first valid answer wins, a later one is a conflict that says who answered."""
    await _request(platform, request_id, caller)
    given = Given(action=body.action, form=body.form, comment=body.comment, shown_hash=body.shown_hash)
    try:
        wait = await platform.waits.answer(request_id, given, person_of(caller))
    except Answered as error:
        raise ApiError(
            409, error.code, str(error), by=error.by, at=error.at, action=error.action, ended=error.status
        ) from None
    return approval_json(wait)


async def _request(platform: PlatformOf, request_id: str, caller: Key) -> Wait:
    wait = await platform.store.waits.get(request_id, owner=caller.owner)
    if wait.kind != "human":
        raise ApiError(404, "not_found", f"{request_id!r} is no request to people")
    return wait


def person_of(key: Key) -> Person:
    """Who answers with a key: the key's name; one without limits is the owner's."""
    role = "owner" if "*" in key.scopes else "member"
    return Person(name=key.name, owner=key.owner, roles=frozenset({role}))


def approval_json(wait: Wait) -> dict[str, Any]:
    """A request as lists and commands show it."""
    return {
        "id": wait.id, "run_id": wait.run_id, "path": wait.path, "phase": wait.phase, "status": wait.status,
        **{name: wait.request.get(name) for name in ("title", "message", "actions", "form", "config")},
        "hash": wait.hash, "assignees": wait.assignees, "quorum": wait.quorum, "allow_self": wait.allow_self,
        "created_at": wait.created_at, "until": wait.until, "reminded": wait.reminded, "action": wait.action,
        "answered_by": wait.answered_by, "answered_at": wait.answered_at, "comment": wait.comment,
        "filled": wait.form, "answers": wait.answers,
    }  # fmt: skip
