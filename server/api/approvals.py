"""`/api/v1/approvals`: requests to people, and their answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from interlace.engine.errors import InterlaceError
from interlace.engine.principal import Principal
from interlace.flows.answering import Answered, Given
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.server.api.shapes import Approval, ApprovalPage, answers
from interlace.server.auth import By, Caller, PlatformOf, name_of
from interlace.server.bodies import Body
from interlace.server.problems import ApiError, problem_body
from interlace.server.scopes import needs
from interlace.store.asked import Asked
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


class AssignBody(Body):
    """Who is asked instead."""

    to: str = Field(max_length=200, description="Name of the person who is asked in the caller's place.")
    comment: str | None = Field(None, max_length=10_000)


class AnswerBody(Body):
    """An answer."""

    action: str = Field(description="One of the request's actions.")
    form: dict[str, Any] = Field(default_factory=dict, description="Values by the request's form.")
    comment: str | None = Field(None, max_length=10_000)
    shown_hash: str | None = Field(
        None, description="The request's `hash` as it was shown: an answer to anything else is refused."
    )


class NamedAnswer(AnswerBody):
    """An answer to one of several requests."""

    id: str = Field(description="Id of the request.")


class AnswersBody(Body):
    """Answers to several requests."""

    answers: list[NamedAnswer] = Field(min_length=1, max_length=200)


@router.get("", responses=answers(200, ApprovalPage), dependencies=[needs("approvals:read")])
async def list_approvals(
    platform: PlatformOf, caller: Caller, by: By, wanted: Annotated[Wanted, Query()]
) -> dict[str, Any]:
    """Requests to people, the newest first; a page is full unless it is the last one."""
    page = await platform.store.waits.list(
        owner=by, status=None if wanted.status == "all" else wanted.status, run_id=wanted.run_id,
        asked=asked_of(caller, by, await name_of(platform, caller)) if wanted.mine else None,
        limit=wanted.limit, cursor=wanted.cursor,
    )  # fmt: skip
    return {"items": [approval_json(wait) for wait in page.items], "next_cursor": page.cursor}


@router.post("/answer", dependencies=[needs("approvals:answer")])
async def answer_approvals(body: AnswersBody, platform: PlatformOf, caller: Caller, by: By) -> dict[str, Any]:
    """Answer several requests, each on its own: `items` has for each the request, or the `error` why it took no answer."""
    name = await name_of(platform, caller)
    items = [await _one_of_many(platform, each, caller, by, name) for each in body.answers]
    failed = sum(1 for item in items if "error" in item)
    return {"items": items, "answered": len(items) - failed, "failed": failed}


async def _one_of_many(
    platform: Platform, each: NamedAnswer, caller: Key, by: Principal, name: str
) -> dict[str, Any]:
    try:
        wait = await _answer(platform, each.id, each, caller, by, name)
    except (ApiError, InterlaceError) as error:
        return {"id": each.id, "error": problem_body(error)}
    return {"id": each.id, "request": approval_json(wait)}


@router.get("/{request_id}", responses=answers(200, Approval), dependencies=[needs("approvals:read")])
async def get_approval(request_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One request: what is asked, of whom, and its answer."""
    return approval_json(await _request(platform, request_id, by))


@router.post(
    "/{request_id}/answer", responses=answers(200, Approval), dependencies=[needs("approvals:answer")]
)
async def answer_approval(
    request_id: str, body: AnswerBody, platform: PlatformOf, caller: Caller, by: By
) -> dict[str, Any]:
    """Answer a request; the first valid answer wins, a later one is a conflict that says who answered."""
    return approval_json(
        await _answer(platform, request_id, body, caller, by, await name_of(platform, caller))
    )


@router.post(
    "/{request_id}/assign", responses=answers(200, Approval), dependencies=[needs("approvals:answer")]
)
async def assign_approval(
    request_id: str, body: AssignBody, platform: PlatformOf, caller: Caller, by: By
) -> dict[str, Any]:
    """Hand a request that asks the caller to somebody else; the request's `history` and the audit keep that."""
    asked = await _request(platform, request_id, by)
    person = person_of(caller, by, await name_of(platform, caller), asked)
    try:
        wait = await platform.waits.assign(request_id, body.to, person, comment=body.comment)
    except Answered as error:
        raise _too_late(error) from None
    await platform.store.audit.record(
        by, "approval.assign", "approval", wait.id, name=wait.title, org_id=wait.org_id,
        detail={"to": body.to, "run_id": wait.run_id},
    )  # fmt: skip
    return approval_json(wait)


async def _answer(  # noqa: PLR0917 - who answers what
    platform: Platform, request_id: str, body: AnswerBody, caller: Key, by: Principal, name: str
) -> Wait:
    person = person_of(caller, by, name, await _request(platform, request_id, by))
    given = Given(action=body.action, form=body.form, comment=body.comment, shown_hash=body.shown_hash)
    try:
        wait = await platform.waits.answer(request_id, given, person)
    except Answered as error:
        raise _too_late(error) from None
    await platform.store.audit.record(
        by, "approval.answer", "approval", wait.id, name=wait.title, org_id=wait.org_id,
        detail={"action": body.action, "run_id": wait.run_id},
    )  # fmt: skip
    return wait


def _too_late(error: Answered) -> ApiError:
    return ApiError(
        409, error.code, str(error), by=error.by, at=error.at, action=error.action, ended=error.status
    )


async def _request(platform: PlatformOf, request_id: str, by: Principal) -> Wait:
    wait = await platform.store.waits.get(request_id, owner=by)
    if wait.kind != "human":
        raise ApiError(404, "not_found", f"{request_id!r} is no request to people")
    return wait


def asked_of(key: Key, by: Principal, name: str) -> Asked:
    """The caller as requests name people; the titles are those of `person_of`."""
    own = "owner" if "*" in key.scopes else "member"
    return Asked(name=name, user_id=by.user_id, own_role=own, roles=by.roles)


def person_of(key: Key, by: Principal, name: str, wait: Wait) -> Person:
    """Who answers a request: in an organisation's run with the role there, in one's own as owner, if the key is without limits."""
    role: str = "owner" if "*" in key.scopes and wait.owner == by.user_id else "member"
    return Person(name=name, owner=by, roles=frozenset({by.roles.get(wait.org_id or "", role)}))


def approval_json(wait: Wait) -> dict[str, Any]:
    """A request as lists and commands show it."""
    return {
        "id": wait.id, "run_id": wait.run_id, "path": wait.path, "phase": wait.phase, "status": wait.status,
        **{name: wait.request.get(name) for name in ("title", "message", "actions", "form", "config")},
        "hash": wait.hash, "assignees": wait.assignees, "quorum": wait.quorum, "allow_self": wait.allow_self,
        "created_at": wait.created_at, "until": wait.until, "reminded": wait.reminded, "action": wait.action,
        "answered_by": wait.answered_by, "answered_at": wait.answered_at, "comment": wait.comment,
        "filled": wait.form, "answers": wait.answers, "history": wait.history,
    }  # fmt: skip
