"""The scripted server against the real SDK: what it says must be what OpenAI says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel, ValidationError

from interlace.resources.models.testing import Asked, Reply, Script, ScriptedModels

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
HELLO: Any = [{"role": "user", "content": "Hello"}]


def sdk(server: ScriptedModels, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="k", max_retries=0, timeout=10, **options)


@pytest.fixture
def simple() -> Iterator[ScriptedModels]:
    with ScriptedModels("Hello there, how are you today?") as server:
        yield server


def test_models_are_listed(simple: ScriptedModels) -> None:
    with sdk(simple) as client:
        assert [model.id for model in client.models.list()] == simple.script.models
        assert client.models.retrieve("scripted").id == "scripted"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("nothing")


def test_a_chat_answer(simple: ScriptedModels) -> None:
    with sdk(simple) as client:
        done = client.chat.completions.create(model="scripted", messages=HELLO)
    assert done.choices[0].message.content == "Hello there, how are you today?"
    assert done.choices[0].finish_reason == "stop"
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (8, 8)
    assert simple.requests[0].user == "Hello"


def test_a_stream_ends_with_its_usage(simple: ScriptedModels) -> None:
    with sdk(simple) as client:
        chunks = list(
            client.chat.completions.create(
                model="scripted", messages=HELLO, stream=True, stream_options={"include_usage": True}
            )
        )
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "Hello there, how are you today?"
    assert len(texts) > 3
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 8
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"


def test_limits_of_the_request_hold(simple: ScriptedModels) -> None:
    with sdk(simple) as client:
        short = client.chat.completions.create(model="scripted", messages=HELLO, max_tokens=2)
        stopped = client.chat.completions.create(model="scripted", messages=HELLO, stop=[","])
        three = client.chat.completions.create(model="scripted", messages=HELLO, n=3)
    assert (short.choices[0].message.content, short.choices[0].finish_reason) == ("Hello there", "length")
    assert (stopped.choices[0].message.content, stopped.choices[0].finish_reason) == ("Hello there", "stop")
    assert [choice.index for choice in three.choices] == [0, 1, 2]


def weather_script() -> list[dict[str, Any]]:
    calls = [
        {"name": "weather", "arguments": {"city": "Oslo"}},
        {"name": "weather", "arguments": {"city": "Rome"}},
    ]
    return [
        {"when": {"has_tool_result": True}, "reply": "Cold and warm."},
        {"when": {"has_tools": True}, "reply": {"tool_calls": calls}},
    ]


def test_parallel_tool_calls_and_their_results() -> None:
    with ScriptedModels(weather_script()) as server, sdk(server) as client:
        first = client.chat.completions.create(model="scripted", messages=HELLO, tools=[WEATHER])
        message = first.choices[0].message
        calls: Any = message.tool_calls
        assert first.choices[0].finish_reason == "tool_calls"
        assert [json.loads(call.function.arguments)["city"] for call in calls] == ["Oslo", "Rome"]
        assert calls[0].id != calls[1].id
        results: Any = [{"role": "tool", "tool_call_id": call.id, "content": "9 °C"} for call in calls]
        last = client.chat.completions.create(
            model="scripted",
            messages=[*HELLO, message.model_dump(exclude_none=True), *results],
            tools=[WEATHER],
        )
        assert last.choices[0].message.content == "Cold and warm."
        with pytest.raises(openai.BadRequestError, match="preceding message"):
            client.chat.completions.create(model="scripted", messages=[*HELLO, *results])


def test_the_stream_helper_puts_tool_calls_together() -> None:
    with (
        ScriptedModels(weather_script()) as server,
        sdk(server) as client,
        client.chat.completions.stream(model="scripted", messages=HELLO, tools=[WEATHER]) as stream,
    ):
        kinds = {event.type for event in stream}
        done = stream.get_final_completion()
    assert "tool_calls.function.arguments.delta" in kinds
    calls: Any = done.choices[0].message.tool_calls
    assert [json.loads(call.function.arguments) for call in calls] == [{"city": "Oslo"}, {"city": "Rome"}]


class Person(BaseModel):
    name: str
    age: int


def test_structured_answers_parse() -> None:
    rules = [
        {"when": {"format": "json_schema"}, "reply": {"data": {"name": "Ada", "age": 36}}},
        {"reply": {"data": {}}},
    ]
    with ScriptedModels(rules) as server, sdk(server) as client:
        parsed = client.chat.completions.parse(model="scripted", messages=HELLO, response_format=Person)
        assert parsed.choices[0].message.parsed == Person(name="Ada", age=36)
        with pytest.raises(openai.BadRequestError, match="word 'json'"):
            client.chat.completions.create(
                model="scripted", messages=HELLO, response_format={"type": "json_object"}
            )
        asked: Any = [{"role": "user", "content": "Answer in JSON"}]
        done = client.chat.completions.create(
            model="scripted", messages=asked, response_format={"type": "json_object"}
        )
    assert done.choices[0].message.content == "{}"


def test_a_refusal_is_one() -> None:
    with (
        ScriptedModels([{"reply": {"refusal": "I cannot help with that."}}]) as server,
        sdk(server) as client,
    ):
        done = client.chat.completions.create(model="scripted", messages=HELLO)
        response = client.responses.create(model="scripted", input="Hello")
    assert done.choices[0].message.refusal == "I cannot help with that."
    assert done.choices[0].message.content is None
    content: Any = response.output[0]
    assert content.content[0].refusal == "I cannot help with that."


def test_responses(simple: ScriptedModels) -> None:
    with sdk(simple) as client:
        done = client.responses.create(model="scripted", input="Hello", instructions="Be kind")
        short = client.responses.create(model="scripted", input="Hello", max_output_tokens=2)
        events = list(client.responses.create(model="scripted", input="Hello", stream=True))
        with client.responses.stream(model="scripted", input="Hello") as stream:
            final = stream.until_done().get_final_response()
    assert done.output_text == final.output_text == "Hello there, how are you today?"
    assert done.usage is not None
    assert done.usage.output_tokens == 8
    assert simple.requests[0].system == "Be kind"
    assert short.status == "incomplete"
    assert [event.sequence_number for event in events] == list(range(len(events)))  # type: ignore[union-attr]
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")


def test_responses_with_tools() -> None:
    tool: Any = {"type": "function", "strict": False, **WEATHER["function"]}
    with ScriptedModels(weather_script()) as server, sdk(server) as client:
        first = client.responses.create(model="scripted", input="Weather?", tools=[tool])
        calls: Any = first.output
        assert [(call.type, json.loads(call.arguments)["city"]) for call in calls] == [
            ("function_call", "Oslo"), ("function_call", "Rome"),
        ]  # fmt: skip
        given: Any = [{"role": "user", "content": "Weather?"}, *[call.model_dump() for call in calls]]
        given += [{"type": "function_call_output", "call_id": call.call_id, "output": "9"} for call in calls]
        assert (
            client.responses.create(model="scripted", input=given, tools=[tool]).output_text
            == "Cold and warm."
        )
        with client.responses.stream(model="scripted", input="Weather?", tools=[tool]) as stream:
            kinds = {event.type for event in stream}
    assert {"response.function_call_arguments.delta", "response.output_item.done"} <= kinds


def test_embeddings_as_numbers_and_in_base64(simple: ScriptedModels) -> None:
    texts = ["a red valve", "the valve is red", "invoice of March", "赤いバルブ", "赤いバルブです"]
    with sdk(simple) as client:
        coded = client.embeddings.create(model="scripted-embedding", input=texts)
        plain = client.embeddings.create(
            model="scripted-embedding", input=texts, encoding_format="float", dimensions=64
        )
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model="scripted-embedding", input=["a", ""])
    assert [request.body["encoding_format"] for request in simple.requests[:2]] == ["base64", "float"]
    vectors = [entry.embedding for entry in plain.data]
    assert [pytest.approx(entry.embedding, abs=1e-6) for entry in coded.data] == vectors

    def near(a: int, b: int) -> float:
        return sum(x * y for x, y in zip(vectors[a], vectors[b], strict=True))

    assert near(0, 1) > near(0, 2)
    assert near(3, 4) > near(3, 2)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"status": 400, "error": "no", "param": "temperature"}, openai.BadRequestError),
        ({"status": 401}, openai.AuthenticationError),
        ({"status": 404}, openai.NotFoundError),
        ({"status": 408}, openai.APIStatusError),
        ({"status": 429, "retry_after": 3}, openai.RateLimitError),
        ({"status": 500}, openai.InternalServerError),
        ({"status": 503}, openai.InternalServerError),
        (
            {"status": 502, "body": "<html>Bad gateway</html>", "media_type": "text/html"},
            openai.InternalServerError,
        ),
        ({"body": '{"id": "x", '}, ValueError),
        ({"text": "half", "cut": 0}, openai.APIConnectionError),
    ],
)
def test_faults_are_what_the_sdk_calls_them(reply: dict[str, Any], error: type[Exception]) -> None:
    with ScriptedModels([{"reply": reply}]) as server, sdk(server) as client:
        with pytest.raises(error) as caught:
            client.chat.completions.create(model="scripted", messages=HELLO)
        if "retry_after" in reply:
            assert caught.value.response.headers["retry-after"] == "3"  # type: ignore[attr-defined]


def test_a_slow_server_and_broken_streams() -> None:
    rules: list[dict[str, Any]] = [
        {"when": {"user": "slow"}, "reply": {"text": "late", "delay": 5}},
        {"when": {"user": "cut"}, "reply": {"text": "a text of some length", "cut": 2, "chunk_size": 4}},
        {"when": {"user": "open"}, "reply": {"text": "no end", "no_done": True}},
    ]
    with ScriptedModels(rules) as server, sdk(server) as client:
        with pytest.raises(openai.APITimeoutError):
            client.with_options(timeout=0.1).chat.completions.create(
                model="scripted", messages=[{"role": "user", "content": "slow"}]
            )
        seen = ""
        with pytest.raises(Exception, match=r"(?i)peer closed|incomplete|connection|disconnect"):  # noqa: PT012
            for chunk in client.chat.completions.create(
                model="scripted", messages=[{"role": "user", "content": "cut"}], stream=True
            ):
                seen += chunk.choices[0].delta.content or ""
        assert seen == "a te"
        chunks = list(
            client.chat.completions.create(
                model="scripted", messages=[{"role": "user", "content": "open"}], stream=True
            )
        )
    assert chunks[-1].choices[0].finish_reason is None


def test_rules_match_in_order_and_lists_are_given_one_by_one() -> None:
    def echo(asked: Asked) -> Reply:
        return Reply(text=f"{asked.turn} {asked.user}")

    rules: list[dict[str, Any]] = [
        {"when": {"user_pattern": "^one"}, "reply": ["first", "second"]},
        {"when": {"model": "scripted-mini"}, "reply": "small", "times": 1},
        {"when": {"turn": 1}, "reply": echo},
    ]
    turn: Any = [*HELLO, {"role": "assistant", "content": "hi"}, {"role": "user", "content": "again"}]
    with ScriptedModels(rules) as server, sdk(server) as client:

        def ask(messages: Any, model: str = "scripted") -> str | None:
            return client.chat.completions.create(model=model, messages=messages).choices[0].message.content

        one: Any = [{"role": "user", "content": "one"}]
        assert [ask(one), ask(one), ask(one)] == ["first", "second", "second"]
        assert ask(HELLO, "scripted-mini") == "small"
        assert ask(turn) == "1 again"
        with pytest.raises(openai.InternalServerError, match="no rule of the script matches"):
            ask(HELLO, "scripted-mini")
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            ask(HELLO, "gpt-none")


def test_a_wrong_key_is_refused() -> None:
    with ScriptedModels("hi", api_key="right") as server:
        with sdk(server) as client, pytest.raises(openai.AuthenticationError):
            client.models.list()
        with openai.OpenAI(base_url=server.url, api_key="right") as client:
            assert len(list(client.models.list())) == 3


async def test_the_async_sdk(simple: ScriptedModels) -> None:
    async with openai.AsyncOpenAI(base_url=simple.url, api_key="k", max_retries=0) as client:
        done = await client.chat.completions.create(model="scripted", messages=HELLO)
        seen = ""
        async with client.chat.completions.stream(model="scripted", messages=HELLO) as stream:
            async for event in stream:
                if event.type == "content.delta":
                    seen += event.delta
        response = await client.responses.create(model="scripted", input="Hello")
        vectors = await client.embeddings.create(model="scripted-embedding", input="x")
    assert done.choices[0].message.content == seen == response.output_text
    assert len(vectors.data[0].embedding) == 64


def test_scripts_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("rules:\n  - when: {usr: x}\n    reply: hi\n")
    with pytest.raises(ValidationError, match="usr"):
        Script.load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_runs_as_a_program(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("models: [small]\nrules:\n  - reply: [one, {text: two}]\n")
    command = [sys.executable, "-m", "interlace.resources.models.testing", "--script", str(path)]
    # Where the tests run in the background a shell has this signal ignored, and processes inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    signal.signal(signal.SIGINT, before)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with openai.OpenAI(base_url=url, api_key="k") as client:
            said = [
                client.chat.completions.create(model="small", messages=HELLO).choices[0].message.content
                for _ in "12"
            ]
        assert said == ["one", "two"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0
