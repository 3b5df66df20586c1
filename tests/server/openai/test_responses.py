"""`/v1/responses` as the openai package uses it."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from interlace.engine.principal import LOCAL
from tests.server.openai.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="module")
WEATHER: Any = {
    "type": "function", "name": "weather", "description": "The weather of a city.", "strict": True,
    "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False,
    },
}  # fmt: skip


async def test_a_response_and_the_one_after_it(world: World, sdk: openai.AsyncOpenAI) -> None:
    first = await sdk.responses.create(model="guide", input="one", metadata={"a": "b"})
    assert (first.status, first.output_text, first.metadata) == ("completed", "heard u:one", {"a": "b"})
    assert first.usage is not None
    assert first.usage.total_tokens == first.usage.input_tokens + first.usage.output_tokens > 0
    second = await sdk.responses.create(
        model="guide", input="two", previous_response_id=first.id, instructions="Be brief."
    )
    assert second.output_text == (
        "heard u:<instructions>\nBe brief.\n</instructions> | u:one | a:heard u:one | u:two"
    )
    # Another one after the first: another branch.
    branch = await sdk.responses.create(model="guide", input="2", previous_response_id=first.id)
    assert branch.output_text == "heard u:one | a:heard u:one | u:2"
    got = await sdk.responses.retrieve(second.id)
    assert (got.output_text, got.previous_response_id) == (second.output_text, first.id)
    items = await sdk.responses.input_items.list(second.id)
    assert [item.content[0].text for item in items.data] == ["two"]  # type: ignore[union-attr]
    assert (await sdk.responses.retrieve(first.id)).output_text == "heard u:one"
    # The whole conversation as items leads to the same place.
    items_in: Any = [
        {"role": "user", "content": "one"}, *[item.model_dump() for item in first.output],
        {"role": "user", "content": [{"type": "input_text", "text": "two"}]},
    ]  # fmt: skip
    third: Any = await sdk.responses.create(model="guide", input=items_in)
    assert third.output_text == "heard u:one | a:heard u:one | u:two"
    assert third.x_interlace["session"] == second.model_extra["x_interlace"]["session"]  # type: ignore[index]
    await sdk.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        await sdk.responses.retrieve(second.id)


async def test_the_events_of_a_stream(sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.responses.create(model="guide", input="slow", stream=True)
    events = [event async for event in stream]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    ]  # fmt: skip
    assert kinds[-4:] == [
        "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert kinds.count("response.output_text.delta") > 3
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == "slowly " * 30
    async with sdk.responses.stream(model="counter", input="hello") as helper:
        final = await helper.get_final_response()
    assert final.output_text == "heard u:hello"


@pytest.mark.parametrize("streamed", [False, True])
async def test_tools_of_the_client(world: World, sdk: openai.AsyncOpenAI, streamed: bool) -> None:
    async def ask(**given: Any) -> Any:
        if not streamed:
            return await sdk.responses.create(model="guide", tools=[WEATHER], **given)
        async with sdk.responses.stream(model="guide", tools=[WEATHER], **given) as helper:
            return await helper.get_final_response()

    first = await ask(input=f"weather {streamed}")
    calls = [item for item in first.output if item.type == "function_call"]
    assert [(call.call_id, call.name, call.arguments) for call in calls] == [
        ("call_1", "weather", '{"city":"Rome"}'),
        ("call_2", "weather", '{"city":"Oslo"}'),
    ]
    assert first.output_text == "I look."
    outputs: Any = [
        {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"} for call in calls
    ]
    second = await ask(input=outputs, previous_response_id=first.id)
    assert second.output_text == "It is sunny in Rome."
    assert second.id != first.id
    assert [item.type for item in (await sdk.responses.retrieve(first.id)).output] == [
        "message", "function_call", "function_call",
    ]  # fmt: skip
    # Without ids: all items are sent.
    again = await ask(input=f"weather items {streamed}")
    whole: Any = [
        {"role": "user", "content": f"weather items {streamed}"},
        *[item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in again.output],
        *[{"type": "function_call_output", "call_id": c, "output": "rain"} for c in ("call_1", "call_2")],
    ]
    assert (await ask(input=whole)).output_text == "It is sunny in Rome."
    assert world.models.requests[-1].messages[-1]["content"] == "rain"


async def test_structured_output(sdk: openai.AsyncOpenAI) -> None:
    class Weather(BaseModel):
        city: str
        degrees: int

    parsed = await sdk.responses.parse(model="guide", input="as data", text_format=Weather)
    assert parsed.output_parsed == Weather(city="Rome", degrees=21)


async def test_in_the_background(world: World, sdk: openai.AsyncOpenAI) -> None:
    begun = await sdk.responses.create(model="guide", input="slow, later", background=True)
    assert (begun.status, begun.output) == ("queued", [])
    assert (await sdk.responses.retrieve(begun.id)).status == "in_progress"
    with pytest.raises(openai.ConflictError):
        await sdk.responses.create(model="guide", input="more", previous_response_id=begun.id)
    events = [event async for event in await sdk.responses.retrieve(begun.id, stream=True, starting_after=2)]
    assert events[0].sequence_number == 3
    assert events[-1].type == "response.completed"
    assert (await sdk.responses.retrieve(begun.id)).output_text == "slowly " * 30
    assert (await sdk.responses.cancel(begun.id)).status == "completed"


async def test_cancelling(world: World, sdk: openai.AsyncOpenAI) -> None:
    begun: Any = await sdk.responses.create(model="guide", input="slow, but not to its end", background=True)
    cancelled = await sdk.responses.cancel(begun.id)
    assert cancelled.status == "cancelled"
    assert (await sdk.responses.retrieve(begun.id)).status == "cancelled"
    session = (await world.platform.store.sessions.list(owner="local")).items[0]
    _, messages = await world.platform.chat.read(session.id, by=LOCAL)
    assert messages[-1].status == "cancelled"
    plain = await sdk.responses.create(model="guide", input="x")
    with pytest.raises(openai.BadRequestError, match="synchronous"):
        await sdk.responses.cancel(plain.id)


async def test_a_gate_and_the_next_message(world: World, sdk: openai.AsyncOpenAI) -> None:
    first: Any = await sdk.responses.create(model="gated", input="order")
    (pending,) = first.x_interlace["pending"]
    assert (first.status, pending["title"]) == ("completed", "Send order?")
    assert pending["link"] in first.output_text
    second = await sdk.responses.create(model="gated", input="approve", previous_response_id=first.id)
    assert second.output_text == "order: approve"
    third = await sdk.responses.create(
        model="gated", input="again", conversation=first.x_interlace["session"]
    )
    assert "Send again?" in third.output_text


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools.0"), ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0.type"),
        ({"background": True, "store": False}, "store"), ({"reasoning": {"effort": "high"}}, "reasoning"),
        ({"include": ["message.output_text.logprobs"]}, "include"), ({"prompt": {"id": "p"}}, "prompt"),
        ({"truncation": "never"}, "truncation"), ({"text": {"format": {"type": "xml"}}}, "text.format"),
        ({"extra_body": {"colour": 1}}, "colour"), ({"input": []}, "input"), ({"input": 7}, None),
    ],
)  # fmt: skip
async def test_what_is_not_honoured_is_refused(
    sdk: openai.AsyncOpenAI, given: dict[str, Any], param: str | None
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        await sdk.responses.create(**{"model": "guide", "input": "x", **given})
    if param is not None:
        assert caught.value.param == param


async def test_errors(world: World, sdk: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        await sdk.responses.create(model="guide", input="x", previous_response_id="resp_none")
    with pytest.raises(openai.InternalServerError):
        await sdk.responses.create(model="broken", input="x")
    stream = await sdk.responses.create(model="broken", input="x", stream=True)
    last = [event async for event in stream][-1]
    assert last.type == "response.failed"
    unkept = await sdk.responses.create(model="guide", input="x", store=False)
    with pytest.raises(openai.NotFoundError):
        await sdk.responses.retrieve(unkept.id)
    _, key = await world.platform.store.keys.create("strange", owner="another")
    kept = await sdk.responses.create(model="auto", input="mine")
    for attempt in ("retrieve", "cancel", "delete"):
        with pytest.raises(openai.NotFoundError):
            await getattr(world.client(api_key=key).responses, attempt)(kept.id)


async def test_a_server_that_ends_does_not_call_a_response_finished(
    world: World, sdk: openai.AsyncOpenAI
) -> None:
    leaving = world.app.state.leaving
    begun = await sdk.responses.create(model="guide", input="slow, over a restart", background=True)
    stream = await sdk.responses.create(model="guide", input="slow, as a stream", stream=True)
    kinds = []
    async for event in stream:
        kinds.append(event.type)
        if event.type == "response.output_text.delta":
            leaving.set()
    assert "response.completed" not in kinds
    try:
        with pytest.raises(openai.InternalServerError, match="restarting") as refused:
            await sdk.responses.create(model="guide", input="slow, as a whole")
        assert refused.value.response.headers["retry-after"] == "2"
        with pytest.raises(openai.InternalServerError, match="restarting"):
            await sdk.chat.completions.create(
                model="guide", messages=[{"role": "user", "content": "slow, as a chat"}]
            )
        chunks: Any = await sdk.chat.completions.create(
            model="guide", messages=[{"role": "user", "content": "slow, in chunks"}], stream=True
        )
        with pytest.raises(openai.APIError, match="restarting"):
            assert [c async for c in chunks if c.choices[0].finish_reason] == []
        assert (await sdk.responses.retrieve(begun.id)).status == "in_progress"
    finally:
        leaving.clear()
    events = [event async for event in await sdk.responses.retrieve(begun.id, stream=True)]
    assert events[-1].type == "response.completed"
    assert (await sdk.responses.retrieve(begun.id)).output_text == "slowly " * 30


async def test_an_idempotency_key_stands_for_one_question(world: World, sdk: openai.AsyncOpenAI) -> None:
    async def ask(text: str, key: str) -> Any:
        return await sdk.responses.create(model="guide", input=text, extra_headers={"Idempotency-Key": key})

    async def patiently(text: str) -> Any:
        try:
            return await ask(text, "at-once")
        except openai.ConflictError:
            return None

    before = len((await world.platform.store.sessions.list(owner="local", limit=200)).items)
    answers = [found for found in await asyncio.gather(*(patiently("twice") for _ in range(4))) if found]
    again = await ask("twice", "at-once")
    assert {found.id for found in (*answers, again)} == {again.id}
    assert len((await world.platform.store.sessions.list(owner="local", limit=200)).items) == before + 1
    with pytest.raises(openai.UnprocessableEntityError, match="another request"):
        await ask("something else", "at-once")
    with pytest.raises(openai.NotFoundError):
        await sdk.responses.create(model="none", input="x", extra_headers={"Idempotency-Key": "failed"})
    assert (await ask("x", "failed")).output_text == "heard u:x"
