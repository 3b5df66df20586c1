"""START, END, TEMPLATE and ENV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from interlace.engine.protocols import Environment, Services
from interlace.engine.testing import edges, run_document
from tests.nodes.runs import REGISTRY, run_node


async def run_end(
    config: dict[str, Any], inputs: dict[str, Any] | None = None, trigger: dict[str, Any] | None = None
) -> Any:
    nodes = [{"id": "start", "type": "START"}, {"id": "done", "type": "END", "config": config}]
    document = {"name": "t", "nodes": nodes, "edges": edges("start -> done")}
    return await run_document(document, inputs, registry=REGISTRY, trigger=trigger)


async def test_start_gives_inputs_and_trigger() -> None:
    trigger = {"kind": "webhook", "headers": {"x": "1"}, "body": {"a": 1}}
    config = {
        "outputs": {
            "a": "{{ start.a }}",
            "kind": "{{ start.trigger.kind }}",
            "body": "{{ start.trigger.body.a }}",
            "t": "{{ trigger.kind }}",
        }
    }
    result = await run_end(config, {"a": [1, 2]}, trigger)
    assert result.outputs == {"a": [1, 2], "kind": "webhook", "body": 1, "t": "webhook"}


async def test_end_keeps_types() -> None:
    values = {"n": 5, "f": 1.5, "t": "x", "b": False, "none": None, "l": [1, {"a": 2}], "o": {"k": "v"}}
    config = {
        "outputs": {
            **{name: f"{{{{ inputs.{name} }}}}" for name in values},
            "text": "n={{ inputs.n }}",
            "deep": {"in": ["{{ inputs.f }}"]},
        }
    }
    result = await run_end(config, values)
    assert result.outputs == {**values, "text": "n=5", "deep": {"in": [1.5]}}


async def test_what_looks_like_a_template_is_data() -> None:
    result = await run_end({"outputs": {"a": "{{ inputs.a }}"}}, {"a": "{{ inputs.b }}"})
    assert result.outputs == {"a": "{{ inputs.b }}"}


async def test_constants_written_as_expressions() -> None:
    result = await run_end(
        {"outputs": {"a": "{{ 5 }}", "b": {"x": "{{ 'y' }}"}, "c": ["{{ [1] }}", "{{ none }}"]}}
    )
    assert result.outputs == {"a": 5, "b": {"x": "y"}, "c": [[1], None]}


async def test_end_without_outputs() -> None:
    assert (await run_end({})).outputs == {}


async def test_a_missing_output_is_an_error() -> None:
    result = await run_end({"outputs": {"a": "{{ inputs.gone }}"}})
    assert result.status == "failed"
    assert result.error["type"] == "missing"
    assert "inputs.gone" in result.error["message"]


async def test_response_stands_beside_the_outputs() -> None:
    response = {
        "status": "{{ inputs.code }}",
        "headers": {"x-id": "{{ inputs.id }}", "x-n": "{{ inputs.code }}"},
        "body": {"id": "{{ inputs.id }}"},
    }
    result = await run_end({"outputs": {"a": 1}, "response": response}, {"code": 201, "id": "7"})
    assert result.outputs == {"a": 1}
    assert result.response == {"status": 201, "headers": {"x-id": "7", "x-n": "201"}, "body": {"id": "7"}}


async def test_response_defaults() -> None:
    assert (await run_end({"response": {}})).response == {"status": 200, "headers": {}, "body": None}


async def test_a_response_status_must_be_one() -> None:
    result = await run_end({"response": {"status": "{{ inputs.code }}"}}, {"code": "many"})
    assert result.status == "failed"
    assert "status" in result.error["message"]


async def test_template_text() -> None:
    config = {
        "template": "Dear {{ inputs.name }}:{% for x in inputs.list %} {{ loop.index }}={{ x.a }}{% endfor %}"
    }
    run = await run_node("TEMPLATE", config, {"name": "Ada <b>", "list": [{"a": 1}, {"a": "ü"}]})
    assert run.outputs == {"text": "Dear Ada <b>: 1=1 2=ü"}


async def test_template_html_escapes_values() -> None:
    run = await run_node(
        "TEMPLATE", {"template": "<p>{{ inputs.a }}</p>", "format": "html"}, {"a": "<script>&"}
    )
    assert run["text"] == "<p>&lt;script&gt;&amp;</p>"
    run = await run_node(
        "TEMPLATE", {"template": "<p>{{ inputs.a }}</p>", "format": "markdown"}, {"a": "<i>"}
    )
    assert run["text"] == "<p><i></p>"


async def test_template_json_gives_data() -> None:
    config = {"template": '{"name": {{ inputs.a | tojson }}, "n": {{ inputs.n }}}', "format": "json"}
    run = await run_node("TEMPLATE", config, {"a": 'say "hi"', "n": [1, None]})
    assert run.outputs == {"data": {"name": 'say "hi"', "n": [1, None]}}


async def test_template_json_that_is_none() -> None:
    run = await run_node(
        "TEMPLATE", {"template": '{"name": "{{ inputs.a }}"}', "format": "json"}, {"a": 'say "hi"'}
    )
    assert run.kind == "invalid_json"
    assert "tojson" in run.message
    assert 'say "hi"' in run.message


async def test_template_missing_value() -> None:
    run = await run_node("TEMPLATE", {"template": "Hello {{ inputs.nme }}"}, {"name": "Ada"})
    assert run.kind == "missing"
    assert "did you mean 'name'" in run.message
    run = await run_node("TEMPLATE", {"template": "Hello {{ inputs.nme | default('you') }}"}, {"name": "Ada"})
    assert run["text"] == "Hello you"


class Settings:
    def settings(self) -> Mapping[str, Any]:
        return {"SHOP_URL": "https://shop.example", "LIMIT": 5}

    def secret(self, name: str) -> str:
        raise AssertionError(f"secret {name} was read")


SERVICES = Services({Environment: Settings()})


async def test_env_reads_settings_by_name() -> None:
    run = await run_node("ENV", {"values": {"url": "SHOP_URL", "limit": "LIMIT"}}, services=SERVICES)
    assert run.outputs == {"url": "https://shop.example", "limit": 5}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"url": "SHOP_URI"},
            "environment 'dev' has no setting 'SHOP_URI' (did you mean 'SHOP_URL'?); add it to that environment",
        ),
        ({"a": "X", "b": "LIMIT", "c": "Y"}, "environment 'dev' has no settings 'X', 'Y'"),
    ],
)
async def test_env_names_what_is_missing(values: dict[str, str], message: str) -> None:
    run = await run_node("ENV", {"values": values}, services=SERVICES)
    assert run.kind == "missing_setting"
    assert run.message.startswith(message)
