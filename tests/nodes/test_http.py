from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from interlace.engine.document import NodeSpec
from interlace.nodes.http import Http, HttpConfig


@pytest.mark.parametrize(
    ("method", "effect"),
    [
        ("GET", "none"),
        ("head", "none"),
        ("OPTIONS", "none"),
        ("PUT", "idempotent"),
        ("DELETE", "idempotent"),
        ("POST", "once"),
        ("PATCH", "once"),
    ],
)
def test_effects_follow_the_method(method: str, effect: str) -> None:
    assert Http(HttpConfig.model_validate({"url": "http://a.example", "method": method})).effect() == effect


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"url": "http://a.example", "methd": "GET"},
        {"url": "http://a.example", "method": "FETCH"},
        {"url": "http://a.example", "ok_statuses": [99]},
        {"url": "http://a.example", "ok_statuses": ["6xx"]},
        {"url": "http://a.example", "ok_statuses": ["404-400"]},
        {"url": "http://a.example", "body": {"json": 1, "raw": 2}},
        {"url": "http://a.example", "body": {"type": "json"}},
        {"url": "http://a.example", "auth": {"type": "bearer"}},
        {"url": "http://a.example", "auth": "bearer"},
        {"url": "http://a.example", "paginate": {"type": "cursor"}},
        {"url": "http://a.example", "paginate": {"type": "page", "items": "[[["}},
        {"url": "http://a.example", "max_body_mb": 0},
    ],
)
def test_a_config_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        HttpConfig.model_validate(wrong)


def findings(config: dict[str, Any]) -> list[tuple[str, str]]:
    node = Http(HttpConfig.model_validate(config))
    spec = NodeSpec.model_validate({"id": "call", "type": "HTTP", "config": config})
    return [(finding.code, finding.field) for finding in node.check(spec)]


def test_mistakes_are_found_before_a_run() -> None:
    assert findings({"url": "https://a.example/{{ inputs.x }}"}) == []
    assert findings({"url": "a.example"}) == [("bad_url", "config.url")]
    assert findings({"url": "http://0x7f.1/"}) == [("bad_url", "config.url")]
    schema = {"url": "http://a.example", "response_schema": {"type": "strange"}}
    assert [code for code, _ in findings(schema)] == ["response_schema"]
    remote = {"url": "http://a.example", "response_schema": {"$ref": "http://127.0.0.1:1/x.json"}}
    assert [code for code, _ in findings(remote)] == ["response_schema"]
    pages = {"url": "http://a.example", "paginate": "next_link", "response_as": "text"}
    assert findings(pages) == [("paginate_needs_json", "config.response_as")]


@pytest.mark.parametrize(
    ("extra", "body"),
    [
        ({}, {}),
        ({"response_as": "text"}, {"type": "string"}),
        ({"response_as": "json", "paginate": "next_link"}, {"type": "array", "items": {}}),
        ({"response_schema": {"type": "integer"}, "response_as": "json"}, {"type": "integer"}),
    ],
)
def test_the_output_schema_knows_the_body(extra: dict[str, Any], body: dict[str, Any]) -> None:
    node = Http(HttpConfig.model_validate({"url": "http://a.example", **extra}))
    schema = node.output_schema(None)  # type: ignore[arg-type]
    assert schema["properties"]["body"] == body
    assert {"status_code", "headers", "url", "elapsed_ms"} <= set(schema["properties"])


def test_every_setting_explains_itself() -> None:
    schema = HttpConfig.model_json_schema(by_alias=True)
    models = [schema, *schema["$defs"].values()]
    for model in models:
        for name, entry in model.get("properties", {}).items():
            assert {"title", "description", "examples"} <= set(entry), (model.get("title"), name)


def test_the_example_is_valid() -> None:
    assert findings(Http.example) == []
