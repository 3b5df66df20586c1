"""`/v1/models` and `/v1/chat/completions`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from interlace.flows.platform import Platform
from interlace.server.asked import shown
from interlace.server.auth import By, Caller, PlatformOf
from interlace.server.encoding import to_json
from interlace.server.openai.asking import Wish, asked_of, functions, schema_of
from interlace.server.openai.contents import chat_entries
from interlace.server.openai.errors import (
    WireError,
    WireRoute,
    error_body,
    response_of,
    run_error,
    wire_error,
)
from interlace.server.openai.following import Ended, Text
from interlace.server.openai.targets import list_models, resolve
from interlace.server.openai.turns import Begun, Turns, Wanted
from interlace.server.scopes import needs
from interlace.server.streaming import streaming

router = APIRouter(prefix="/v1", tags=["openai"], route_class=WireRoute)
WAIT_SECONDS = 540.0
"""So long an answer in one piece is waited for: less than clients wait."""
_FINISH = {"done": "stop", "length": "length", "calls": "tool_calls", "asked": "stop", "running": "stop"}


WHOLE_OR_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer, whole or as a stream of chunks.",
        "content": {"application/json": {"schema": {"type": "object"}}, "text/event-stream": {"schema": {}}},
    }
}  # fmt: skip


class StreamOptions(BaseModel):
    """How an answer is streamed."""

    include_usage: bool | None = Field(None, description="Send the tokens as a last chunk without choices.")
    include_obfuscation: bool | None = Field(None, description="Never done.")


class Extension(BaseModel):
    """What only this server knows."""

    model_config = ConfigDict(extra="forbid")
    session: str | None = Field(
        None, description="Session to go on in: it holds the history, and `messages` are what is new."
    )


class ChatCompletionRequest(BaseModel):
    """A question with the conversation before it, as OpenAI's chat API writes it.

    Other parameters of that API are honoured, or refused by name; none is ignored.
    """

    model_config = ConfigDict(extra="allow")
    model: str = Field(
        min_length=1, max_length=300, description="`auto`, an agent, or a published chat workflow."
    )
    messages: list[dict[str, Any]] = Field(
        min_length=1, description="The whole conversation; it is the history."
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: list[dict[str, Any]] | None = Field(None, description="Functions that the client carries out.")
    response_format: dict[str, Any] | None = Field(
        None, description="`text`, `json_object` or `json_schema`."
    )
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    metadata: dict[str, str] | None = None
    x_interlace: Extension | None = None


@router.get("/models", dependencies=[needs("sessions:read")], operation_id="list_chat_models")
async def get_models(platform: PlatformOf, by: By) -> dict[str, Any]:
    """`auto`, the caller's agents, and published chat workflows."""
    return {"object": "list", "data": await list_models(platform, by)}


@router.get("/models/{model:path}", dependencies=[needs("sessions:read")], operation_id="get_chat_model")
async def get_model(model: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One of them."""
    known = {entry["id"]: entry for entry in await list_models(platform, by)}
    if model not in known:
        raise WireError(404, f"the model {model!r} does not exist", code="model_not_found", param="model")
    return known[model]


@router.post(
    "/chat/completions",
    responses=WHOLE_OR_STREAM,
    dependencies=[needs("sessions:write")],
    operation_id="create_chat_completion",
)
async def chat_completions(
    request: Request, body: ChatCompletionRequest, *, platform: PlatformOf, by: By, caller: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
    x_stainless_retry_count: Annotated[str | None, Header(max_length=10)] = None,
) -> Response:  # fmt: skip
    """Ask an agent or a workflow. The turn is a run, and goes on whether anybody reads its answer or not."""
    target, document = await resolve(platform, body.model, by)
    told, entries = chat_entries(body.messages)
    given = dict(body.model_extra or {})
    for name in ("temperature", "max_tokens", "max_completion_tokens"):
        given[name] = getattr(body, name)
    wish = Wish(
        told=told, entries=entries, tools=functions(body.tools or (), flat=False),
        schema=schema_of(body.response_format, "response_format", flat=False), given=given,
    )  # fmt: skip
    if not entries:
        raise WireError(
            400, "nothing is asked: send a message of the user", code="invalid_value", param="messages"
        )
    turns = Turns(platform, by, caller, request.app.state.leaving)
    begun = await turns.begin(
        Wanted(
            target=target, document=document, entries=entries, asked=asked_of(wish, document),
            session=body.x_interlace.session if body.x_interlace is not None else None, key=idempotency_key or None,
            again=x_stainless_retry_count not in (None, "0"),
        )
    )  # fmt: skip
    answer = _Answer(platform, turns, begun, body)
    if body.stream:
        return streaming(answer.stream())
    begun.until = asyncio.get_running_loop().time() + WAIT_SECONDS
    return await answer.whole()


class _Answer:
    """One answer, whole or as chunks."""

    def __init__(self, platform: Platform, turns: Turns, begun: Begun, body: ChatCompletionRequest) -> None:
        self._platform, self._turns, self._begun, self._body = platform, turns, begun, body
        self._head = {"id": f"chatcmpl-{begun.answer.id}", "created": int(time.time()), "model": body.model}
        self._text = ""

    async def whole(self) -> Response:
        """The answer in one piece."""
        streamed = ""
        async for piece in self._turns.pieces(self._begun):
            if isinstance(piece, Text):
                streamed += piece.text
            elif isinstance(piece, Ended):
                return await self._complete(piece, streamed)
        raise AssertionError("a turn ends")

    async def _complete(self, ended: Ended, text: str) -> Response:
        if ended.status in ("failed", "cancelled"):
            return response_of(run_error(ended.error, ended.status), retry=False)
        if ended.status == "running" and self._turns.leaving:
            return response_of(self._turns.left())
        await self._turns.remember(self._begun, text, ended)
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if ended.status == "calls":
            message |= {"content": text or None, "tool_calls": [_call(call) for call in ended.calls]}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[ended.status]}
        found = {
            **self._head, "object": "chat.completion", "choices": [choice], "usage": await self._usage(),
            "x_interlace": self._about(ended),
        }  # fmt: skip
        if self._body.metadata:
            found["metadata"] = self._body.metadata
        return Response(to_json(found), media_type="application/json")

    async def stream(self) -> AsyncIterator[bytes]:
        """The answer as chunks; a stream that is closed changes nothing of the turn."""
        yield self._chunk({"role": "assistant", "content": "", "refusal": None})
        text = ""
        try:
            async for piece in self._turns.pieces(self._begun):
                if piece is None:
                    yield b": still here\n\n"
                elif isinstance(piece, Text):
                    text += piece.text
                    yield self._chunk({"content": piece.text})
                elif isinstance(piece, Ended):
                    async for last in self._last(piece, text):
                        yield last
        except Exception as error:  # noqa: BLE001 - the status was sent already
            yield _data(error_body(wire_error(error)))

    async def _last(self, ended: Ended, text: str) -> AsyncIterator[bytes]:
        if ended.status in ("failed", "cancelled"):
            yield _data(
                {**error_body(run_error(ended.error, ended.status)), "x_interlace": self._about(ended)}
            )
            return
        if ended.status == "running" and self._turns.leaving:
            yield _data({**error_body(self._turns.left()), "x_interlace": self._about(ended)})
            return
        await self._turns.remember(self._begun, text, ended)
        for index, call in enumerate(ended.calls if ended.status == "calls" else ()):
            yield self._chunk({"tool_calls": [{"index": index, **_call(call)}]})
        yield self._chunk({}, _FINISH[ended.status], x_interlace=self._about(ended))
        if self._body.stream_options is not None and self._body.stream_options.include_usage:
            head = {**self._head, "object": "chat.completion.chunk"}
            yield _data({**head, "choices": [], "usage": await self._usage()})
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._head, "object": "chat.completion.chunk", "choices": [choice], **more})

    async def _usage(self) -> dict[str, Any]:
        taken, made, cached, thought = await self._turns.usage(self._begun)
        return {
            "prompt_tokens": taken, "completion_tokens": made, "total_tokens": taken + made,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }  # fmt: skip

    def _about(self, ended: Ended) -> dict[str, Any]:
        return about(self._platform, self._begun, ended)


def about(platform: Platform, begun: Begun, ended: Ended) -> dict[str, Any]:
    """What only this server says of an answer."""
    status = {"calls": "suspended", "asked": "suspended", "done": "succeeded", "length": "succeeded"}
    return {
        "session": begun.found.session_id, "message": ended.answer.id, "run_id": ended.answer.run_id,
        "status": status.get(ended.status, ended.status), "pending": shown(platform, ended.pending.people),
    }  # fmt: skip


def _call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = to_json(call["arguments"]).decode()
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _data(value: Any) -> bytes:
    return b"data: " + to_json(value) + b"\n\n"
