"""`/v1/models` and `/v1/chat/completions` as the openai package uses them."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam
from pydantic import BaseModel

from interlace.engine.principal import LOCAL
from tests.server.openai.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="module")
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather", "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}  # fmt: skip


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


def said(text: str | None) -> ChatCompletionMessageParam:
    return {"role": "assistant", "content": text}


async def session_of(world: World, answer: Any) -> list[tuple[str, str, str | None]]:
    """The messages of the session that an answer belongs to."""
    messages = await world.platform.store.sessions.messages(answer.x_interlace["session"])
    return [(message.role, message.content, message.parent_id) for message in messages]


async def test_models_are_auto_agents_and_chat_workflows(sdk: openai.AsyncOpenAI) -> None:
    found = [model.id async for model in sdk.models.list()]
    assert found == ["auto", "guide", "broken", "counter", "gated"]
    assert (await sdk.models.retrieve("counter")).owned_by == "interlace"
    with pytest.raises(openai.NotFoundError) as caught:
        await sdk.models.retrieve("gpt-4o")
    assert caught.value.code == "model_not_found"


async def test_an_answer_has_what_the_sdk_expects(world: World, sdk: openai.AsyncOpenAI) -> None:
    answer = await sdk.chat.completions.create(model="guide", messages=[user("hello")], metadata={"a": "b"})
    assert answer.choices[0].message.content == "heard u:hello"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 0 < answer.usage.completion_tokens
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    about: Any = answer.model_extra
    assert about["x_interlace"]["status"] == "succeeded"
    run = await world.platform.store.runs.get(about["x_interlace"]["run_id"])
    assert run.trigger["kind"] == "chat"
    assert world.models.requests[-1].system.startswith("You are a guide.")


async def test_the_history_of_the_client_is_the_history(world: World, sdk: openai.AsyncOpenAI) -> None:
    async def ask(*messages: ChatCompletionMessageParam) -> Any:
        return await sdk.chat.completions.create(model="guide", messages=messages)

    first = await ask(user("one"))
    text = first.choices[0].message.content
    second = await ask(user("one"), said(text), user("two"))
    assert second.x_interlace["session"] == first.x_interlace["session"]
    assert second.choices[0].message.content == f"heard u:one | a:{text} | u:two"
    # The same conversation with an edited question is another branch of the same session.
    edited = await ask(user("one"), said(text), user("2"))
    assert edited.x_interlace["session"] == first.x_interlace["session"]
    assert edited.choices[0].message.content == f"heard u:one | a:{text} | u:2"
    # An edited answer: what the client says was said, and nothing of what was said here.
    changed = await ask(user("one"), said("I never said that"), user("two"))
    assert changed.choices[0].message.content == "heard u:one | a:I never said that | u:two"
    # Answered anew: the question does not stand there twice.
    again = await ask(user("one"), said(text), user("two"))
    assert again.x_interlace["message"] != second.x_interlace["message"]
    messages = await session_of(world, first)
    assert [text for role, text, _ in messages if role == "user"] == ["one", "two", "2"]
    # A longer conversation, changed in its middle, goes on in the part that is as it was.
    third = await ask(
        user("one"), said(text), user("two"), said("no"), user("three"), said("yes"), user("four")
    )
    assert third.x_interlace["session"] == first.x_interlace["session"]
    assert (
        third.choices[0].message.content
        == f"heard u:one | a:{text} | u:two | a:no | u:three | a:yes | u:four"
    )


async def test_a_conversation_from_elsewhere_is_taken_in_once(world: World, sdk: openai.AsyncOpenAI) -> None:
    messages = [
        said("Welcome!"), user("a"), user("b"), said("c"), {"role": "system", "content": "Be brief."}, user("d"), user("e"),
    ]  # fmt: skip
    answer: Any = await sdk.chat.completions.create(model="guide", messages=messages)
    shown = world.models.requests[-1].messages
    assert [m["content"] for m in shown if m["role"] != "system"] == [
        "<instructions>\nBe brief.\n</instructions>", "Welcome!", "a\n\nb", "c", "d\n\ne",
    ]  # fmt: skip
    assert "Be brief" not in world.models.requests[-1].system
    more: Any = await sdk.chat.completions.create(
        model="guide", messages=[*messages, said(answer.choices[0].message.content), user("f")]
    )
    assert more.x_interlace["session"] == answer.x_interlace["session"]
    assert [role for role, _, _ in await session_of(world, more)] == [
        "assistant", "user", "assistant", "user", "assistant", "user", "assistant",
    ]  # fmt: skip


async def test_streams(sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.chat.completions.create(
        model="guide", messages=[user("slow")], stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "slowly " * 30
    assert len([chunk for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]) > 3
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == [
        "stop"
    ]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens > 20
    # The helper of the SDK that puts the pieces together.
    async with sdk.chat.completions.stream(model="counter", messages=[user("hello")]) as helper:
        final = await helper.get_final_completion()
    assert final.choices[0].message.content == "heard u:hello"


async def test_a_closed_stream_changes_nothing_of_the_run(world: World, sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.chat.completions.create(model="guide", messages=[user("slow one")], stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    session = (await world.platform.store.sessions.list(owner="local")).items[0]
    messages = await world.platform.store.sessions.messages(session.id)
    result = await world.platform.runner.wait(str(messages[-1].run_id), 20)
    assert result is not None
    assert result.status == "succeeded"
    _, read = await world.platform.chat.read(session.id, by=LOCAL)
    assert read[-1].content == "slowly " * 30


async def test_a_request_that_timed_out_and_is_sent_again_is_one_turn(world: World) -> None:
    patient = world.client(max_retries=2, timeout=0.4)
    with pytest.raises(openai.APITimeoutError):
        await world.client(timeout=0.2).chat.completions.create(
            model="guide", messages=[user("slow and again")], extra_headers={"x-stainless-retry-count": "0"}
        )
    answer = await world.client().chat.completions.create(
        model="guide", messages=[user("slow and again")], extra_headers={"x-stainless-retry-count": "1"}
    )
    assert answer.choices[0].message.content == "slowly " * 30
    keyed = [
        await world.client().chat.completions.create(
            model="guide", messages=[user("keyed")], extra_headers={"idempotency-key": "k1"}
        )
        for _ in range(2)
    ]
    assert keyed[0].id == keyed[1].id
    sessions = (await world.platform.store.sessions.list(owner="local")).items
    assert [session.title for session in sessions].count("slow and again") == 1
    await patient.close()


async def test_tools_of_the_client(world: World, sdk: openai.AsyncOpenAI) -> None:
    messages: list[Any] = [user("weather in Rome and Oslo?")]
    first: Any = await sdk.chat.completions.create(model="guide", messages=messages, tools=[WEATHER])
    choice = first.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "I look."
    assert [(c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls] == [
        ("call_1", "weather", '{"city":"Rome"}'),
        ("call_2", "weather", '{"city":"Oslo"}'),
    ]
    messages.append(choice.message.model_dump(exclude_none=True))
    with pytest.raises(openai.BadRequestError, match="no result: call_2"):
        await sdk.chat.completions.create(
            model="guide", tools=[WEATHER],
            messages=[*messages, {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}],
        )  # fmt: skip
    messages += [
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "call_2", "content": "rain"},
    ]
    second: Any = await sdk.chat.completions.create(model="guide", messages=messages, tools=[WEATHER])
    assert second.choices[0].message.content == "It is sunny in Rome."
    assert second.x_interlace["run_id"] == first.x_interlace["run_id"]
    shown = world.models.requests[-1].messages
    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in shown[-2:]] == [
        ("tool", "call_1", "sunny"), ("tool", "call_2", "rain"),
    ]  # fmt: skip
    assert second.usage.prompt_tokens > 0
    messages += [said("It is sunny in Rome."), user("thanks")]
    third: Any = await sdk.chat.completions.create(model="guide", messages=messages)
    assert third.x_interlace["session"] == first.x_interlace["session"]


async def test_tools_in_a_stream(sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.chat.completions.create(
        model="auto", messages=[user("weather as a stream")], tools=[WEATHER], stream=True
    )
    calls, finish = [], None
    async for chunk in stream:
        for call in chunk.choices[0].delta.tool_calls or ():
            calls.append((call.index, call.id, call.function.name if call.function else None))
        finish = chunk.choices[0].finish_reason or finish
    assert (finish, calls) == ("tool_calls", [(0, "call_1", "weather"), (1, "call_2", "weather")])


async def test_structured_output(sdk: openai.AsyncOpenAI) -> None:
    class Weather(BaseModel):
        city: str
        degrees: int

    parsed = await sdk.chat.completions.parse(
        model="guide", messages=[user("as data")], response_format=Weather
    )
    assert parsed.choices[0].message.parsed == Weather(city="Rome", degrees=21)
    loose = await sdk.chat.completions.create(
        model="guide", messages=[user("as data")], response_format={"type": "json_object"}
    )
    assert loose.choices[0].message.content == '{"city": "Rome", "degrees": 21}'


async def test_what_is_asked_for_reaches_the_model(world: World, sdk: openai.AsyncOpenAI) -> None:
    await sdk.chat.completions.create(
        model="guide", messages=[user("how")], temperature=0.3, max_completion_tokens=77, n=1, logprobs=False
    )
    asked = world.models.requests[-1].body
    assert asked["temperature"] == 0.3
    assert 77 in (asked.get("max_tokens"), asked.get("max_completion_tokens"))


@pytest.mark.parametrize(
    ("model", "given", "param"),
    [
        ("guide", {"n": 2}, "n"), ("guide", {"stop": ["x"]}, "stop"), ("guide", {"top_p": 0.5}, "top_p"),
        ("guide", {"seed": 3}, "seed"), ("guide", {"logprobs": True}, "logprobs"),
        ("guide", {"tool_choice": "required", "tools": [WEATHER]}, "tool_choice"),
        ("guide", {"extra_body": {"colour": "red"}}, "colour"),
        ("guide", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools.0"),
        ("guide", {"temperature": 5}, "temperature"),
        ("guide", {"reasoning_effort": "high"}, "reasoning_effort"),
        ("counter", {"tools": [WEATHER]}, "tools"), ("counter", {"temperature": 0.5}, "temperature"),
        ("counter", {"max_tokens": 5}, "max_tokens"), ("counter", {"response_format": {"type": "json_object"}}, "response_format"),
        ("guide", {"messages": []}, "messages"), ("guide", {"messages": [said("x")]}, None),
        ("guide", {"messages": [{"role": "king", "content": "x"}]}, "messages.0.role"),
        ("guide", {"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}, "messages.0"),
        (
            "guide",
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.test/x.png"}}]}]},
            "messages.0.content.0",
        ),
    ],
)  # fmt: skip
async def test_what_is_not_honoured_is_refused(
    world: World, sdk: openai.AsyncOpenAI, model: str, given: dict[str, Any], param: str | None
) -> None:
    before = len((await world.platform.store.sessions.list(owner="local", limit=200)).items)
    with pytest.raises(openai.BadRequestError) as caught:
        await sdk.chat.completions.create(**{"model": model, "messages": [user("x")], **given})
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"
    assert len((await world.platform.store.sessions.list(owner="local", limit=200)).items) == before


async def test_an_input_of_that_name_takes_a_parameter(world: World, sdk: openai.AsyncOpenAI) -> None:
    answer: Any = await sdk.chat.completions.create(model="counter", messages=[user("x")], seed=7)
    run = await world.platform.store.runs.get(answer.x_interlace["run_id"])
    assert (await world.platform.store.runs.resolve(run)).inputs["seed"] == 7


async def test_a_conversation_keeps_its_variables(world: World, sdk: openai.AsyncOpenAI) -> None:
    first: Any = await sdk.chat.completions.create(model="counter", messages=[user("count")])
    text = first.choices[0].message.content
    second: Any = await sdk.chat.completions.create(
        model="counter", messages=[user("count"), said(text), user("more")]
    )
    message = await world.platform.store.sessions.message(second.x_interlace["message"])
    assert message.data["count"] == 2
    named: Any = await sdk.chat.completions.create(
        model="counter", messages=[user("by name")],
        extra_body={"x_interlace": {"session": first.x_interlace["session"]}},
    )  # fmt: skip
    assert named.x_interlace["session"] == first.x_interlace["session"]
    assert "more" in named.choices[0].message.content
    with pytest.raises(openai.BadRequestError, match="what is new only"):
        await sdk.chat.completions.create(
            model="counter", messages=[user("a"), said("b"), user("c")],
            extra_body={"x_interlace": {"session": first.x_interlace["session"]}},
        )  # fmt: skip
    with pytest.raises(openai.NotFoundError):
        await sdk.chat.completions.create(
            model="counter", messages=[user("a")], extra_body={"x_interlace": {"session": "none"}}
        )


async def test_pictures_are_passed_on(world: World, sdk: openai.AsyncOpenAI) -> None:
    pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    parts: Any = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": pixel}}]
    await sdk.chat.completions.create(model="guide", messages=[{"role": "user", "content": parts}])
    assert world.models.requests[-1].messages[-1]["content"][-1]["image_url"]["url"] == pixel
    with pytest.raises(openai.BadRequestError, match="takes no files"):
        await sdk.chat.completions.create(model="counter", messages=[{"role": "user", "content": parts}])


async def test_a_gate_ends_the_turn_and_the_next_message_goes_on(
    world: World, sdk: openai.AsyncOpenAI
) -> None:
    messages: list[Any] = [user("send the mail")]
    first: Any = await sdk.chat.completions.create(model="guide", messages=messages)
    choice = first.choices[0]
    (pending,) = first.x_interlace["pending"]
    assert choice.finish_reason == "stop"
    assert first.x_interlace["status"] == "suspended"
    assert pending["link"] == f"{world.url}/forms/requests/{pending['id']}"
    assert pending["link"] in choice.message.content
    assert "send_email" in choice.message.content
    # Something else than an answer: nothing is lost, and nothing is taken for consent.
    messages += [said(choice.message.content), user("what happens then?")]
    still: Any = await sdk.chat.completions.create(model="guide", messages=messages)
    assert still.x_interlace["pending"][0]["id"] == pending["id"]
    # A key that may not answer is told so.
    _, limited = await world.platform.store.keys.create("chatter", scopes=["sessions:read", "sessions:write"])
    messages += [said(still.choices[0].message.content), user("reject")]
    no: Any = await world.client(api_key=limited).chat.completions.create(model="guide", messages=messages)
    assert "may not answer" in no.choices[0].message.content
    done: Any = await sdk.chat.completions.create(model="guide", messages=messages)
    assert done.x_interlace["run_id"] != ""
    text = done.choices[0].message.content
    assert text.startswith("The mail is sent.")
    assert "what happens then?" in text, "what was said meanwhile is asked after it"
    assert done.x_interlace["session"] == first.x_interlace["session"]
    wait = await world.platform.store.waits.get(pending["id"])
    assert (wait.status, wait.action) == ("answered", "reject")


async def test_a_gate_that_was_answered_elsewhere(world: World, sdk: openai.AsyncOpenAI) -> None:
    first: Any = await sdk.chat.completions.create(model="gated", messages=[user("report")])
    (pending,) = first.x_interlace["pending"]
    assert "Send report?" in first.choices[0].message.content
    from interlace.flows.answering import Given
    from interlace.flows.people import Person

    await world.platform.waits.answer(pending["id"], Given(action="approve"), Person(name="sdk"))
    messages = [user("report"), said(first.choices[0].message.content), user("continue")]
    stream = await sdk.chat.completions.create(model="gated", messages=messages, stream=True)
    text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == "report: approve"


async def test_errors_have_the_shape_that_the_sdk_reads(world: World, sdk: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.AuthenticationError) as no_key:
        await world.client(api_key="il_wrong").chat.completions.create(model="auto", messages=[user("x")])
    assert no_key.value.code == "invalid_api_key"
    _, reader = await world.platform.store.keys.create("reader", scopes=["runs:read"])
    with pytest.raises(openai.PermissionDeniedError):
        await world.client(api_key=reader).models.list()
    with pytest.raises(openai.NotFoundError) as no_model:
        await sdk.chat.completions.create(model="nobody", messages=[user("x")])
    assert (no_model.value.code, no_model.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.InternalServerError) as failed:
        await sdk.chat.completions.create(model="broken", messages=[user("x")])
    assert failed.value.response.headers["x-should-retry"] == "false"
    with pytest.raises(openai.RateLimitError):
        await sdk.chat.completions.create(model="guide", messages=[user("too many")])
    with pytest.raises(openai.APIError, match="is not a number") as streamed:
        async for _ in await sdk.chat.completions.create(model="broken", messages=[user("y")], stream=True):
            pass
    assert streamed.value.body is not None
