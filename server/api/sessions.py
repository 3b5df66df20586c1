"""`/api/v1/sessions`: conversations. A turn is a run; its events are the stream, and nothing is lost when that breaks off."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import Field

from interlace.flows.chat import Turn
from interlace.flows.platform import Platform
from interlace.flows.report import event_json
from interlace.server.api.shapes import EVENTS, EVENTS_OR_IDS
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs
from interlace.server.streaming import event_stream, last_event_id, server_event, streaming
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.sessions import Message, Session

router = APIRouter(prefix="/api/v1/sessions", tags=["sessions"])


class NewSession(Body):
    """A session to begin; without agent and workflow everything visible is there."""

    agent: str | None = Field(None, description="Name or id of an agent.")
    workflow: str | None = Field(None, description="Name or id of a workflow with `settings.chat: true`.")
    title: str = Field("", max_length=200, description="The first question, if not given.")


class SessionChange(Body):
    """What is to be changed."""

    title: str | None = Field(None, min_length=1, max_length=200)
    head: str | None = Field(None, description="Message at which the conversation goes on: another branch.")


class NewMessage(Body):
    """A question."""

    content: str = Field("", description="The text.")
    files: list[str] = Field(
        default_factory=list, max_length=20, description="References of uploads of yours."
    )
    parent: str | None = Field(
        None,
        description="Answer after which it is asked, where that is not where the session stands: a branch.",
    )


class Edit(Body):
    """A question in other words."""

    content: str
    files: list[str] | None = Field(
        None, description="Other attachments; those of the question if not given."
    )


class Words(Body):
    """What is said to the turn at work."""

    content: str


@router.get("", dependencies=[needs("sessions:read")])
async def list_sessions(
    platform: PlatformOf,
    by: By,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
    q: Annotated[str, Query(max_length=200, description="Words in the title or in a message.")] = "",
) -> dict[str, Any]:
    """The caller's sessions, the newest first."""
    page = await platform.store.sessions.list(owner=by.user_id, limit=limit, cursor=cursor, words=q.strip())
    return {"items": [asdict(found) for found in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("sessions:write")])
async def create_session(body: NewSession, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Begin a session."""
    made = await platform.chat.create(by=by, agent=body.agent, workflow=body.workflow, title=body.title)
    return asdict(made)


@router.get("/{session}", dependencies=[needs("sessions:read")])
async def get_session(session: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """A session with all its messages: a tree by `parent_id`; `head` is where the conversation stands."""
    found, messages = await platform.chat.read(session, by=by)
    return session_json(found, messages)


@router.patch("/{session}", dependencies=[needs("sessions:write")])
async def change_session(session: str, body: SessionChange, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Give it another title, or go on at another branch."""
    found = await platform.store.sessions.get(session, owner=by.user_id)
    if body.head is not None:
        message = await platform.store.sessions.message(body.head, session_id=found.id)
        if message.role != "assistant":
            raise ConflictError("a conversation goes on after an answer; give the id of one")
        await platform.store.sessions.stand_at(found.id, message.id)
    if body.title is not None:
        await platform.store.sessions.rename(found.id, body.title.strip(), who="user")
    return asdict(await platform.store.sessions.get(session, owner=by.user_id))


@router.delete("/{session}", status_code=204, dependencies=[needs("sessions:write")])
async def delete_session(session: str, platform: PlatformOf, by: By) -> None:
    """Remove a session with its messages and runs; what is at work is cancelled."""
    await platform.chat.delete(session, by=by)


@router.post(
    "/{session}/messages",
    response_class=StreamingResponse,
    responses=EVENTS_OR_IDS,
    dependencies=[needs("sessions:write")],
)
async def ask(
    request: Request, session: str, body: NewMessage, *, platform: PlatformOf, by: By,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
) -> Response:  # fmt: skip
    """Ask something. The answer is a stream: `turn`, the events of the run, and `message` with the finished answer.

    The answer is made whether the stream is read or not. With `Accept: application/json` the ids come at once instead.
    """
    branch: dict[str, Any] = {} if body.parent is None else {"parent": body.parent}
    turn = await platform.chat.send(
        session, body.content, by=by, files=body.files, key=idempotency_key or None, **branch
    )
    return _answer(request, platform, turn)


@router.put(
    "/{session}/messages/{message}",
    response_class=StreamingResponse,
    responses=EVENTS_OR_IDS,
    dependencies=[needs("sessions:write")],
)
async def edit(
    request: Request, session: str, message: str, body: Edit, *, platform: PlatformOf, by: By
) -> Response:
    """Ask a question in other words, as another branch; answers as `POST messages` does."""
    turn = await platform.chat.edit(session, message, body.content, by=by, files=body.files)
    return _answer(request, platform, turn)


@router.post(
    "/{session}/messages/{message}/regenerate",
    response_class=StreamingResponse,
    responses=EVENTS_OR_IDS,
    dependencies=[needs("sessions:write")],
)
async def regenerate(request: Request, session: str, message: str, platform: PlatformOf, by: By) -> Response:
    """Make an answer again, as another branch; answers as `POST messages` does."""
    return _answer(request, platform, await platform.chat.regenerate(session, message, by=by))


@router.get(
    "/{session}/events",
    response_class=StreamingResponse,
    responses=EVENTS,
    dependencies=[needs("sessions:read")],
)
async def get_events(
    request: Request, session: str, *, platform: PlatformOf, by: By,
    message: Annotated[str | None, Query(description="The answer; the one where the session stands if not given.")] = None,
    after: Annotated[int, Query(ge=0, description="Only events with a greater number.")] = 0,
) -> Response:  # fmt: skip
    """The events of a turn from the first on, or after `Last-Event-ID`, and `message` with the finished answer at the end."""
    found, messages = await platform.chat.read(session, by=by)
    wanted = message or found.head
    answer = next((entry for entry in messages if entry.id == wanted), None)
    if answer is None:
        raise NotFoundError(
            "nothing has been asked in this session" if wanted is None else f"no message {wanted!r}"
        )
    return streaming(_stream(platform, answer, last_event_id(request, after), request.app.state.leaving))


@router.post("/{session}/inject", status_code=202, dependencies=[needs("sessions:write")])
async def inject(session: str, body: Words, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Say something to the turn at work. What it does not take up any more is asked after it."""
    return {"run_id": await platform.chat.inject(session, body.content, by=by)}


@router.post("/{session}/cancel", dependencies=[needs("sessions:write")])
async def cancel(session: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """End the turn at work; what has been said of the answer stays."""
    return message_json(await platform.chat.cancel(session, by=by))


def session_json(session: Session, messages: list[Message]) -> dict[str, Any]:
    """A session with its messages."""
    return {**asdict(session), "messages": [message_json(message) for message in messages]}


def message_json(message: Message) -> dict[str, Any]:
    """A message as clients see it."""
    shown = asdict(message)
    shown["data"] = {name: value for name, value in message.data.items() if name != "key"}
    return shown


def _answer(request: Request, platform: Platform, turn: Turn) -> Response:
    ids = {
        "session": turn.session.id, "question": turn.question.id, "answer": turn.answer.id, "run_id": turn.answer.run_id,
    }  # fmt: skip
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(ids, status_code=202)
    return streaming(_stream(platform, turn.answer, 0, request.app.state.leaving, ids))


async def _stream(
    platform: Platform, answer: Message, after: int, leaving: asyncio.Event, ids: dict[str, Any] | None = None
) -> AsyncIterator[bytes]:
    if ids is not None:
        yield server_event("turn", ids)
    if answer.run_id is not None:
        # Also of an answer that is written: a client that comes back reads what it missed of how it was made.
        with contextlib.suppress(NotFoundError):  # the run was deleted
            async for piece in event_stream(platform, answer.run_id, after, leaving, event_json):
                yield piece
        if leaving.is_set():
            return
    answer = await platform.chat.settle(answer)
    yield server_event("message", message_json(answer))
