from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from interlace.nodes.parameter_extractor import ParameterExtractorConfig, optional
from tests.nodes.models import scripted
from tests.nodes.runs import check

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["city", "guest"],
    "properties": {
        "city": {"type": "string", "description": "Where to."},
        "nights": {"type": "integer", "minimum": 1},
        "guest": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        },
    },
}
CONFIG: dict[str, Any] = {"input": "{{ inputs.text }}", "schema": SCHEMA}


@pytest.mark.parametrize("text", ["Ada goes to Oslo", "アダはオスロに行きます", "艾达去奥斯陆"])
async def test_values_are_read(text: str) -> None:
    answer = {"city": "Oslo", "nights": None, "guest": {"name": "Ada", "age": None}}
    async with scripted({"data": answer}) as models:
        run = await models.run("PARAMETER_EXTRACTOR", CONFIG, {"text": text})
    assert run["data"] == {"city": "Oslo", "guest": {"name": "Ada"}}
    assert run["missing"] == []
    assert run.handles == ("out",)
    assert run.why == {"missing": "nothing is missing"}
    assert text in models.asked.user
    assert text not in models.asked.system


async def test_what_is_not_there_takes_its_own_handle() -> None:
    async with scripted({"data": {"city": None, "nights": 3, "guest": {"name": None, "age": 3}}}) as models:
        run = await models.run("PARAMETER_EXTRACTOR", CONFIG, {"text": "three nights"})
    assert run.handles == ("missing",)
    assert run["missing"] == ["city", "guest.name"]
    assert run["data"] == {"nights": 3, "guest": {"age": 3}}
    assert "city, guest.name are not in the text" in run.why["out"]


async def test_wrong_values_are_sent_back() -> None:
    good = {"city": "Oslo", "nights": 2, "guest": {"name": "Ada", "age": None}}
    async with scripted({"data": {**good, "nights": 0}}, {"data": good}) as models:
        run = await models.run("PARAMETER_EXTRACTOR", CONFIG, {"text": "x"})
    assert run["data"]["nights"] == 2
    assert "nights" in models.asked.user
    assert run["usage"]["calls"] == 2


async def test_fields_in_place_of_a_schema() -> None:
    fields = [
        {"name": "level", "enum": ["low", "high"], "required": True, "description": "How urgent."},
        {"name": "days", "type": "integer"},
    ]
    config = {"input": "x", "fields": fields, "instructions": "Days are working days."}
    async with scripted({"data": {"level": "high", "days": None}}) as models:
        run = await models.run("PARAMETER_EXTRACTOR", config)
    assert run["data"] == {"level": "high"}
    assert "Days are working days." in models.asked.system
    sent = models.asked.body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["properties"]["level"]["description"] == "How urgent."


def test_every_property_may_be_null_for_the_model() -> None:
    asked = optional(SCHEMA)
    assert asked["required"] == ["city", "nights", "guest"]
    assert asked["properties"]["city"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "Where to.",
    }
    assert asked["properties"]["guest"]["anyOf"][0]["required"] == ["name", "age"]
    assert SCHEMA["required"] == ["city", "guest"]


@pytest.mark.parametrize(
    "wrong", [{"input": "x"}, {**CONFIG, "fields": [{"name": "a"}]}, {"input": "x", "fields": []}]
)
def test_exactly_one_way_to_say_what_is_wanted(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ParameterExtractorConfig.model_validate(wrong)


def test_mistakes_are_found_before_a_run() -> None:
    def codes(config: dict[str, Any]) -> list[str]:
        return [finding.code for finding in check("PARAMETER_EXTRACTOR", {"input": "x", **config})]

    assert codes({"schema": SCHEMA}) == []
    assert codes({"schema": {"type": "strange"}})[0] == "output_schema"
    assert codes({"schema": {"type": "array"}}) == ["output_schema"]
    assert codes({"fields": [{"name": "a"}, {"name": "a"}]}) == ["duplicate_field"]
