"""`/v1/responses`: made, streamed, made in the background, looked up, cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from interlace.engine.principal import Principal
from interlace.flows.conversation import ASKED
from interlace.flows.platform import Platform
from interlace.flows.stateless import Found, Target
from interlace.server.asked import pending_of
from interlace.server.auth import By, Caller, PlatformOf
from interlace.server.encoding import to_json
from interlace.server.openai.asking import Wish, asked_of, functions, schema_of
from interlace.server.openai.completions import WAIT_SECONDS, WHOLE_OR_STREAM
from interlace.server.openai.errors import WireError, WireRoute, refused, response_of
from interlace.server.openai.items import events_of, input_entries
from interlace.server.openai.replying import Reply, place_key, sent
from interlace.server.openai.targets import resolve
from interlace.server.openai.turns import Begun, Turns, Wanted
from interlace.server.scopes import needs
from interlace.server.streaming import streaming
from interlace.store.keys import Key
from interlace.store.places import Place

router = APIRouter(prefix="/v1/responses", tags=["openai"], route_class=WireRoute)
_CANCEL_SECONDS = 5.0


class Conversation(BaseModel):
    """A session to go on in."""

    id: str


class ResponseRequest(BaseModel):
    """A question, as OpenAI's Responses API writes it.

    Other parameters of that API are honoured, or refused by name; none is ignored.
    """

    model_config = ConfigDict(extra="allow")
    model: str = Field(
        min_length=1, max_length=300, description="`auto`, an agent, or a published chat workflow."
    )
    input: str | list[dict[str, Any]] = Field(description="The question, or the whole conversation as items.")
    instructions: str | None = Field(None, description="What the application says to the model in this turn.")
    previous_response_id: str | None = Field(None, description="Response after which this is asked.")
    conversation: str | Conversation | None = Field(None, description="Session to go on in.")
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    background: bool | None = Field(
        None, description="Answer at once with the id, and make the response meanwhile."
    )
    store: bool | None = Field(
        None, description="False: the response is not to be found by its id afterwards."
    )
    tools: list[dict[str, Any]] | None = Field(None, description="Functions that the client carries out.")
    text: dict[str, Any] | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    max_output_tokens: int | None = Field(None, ge=1)
    metadata: dict[str, str] | None = None


@router.post(
    "", responses=WHOLE_OR_STREAM, dependencies=[needs("sessions:write")], operation_id="create_response"
)
async def create_response(
    request: Request, body: ResponseRequest, *, platform: PlatformOf, by: By, caller: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
    x_stainless_retry_count: Annotated[str | None, Header(max_length=10)] = None,
) -> Response:  # fmt: skip
    """Ask an agent or a workflow. The turn is a run, and goes on whether anybody reads its answer or not."""
    target, document = await resolve(platform, body.model, by)
    wish = _wish(body)
    if body.background and body.store is False:
        raise refused(
            "store", "a response that is made in the background is looked up by its id", "invalid_value"
        )
    turns = Turns(platform, by, caller, request.app.state.leaving)
    found = None
    if body.previous_response_id is not None:
        found = await _after(platform, by, body.previous_response_id, wish)
    session = body.conversation.id if isinstance(body.conversation, Conversation) else body.conversation
    if found is not None and session is not None:
        raise refused(
            "conversation", "a response and a session both say where to go on; give one", "invalid_value"
        )
    begun = await turns.begin(
        Wanted(
            target=target, document=document, entries=wish.entries, asked=asked_of(wish, document), session=session,
            found=found, key=idempotency_key or None, again=x_stainless_retry_count not in (None, "0"),
        )
    )  # fmt: skip
    begun.patient = bool(body.background)
    reply = Reply(platform, turns, begun, _echo(body, begun))
    await reply.keep_open(_listed(body.input))
    if body.background:
        platform.runner.background(_make(reply))
        if body.stream:
            return streaming(reply.stream())
        return _json(reply.body("queued"))
    if body.stream:
        return streaming(reply.stream())
    begun.until = asyncio.get_running_loop().time() + WAIT_SECONDS
    response = await reply.whole()
    if reply.error is None:
        return _json(response)
    return response_of(reply.error, retry=response["status"] == "in_progress")


async def _make(reply: Reply) -> None:
    await reply.whole()


def _wish(body: ResponseRequest) -> Wish:
    told, entries = input_entries(body.input)
    if not entries:
        raise WireError(400, "nothing is asked", code="invalid_value", param="input")
    form = dict(body.text or {})
    given = dict(body.model_extra or {}) | {
        "temperature": body.temperature, "max_output_tokens": body.max_output_tokens, "verbosity": form.get("verbosity"),
    }  # fmt: skip
    return Wish(
        told="\n\n".join(text for text in (body.instructions or "", told) if text), entries=entries,
        tools=functions(body.tools or (), flat=True), schema=schema_of(form.get("format"), "text.format", flat=True),
        given=given,
    )  # fmt: skip


async def _after(platform: Platform, by: Principal, response_id: str, wish: Wish) -> Found:
    place = await _place(platform, by, response_id)
    if place.data.get("open"):
        raise WireError(
            409, f"the response {response_id} is being made", code="conflict", param="previous_response_id"
        )
    return Found(
        session_id=place.session_id, parent_id=place.message_id, place=place, said=tuple(wish.entries),
        before=place.key,
    )  # fmt: skip


async def _place(platform: Platform, by: Principal, response_id: str) -> Place:
    key = place_key(response_id)
    place = (await platform.store.places.find(by.user_id, [key])).get(key)
    if place is None:
        raise WireError(
            404, f"Response with id '{response_id}' not found.", code="not_found", param="response_id"
        )
    return place


def _echo(body: ResponseRequest, begun: Begun) -> dict[str, Any]:
    """What of the request stands in the response."""
    extra = body.model_extra or {}
    return {
        "background": bool(body.background), "instructions": body.instructions, "model": body.model,
        "max_output_tokens": body.max_output_tokens, "metadata": body.metadata or {}, "parallel_tool_calls": True,
        "previous_response_id": body.previous_response_id, "store": body.store is not False,
        "temperature": body.temperature, "text": {"format": {"type": "text"}, **(body.text or {})},
        "tool_choice": extra.get("tool_choice") or "auto", "tools": body.tools or [], "top_p": None,
        "truncation": "disabled", "user": extra.get("user"), "conversation": {"id": begun.found.session_id},
        "reasoning": {"effort": None, "summary": None}, "service_tier": "default",
    }  # fmt: skip


def _listed(given: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The input as items with ids."""
    if isinstance(given, str):
        given = [{"type": "message", "role": "user", "content": given}]
    found = []
    for index, item in enumerate(given):
        content = item.get("content")
        if isinstance(content, str):
            kind = "output_text" if item.get("role") == "assistant" else "input_text"
            item = {**item, "content": [{"type": kind, "text": content}]}  # noqa: PLW2901
        found.append({"type": "message", "id": f"item_{index}", "status": "completed", **item})
    return found


@router.get(
    "/{response_id}",
    responses=WHOLE_OR_STREAM,
    dependencies=[needs("sessions:read")],
    operation_id="get_response",
)
async def get_response(
    request: Request, response_id: str, *, platform: PlatformOf, by: By, caller: Caller,
    stream: Annotated[bool, Query()] = False, starting_after: Annotated[int, Query(ge=-1)] = -1,
) -> Response:  # fmt: skip
    """A response as it stands now; with `stream` its events after a number."""
    place = await _place(platform, by, response_id)
    if "response" in place.data:
        response = place.data["response"]
        if not stream:
            return _json(response)
        return streaming(_again(response, starting_after))
    reply = await _reopened(request, platform, place, response_id, by, caller)
    if stream:
        return streaming(reply.stream(starting_after))
    answer = await platform.chat.settle(await platform.store.sessions.message(place.message_id))
    if answer.status == "running" and not await pending_of(platform, str(answer.run_id)):
        return _json(reply.body("in_progress"))
    return _json(await reply.whole())


async def _reopened(  # noqa: PLR0917
    request: Request, platform: Platform, place: Place, response_id: str, by: Principal, caller: Key
) -> Reply:
    """A response that was begun by another request, perhaps of a process that is gone."""
    answer = await platform.store.sessions.message(place.message_id)
    session = await platform.store.sessions.get(place.session_id, owner=by.user_id)
    question = await platform.store.sessions.message(str(answer.parent_id))
    target = Target(
        name=str(place.data["echo"]["model"]), agent_id=session.agent_id, workflow_id=session.workflow_id
    )
    document = None
    if answer.run_id is not None and session.workflow_id is not None:
        run = await platform.store.runs.get(answer.run_id)
        document = await platform.documents.read(run.document_hash)
    wanted = Wanted(target=target, document=document, entries=(), asked=question.data.get(ASKED, {}))
    found = Found(
        session_id=place.session_id, parent_id=answer.parent_id, place=None, said=(), before=place.key
    )
    begun = Begun(found=found, answer=answer, after=int(place.data["seq"]), wanted=wanted)
    begun.patient = bool(place.data["echo"].get("background"))
    turns = Turns(platform, by, caller, request.app.state.leaving)
    return Reply(platform, turns, begun, place.data["echo"], response_id)


async def _again(response: Mapping[str, Any], after: int) -> AsyncIterator[bytes]:
    head = {**response, "status": "in_progress", "output": [], "usage": None}
    kind = {"incomplete": "response.incomplete", "failed": "response.failed"}.get(
        response["status"], "response.completed"
    )
    first = next((item["id"] for item in response["output"] if item["type"] == "message"), "msg_")
    events = [
        *events_of(first.removeprefix("msg_"), response, head),
        {"type": kind, "response": dict(response)},
    ]
    for number, event in enumerate(events):
        if number > after:
            yield sent(event, number)


@router.get(
    "/{response_id}/input_items", dependencies=[needs("sessions:read")], operation_id="list_input_items"
)
async def get_input_items(response_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """What a response was asked."""
    items = (await _place(platform, by, response_id)).data.get("echo", {}).get("input_items", [])
    first, last = (items[0]["id"], items[-1]["id"]) if items else (None, None)
    return {"object": "list", "data": items, "first_id": first, "last_id": last, "has_more": False}


@router.post("/{response_id}/cancel", dependencies=[needs("sessions:write")], operation_id="cancel_response")
async def cancel_response(
    request: Request, response_id: str, platform: PlatformOf, by: By, caller: Caller
) -> Response:
    """End a response that is made in the background; what has been said of it stays in the session."""
    place = await _place(platform, by, response_id)
    echo = place.data.get("echo", {})
    if not echo.get("background"):
        raise WireError(
            400, "Cannot cancel a synchronous response.", code="invalid_value", param="response_id"
        )
    if "response" in place.data:
        return _json(place.data["response"])
    answer = await platform.store.sessions.message(place.message_id)
    if answer.run_id is not None and await platform.runner.cancel(answer.run_id, "cancelled by the client"):
        await platform.runner.wait(answer.run_id, _CANCEL_SECONDS)
    reply = await _reopened(request, platform, place, response_id, by, caller)
    return _json(await reply.whole())


@router.delete("/{response_id}", dependencies=[needs("sessions:write")], operation_id="delete_response")
async def delete_response(response_id: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Forget a response; the session in which it was made stays until it is deleted itself."""
    place = await _place(platform, by, response_id)
    await platform.store.places.remove(by.user_id, place.key)
    return {"id": response_id, "object": "response", "deleted": True}


def _json(value: Any) -> Response:
    return Response(to_json(value), media_type="application/json")
