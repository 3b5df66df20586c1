"""Answers by schema: each level, the repair, and what cannot be repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.models.extraction import candidates
from interlace.resources.models.models import Models
from interlace.resources.models.strictness import is_strict
from interlace.resources.models.structured import Structured, ask_for_data
from interlace.resources.models.testing import Asked, ScriptedModels
from tests.resources.models.conftest import SITE, ask, provider

MakeModels = Callable[..., Models]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
}
ADA = {"name": "Ada", "age": 36}


async def data_of(models: Models, schema: dict[str, Any] = PERSON, **options: Any) -> Structured:
    return await ask_for_data(models, ask(model="scripted"), schema, site=SITE, **options)


def only(*capabilities: str) -> list[dict[str, Any]]:
    return [{"name": "scripted", "capabilities": list(capabilities)}]


@pytest.mark.parametrize(
    ("capabilities", "level"),
    [(["json_schema", "json_mode"], "json_schema"), (["json_mode"], "json_object"), ([], "text")],
)
async def test_the_strictest_level_that_the_model_has(
    models_of: MakeModels, capabilities: list[str], level: str
) -> None:
    with ScriptedModels([{"when": {"format": level}, "reply": {"data": ADA}}]) as server:
        found = await data_of(models_of(provider(server, models=only(*capabilities))))
    assert found.data == ADA
    assert found.result.format == level
    if level != "json_schema":
        assert "JSON Schema" in server.requests[0].system


async def test_levels_that_the_provider_refuses_are_left_one_by_one(models_of: MakeModels) -> None:
    def refuses(asked: Asked) -> dict[str, Any]:
        if "response_format" in asked.body:
            return {
                "status": 400,
                "error": "response_format is not supported",
                "param": "response_format.type",
            }
        return {"text": 'Sure! Here it is:\n```json\n{"name": "Ada", "age": 36}\n```'}

    with ScriptedModels([{"reply": refuses}]) as server:
        models = models_of(provider(server))
        first, second = await data_of(models), await data_of(models)
    assert first.data == second.data == ADA
    formats = [(request.body.get("response_format") or {}).get("type") for request in server.requests]
    assert formats == ["json_schema", "json_object", None, None]


async def test_one_repair_names_what_is_wrong(models_of: MakeModels) -> None:
    with ScriptedModels([{"reply": [{"data": {"name": "Ada", "age": -1}}, {"data": ADA}]}]) as server:
        found = await data_of(models_of(provider(server)))
    assert found.data == ADA
    assert found.result.usage.calls == 2
    assert "answer.age: must be at least 0, got -1." in server.requests[1].user
    assert server.requests[1].messages[-2]["role"] == "assistant"


@pytest.mark.parametrize("text", ["no json at all", '{"name": "Ada"}', ""])
async def test_what_stays_wrong_is_an_error(models_of: MakeModels, text: str) -> None:
    with (
        ScriptedModels(text or [{"reply": {"text": ""}}]) as server,
        pytest.raises(NodeError, match="after one repair") as caught,
    ):
        await data_of(models_of(provider(server)))
    assert caught.value.kind == "invalid_output"
    assert len(server.requests) == 2


async def test_a_refusal_and_a_cut_answer_are_not_repaired(models_of: MakeModels) -> None:
    with (
        ScriptedModels([{"reply": {"refusal": "I cannot."}}]) as server,
        pytest.raises(NodeError, match="I cannot") as caught,
    ):
        await data_of(models_of(provider(server)))
    assert (caught.value.kind, len(server.requests)) == ("refused", 1)
    with ScriptedModels([{"reply": {"data": ADA, "finish_reason": "length"}}]) as server:
        models = models_of(provider(server))
        with pytest.raises(NodeError) as caught:
            await data_of(models)
        assert (await data_of(models, allow_truncated=True)).data == ADA
    assert caught.value.kind == "output_truncated"


async def test_what_is_no_object_is_wrapped_for_the_provider(models_of: MakeModels) -> None:
    with ScriptedModels([{"reply": {"data": {"value": ["a", "b"]}}}]) as server:
        found = await data_of(models_of(provider(server)), {"type": "array", "items": {"type": "string"}})
    assert found.data == ["a", "b"]
    assert server.requests[0].body["response_format"]["json_schema"]["schema"]["type"] == "object"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a": 1}', {"a": 1}),
        ('\ufeff {"a": 1} ', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("```\n[1, 2]\n``` done", [1, 2]),
        ('<tool_call>{"a": 1}</tool_call>', {"a": 1}),
        ('<think>{"b": 2}</think>The answer is {"a": {"c": "}"}}.', {"a": {"c": "}"}}),
        ('答えは{"a": "日本"}です。', {"a": "日本"}),
        ('{oops} then {"a": 1}', {"a": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
    ],
)
def test_json_is_found_wherever_it_stands(text: str, wanted: Any) -> None:
    assert next(candidates(text)) == wanted


@pytest.mark.parametrize(
    "text",
    ["", "none", "{" * 5000, "[" * 100_000, '{"a": ', '{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}'],
)
def test_where_there_is_none_none_is_found(text: str) -> None:
    assert list(candidates(text)) == []


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (PERSON, False),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": [],
                "additionalProperties": False,
            },
            False,
        ),
        ({"type": "array", "items": {"enum": ["a"]}}, True),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({}, False),
    ],
)
def test_only_what_strict_mode_takes_is_sent_as_strict(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
