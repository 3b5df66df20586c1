"""Chains, retries, costs, budgets and faults of models, against a real server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from interlace.engine.chat import CallSite, Delta, Message, ToolSpec
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL, Principal
from interlace.resources.models.definition import ProviderDefinition
from interlace.resources.models.models import Models
from interlace.resources.models.testing import ScriptedModels
from interlace.resources.secrets import Secrets, add_resource
from interlace.store import Store
from tests.resources.models.conftest import SITE, ask, provider

MakeModels = Callable[..., Models]
WEATHER = ToolSpec(name="weather", description="Weather.", parameters={"type": "object", "properties": {}})


async def failure(models: Models, **fields: Any) -> NodeError:
    with pytest.raises(NodeError) as caught:
        await models.chat(ask(**fields), site=SITE)
    return caught.value


async def test_an_answer_with_its_usage_and_cost(models_of: MakeModels, store: Store) -> None:
    price = {"input": 2.0, "output": 10.0, "cached_input": 1.0}
    rules = [{"reply": {"text": "Hi.", "usage": {"input": 1000, "output": 100, "cached": 400}}}]
    with ScriptedModels(rules) as server:
        models = models_of(provider(server, models=[{"name": "scripted", "price": price}]))
        result = await models.chat(ask(model="main/scripted"), site=SITE)
    assert (result.text, result.provider, result.model, result.finish_reason) == (
        "Hi.",
        "main",
        "scripted",
        "stop",
    )
    assert result.usage.cost == pytest.approx((600 * 2 + 400 * 1 + 100 * 10) / 1e6)
    assert result.usage.latency_ms > 0
    [total] = await store.usage.totals(["user:local"], since=0, group_by="run")
    assert (total.group, total.calls, total.input_tokens, total.cost, total.currency) == (
        "r1",
        1,
        1000,
        0.0026,
        "USD",
    )
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret-1"
    assert type(result).model_validate_json(result.model_dump_json()) == result


async def test_a_stream_gives_deltas_and_the_same_answer(models_of: MakeModels) -> None:
    reply = {"text": "one two three four five", "reasoning": "hm", "chunk_size": 4}
    calls = [{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "weather", "arguments": "{broken"}]
    rules = [{"when": {"has_tools": True}, "reply": {"tool_calls": calls}}, {"reply": reply}]
    seen: list[Delta] = []
    with ScriptedModels(rules) as server:
        models = models_of(provider(server))
        result = await models.chat(ask(model="scripted"), site=SITE, on_delta=seen.append)
        called = await models.chat(ask(model="scripted", tools=(WEATHER,)), site=SITE, on_delta=seen.append)
    assert "".join(delta.text for delta in seen) == result.text == "one two three four five"
    assert len(seen) > 4
    assert result.reasoning == "hm"
    assert result.usage.output_tokens == 5
    assert [(call.name, call.arguments) for call in called.tool_calls] == [
        ("weather", '{"city":"Oslo"}'), ("weather", "{broken"),
    ]  # fmt: skip
    assert called.finish_reason == "tool_calls"


async def test_a_server_without_usage_is_counted(models_of: MakeModels) -> None:
    with ScriptedModels([{"reply": {"text": "one two three", "no_usage": True}}]) as server:
        result = await models_of(provider(server)).chat(ask(model="scripted"), site=SITE)
    assert (result.usage.input_tokens, result.usage.output_tokens) == (8, 3)


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 429, "retry_after": 0.01},
        {"status": 500},
        {"status": 503},
        {"status": 502, "body": "<html>bad gateway</html>", "media_type": "text/html"},
        {"text": "abc", "cut": 0},
        {"text": "abc", "delay": 60},
    ],
)
async def test_a_busy_model_is_asked_again_then_the_next_one(
    models_of: MakeModels, fault: dict[str, Any]
) -> None:
    rules = [{"when": {"model": "scripted"}, "reply": fault}, {"reply": "from the other"}]
    fallback = [{"name": "scripted", "fallback": ["scripted-mini"]}, {"name": "scripted-mini"}]
    retries, timeout = int(fault.get("status") == 429), 3 if "delay" in fault else 60
    with ScriptedModels(rules) as server:
        models = models_of(provider(server, models=fallback, retries=retries, timeout=timeout))
        result = await models.chat(ask(model="scripted"), site=SITE)
    assert (result.text, result.model) == ("from the other", "scripted-mini")
    assert [request.model for request in server.requests] == ["scripted"] * (1 + retries) + ["scripted-mini"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"status": 400, "error": "bad"}, "http_400"),
        ({"status": 401}, "http_401"),
        ({"status": 404, "error": "gone"}, "http_404"),
        ({"status": 400, "code": "context_length_exceeded"}, "context_length"),
    ],
)
async def test_a_refused_request_goes_to_no_other_model(
    models_of: MakeModels, fault: dict[str, Any], kind: str
) -> None:
    fallback = [{"name": "scripted", "fallback": ["scripted-mini"]}, {"name": "scripted-mini"}]
    with ScriptedModels([{"reply": fault}]) as server:
        error = await failure(models_of(provider(server, models=fallback)), model="scripted")
    assert error.kind == kind
    assert len(server.requests) == 1
    assert "main/scripted" in error.message


async def test_the_last_error_names_all_models(models_of: MakeModels) -> None:
    rules = [
        {"when": {"model": "scripted"}, "reply": {"status": 500, "error": "first broke"}},
        {"reply": {"status": 429, "error": "slow down", "retry_after": 60}},
    ]
    fallback = [{"name": "scripted", "fallback": ["scripted-mini"]}, {"name": "scripted-mini"}]
    with ScriptedModels(rules) as server:
        started = time.perf_counter()
        error = await failure(models_of(provider(server, models=fallback, retries=1)), model="scripted")
    assert (error.kind, error.retry_after, error.retryable) == ("rate_limit", 60, True)
    assert "first broke" in error.message
    assert "slow down" in error.message
    assert time.perf_counter() - started < 30  # a minute is not waited for
    assert [request.model for request in server.requests] == ["scripted", "scripted", "scripted-mini"]


async def test_a_broken_stream_begins_anew(models_of: MakeModels) -> None:
    rules = [
        {"reply": [{"text": "half of it", "cut": 2, "chunk_size": 4}, {"text": "whole", "chunk_size": 40}]}
    ]
    seen: list[Delta] = []
    with ScriptedModels(rules) as server:
        result = await models_of(provider(server, retries=1)).chat(
            ask(model="scripted"), site=SITE, on_delta=seen.append
        )
    assert result.text == "whole"
    assert [(delta.text, delta.restart) for delta in seen] == [("half", False), ("", True), ("whole", False)]


async def test_a_stream_without_an_end_is_no_answer(models_of: MakeModels) -> None:
    with ScriptedModels([{"reply": {"text": "cut", "no_done": True}}]) as server:
        models = models_of(provider(server, retries=0))
        with pytest.raises(NodeError) as caught:
            await models.chat(ask(model="scripted"), site=SITE, on_delta=lambda _: None)
    assert caught.value.kind == "connection"


@pytest.mark.parametrize(
    "reply",
    [{"body": "{"}, {"body": "<html>hello</html>", "media_type": "text/html"}, {"body": '{"choices": []}'}],
)
async def test_an_answer_that_is_none_is_a_bad_response(models_of: MakeModels, reply: dict[str, Any]) -> None:
    with ScriptedModels([{"reply": reply}]) as server:
        error = await failure(models_of(provider(server)), model="scripted")
    assert error.kind == "bad_response"


async def test_what_a_model_does_not_take_is_left_out_and_remembered(models_of: MakeModels) -> None:
    def picky(asked: Any) -> dict[str, Any]:
        for name in ("temperature", "max_tokens"):
            if name in asked.body:
                message = f"Unsupported parameter: '{name}'. Use 'max_completion_tokens' instead."
                return {"status": 400, "error": message, "param": name}
        return {"text": "fine"}

    with ScriptedModels([{"reply": picky}]) as server:
        models = models_of(provider(server))
        for _ in range(2):
            result = await models.chat(ask(model="scripted", temperature=0, max_tokens=50), site=SITE)
            assert result.text == "fine"
    assert len(server.requests) == 4
    assert server.requests[-1].body["max_completion_tokens"] == 50


async def test_keys_stay_out_of_messages_and_are_hidden_from_the_run(models_of: MakeModels) -> None:
    hidden: dict[str, str] = {}
    site = CallSite(run_id="r", path="n", hide=hidden.__setitem__)
    with ScriptedModels([{"reply": {"status": 401, "error": "Incorrect API key: sk-secret-1."}}]) as server:
        models = models_of(provider(server, headers={"X-Team": "team-secret"}))
        with pytest.raises(NodeError) as caught:
            await models.chat(ask(model="scripted"), site=site)
    assert "sk-secret-1" not in caught.value.message
    assert set(hidden.values()) == {"sk-secret-1", "team-secret"}
    assert server.requests[0].headers["x-team"] == "team-secret"


async def test_addresses_that_are_not_open_are_not_reached(models_of: MakeModels) -> None:
    closed = {"name": "p", "base_url": "http://169.254.169.254/v1", "models": [{"name": "m"}], "retries": 0}
    error = await failure(models_of(closed), model="m")
    assert error.kind == "blocked_address"


# -- references ----------------------------------------------------------------------------------------------------------


async def test_references_roles_and_names(models_of: MakeModels) -> None:
    with ScriptedModels([{"reply": lambda asked: asked.model}]) as server:
        first = provider(server, roles={"general": "scripted", "embedding": "scripted-embedding"})
        second = provider(server, "other", models=[{"name": "scripted-mini"}, {"name": "scripted"}])
        models = models_of(first, second)

        async def who(model: str | None) -> str:
            return str((await models.chat(ask(model=model), site=SITE)).text)

        assert await who(None) == await who("general") == await who("fast") == "scripted"
        assert await who("other/scripted-mini") == "scripted-mini"
        for name, kind, said in [
            ("scripted", "ambiguous_model", "several providers"),
            ("main/scriptd", "resource_not_found", "did you mean 'main/scripted'"),
            ("gpt", "resource_not_found", "no model 'gpt'"),
        ]:
            error = await failure(models, model=name)
            assert error.kind == kind
            assert said in error.message


async def test_without_models_the_message_says_what_to_do(models_of: MakeModels) -> None:
    error = await failure(models_of())
    assert error.kind == "no_model"
    assert "OPENAI_API_KEY" in error.message


async def test_the_environment_makes_a_provider(
    models_of: MakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-process")
    with ScriptedModels("hi") as server:
        given = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "OPENAI_MODEL": "scripted"}
        assert (await models_of(environment=given).chat(ask(), site=SITE)).text == "hi"
        assert (await models_of(environment=given).chat(ask(model="scripted-mini"), site=SITE)).text == "hi"
    assert "openai-organization" not in server.requests[0].headers


async def test_stored_providers_are_seen_by_those_they_belong_to(
    models_of: MakeModels, store: Store, secrets: Secrets
) -> None:
    ada = Principal("ada")
    with ScriptedModels("hi", api_key="sk-ada") as server:
        definition = ProviderDefinition.model_validate(provider(server, "mine") | {"api_key": "sk-ada"})
        stored = await add_resource(store, secrets, "model", "mine", definition, by=ada)
        assert "sk-ada" not in str(stored.definition)
        models = models_of()
        assert (await models.chat(ask(model="mine/scripted"), site=CallSite(principal=ada))).text == "hi"
        with pytest.raises(NodeError) as caught:
            await models.chat(ask(model="mine/scripted"), site=CallSite(principal=Principal("bob")))
    assert caught.value.kind == "resource_not_found"
    assert LOCAL.user_id != "ada"


# -- budgets -------------------------------------------------------------------------------------------------------------


async def test_a_used_up_budget_is_refused_before_the_call(models_of: MakeModels, store: Store) -> None:
    clock = [1_700_000_000.0]
    rules = [{"reply": {"text": "hi", "usage": {"input": 60, "output": 0}}}]
    with ScriptedModels(rules) as server:
        models = models_of(provider(server), now=lambda: clock[0])
        await store.usage.set_budget("user:local", "day", "tokens", 100)
        await store.usage.set_budget("user:bob", "day", "tokens", 0)
        for _ in range(2):
            await models.chat(ask(model="scripted"), site=SITE)
        error = await failure(models, model="scripted")
        assert error.kind == "budget_exceeded"
        assert "120 of 100 tokens" in error.message
        assert len(server.requests) == 2
        clock[0] += 86_400
        await models.chat(ask(model="scripted"), site=SITE)


async def test_money_of_an_organisation(models_of: MakeModels, store: Store) -> None:
    price = {"input": 1000.0, "currency": "EUR"}
    rules = [{"reply": {"text": "hi", "usage": {"input": 1000, "output": 0}}}]
    member = CallSite(principal=Principal("ada", org_ids=frozenset({"o1"})))
    other = CallSite(principal=Principal("bob", org_ids=frozenset({"o2"})))
    with ScriptedModels(rules) as server:
        models = models_of(provider(server, models=[{"name": "scripted", "price": price}]))
        await store.usage.set_budget("org:o1", "month", "EUR", 0.5)
        await models.chat(ask(), site=member)
        with pytest.raises(NodeError, match="budget of the organisation"):
            await models.chat(ask(), site=member)
        await models.chat(ask(), site=other)
    totals = await store.usage.totals(["installation"], since=0, group_by="org")
    assert [(total.group, total.cost, total.currency) for total in totals] == [
        ("o1", 1.0, "EUR"),
        ("o2", 1.0, "EUR"),
    ]
    day = await store.usage.totals(["org:o1"], since=0, group_by="day")
    assert [total.calls for total in day] == [1]


async def test_failed_calls_are_put_down_too(models_of: MakeModels, store: Store) -> None:
    with ScriptedModels([{"reply": {"status": 400, "error": "no"}}]) as server:
        await failure(models_of(provider(server)), model="scripted")
    [total] = await store.usage.totals(["user:local"], since=0)
    assert (total.calls, total.failed) == (1, 1)


# -- embeddings ----------------------------------------------------------------------------------------------------------


async def test_embeddings_come_in_order_whatever_their_number(models_of: MakeModels, store: Store) -> None:
    texts = [f"text number {index}" for index in range(150)]
    with ScriptedModels() as server:
        models = models_of(provider(server, roles={"embedding": "scripted-embedding"}))
        vectors = await models.embed(texts, site=SITE)
        assert [len(vector) for vector in vectors] == [64] * 150
        assert vectors[149] == (await models.embed(texts[149:], site=SITE))[0]
        assert len(server.requests) == 3
    [total] = await store.usage.totals(["user:local"], since=0)
    assert total.input_tokens > 500


async def test_without_an_embedding_model_the_built_in_embedder_serves(models_of: MakeModels) -> None:
    class Lengths:
        async def embed(self, texts: Any, *, model: str | None = None) -> list[list[float]]:
            return [[float(len(text))] for text in texts]

    models = models_of()
    with pytest.raises(NodeError, match="no model is set up"):
        await models.embed(["abc"], site=SITE)
    models.embedder = Lengths()
    assert await models.embed(["abc", "d"], site=SITE) == [[3.0], [1.0]]


def test_messages_have_the_wire_format() -> None:
    assert Message(role="user", content="x").wire() == {"role": "user", "content": "x"}
