"""Every action of real descriptions, called at a server that another library guards by the same description."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from interlace.engine.errors import NodeError
from interlace.resources.connectors.adapter import Access
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.connectors.openapi import import_openapi
from interlace.resources.connectors.schemas import response_schema
from interlace.resources.http.auth import InHeader
from tests.resources.connectors import corpus
from tests.resources.connectors.conftest import Bench
from tests.resources.connectors.described import Described, described
from tests.resources.connectors.values import Maker

STYLES = """
openapi: 3.1.0
info: {title: Styles, version: "1"}
paths:
  /simple/{one}/{list}/{object}:
    get:
      operationId: simple
      parameters:
        - {name: one, in: path, required: true, schema: {type: integer}}
        - {name: list, in: path, required: true, schema: {type: array, items: {type: string, enum: [a, "b&c", "d e"]}}}
        - {name: object, in: path, required: true, explode: true, schema: {$ref: "#/components/schemas/Pair"}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Pair"}}}}}
  /queries:
    get:
      operationId: queries
      parameters:
        - {name: plain, in: query, schema: {type: string, minLength: 4}}
        - {name: many, in: query, schema: {type: array, items: {type: integer}, minItems: 2}}
        - {name: commas, in: query, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: pipes, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: deep, in: query, style: deepObject, explode: true, schema: {$ref: "#/components/schemas/Pair"}}
        - {name: spread, in: query, schema: {type: object, properties: {left: {type: integer}, right: {type: integer}}, required: [left, right]}}
        - {name: coded, in: query, content: {application/json: {schema: {$ref: "#/components/schemas/Pair"}}}}
        - {name: flag, in: query, schema: {type: boolean}}
        - {name: X-Ids, in: header, schema: {type: array, items: {type: integer}}}
        - {name: X-Word, in: header, schema: {type: string, enum: [word]}}
        - {name: session, in: cookie, schema: {type: string, enum: [abc]}}
      responses: {"204": {description: nothing}}
  /forms:
    post:
      operationId: forms
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [name, tags]
              properties: {name: {type: string}, tags: {type: array, items: {type: string}}, count: {type: integer}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: integer}}}}}
  /multipart:
    put:
      operationId: multipart
      requestBody:
        content:
          multipart/form-data:
            schema:
              type: object
              required: [title]
              properties: {title: {type: string}, meta: {$ref: "#/components/schemas/Pair"}}
      responses: {"201": {description: ok, content: {application/json: {schema: {type: string}}}}}
  /merge:
    patch:
      operationId: merge
      requestBody: {content: {application/merge-patch+json: {schema: {$ref: "#/components/schemas/Tree"}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Tree"}}}}}
components:
  schemas:
    Pair: {type: object, required: [left, right], properties: {left: {type: integer}, right: {type: integer}}, additionalProperties: false}
    Tree: {type: object, required: [name], properties: {name: {type: string}, children: {type: array, items: {$ref: "#/components/schemas/Tree"}, maxItems: 1}}}
"""


def at_one_place(spec: dict[str, Any]) -> dict[str, Any]:
    """The description without addresses and credentials of single operations, which the guarding library does not know."""
    spec.pop("security", None)
    for item in spec["paths"].values():
        item.pop("servers", None)
        for operation in item.values():
            if isinstance(operation, dict):
                operation.pop("servers", None)
                operation.pop("security", None)
    return spec


async def call_all(
    bench: Bench, spec: dict[str, Any], server: Described, rounds: int, *, answers: bool = True
) -> int:
    connector = import_openapi(json.dumps({**spec, "servers": [{"url": server.url}]})).connector
    loaded = Loaded(connector, "c1")
    calls = 0
    for action in connector.actions:
        schema = loaded.parameters(action)
        for seed in range(rounds):
            maker = Maker(schema, seed, optional=(0.0, 1.0, 0.6)[seed % 3])
            given = maker.make({key: value for key, value in schema.items() if key != "$defs"})
            jsonschema.validate(given, schema)
            access = Access(auth=InHeader("Authorization", "Token s3cret"))
            result = await bench.call(loaded, action.name, access, **given)
            assert result.status_code < 300
            method, _, sent = server.answered[-1]
            assert (method, result.body) == (action.method, sent)
            if sent is not None and answers:  # the maker cannot join every `allOf`
                jsonschema.validate(result.body, response_schema(connector, action))
            calls += 1
    assert server.refused == []
    return calls


async def test_every_style_reaches_a_server_as_it_should(bench: Bench) -> None:
    spec = yaml.safe_load(STYLES)
    with described(spec) as server:
        assert await call_all(bench, spec, server, rounds=30) == 5 * 30


@corpus.needs_corpus
@pytest.mark.parametrize(("name", "actions"), [("realworld-conduit.yaml", 19), ("spotify.yaml", 96)])
async def test_every_action_of_a_real_description_is_called(bench: Bench, name: str, actions: int) -> None:
    spec = at_one_place(corpus.plain(name))
    with described(spec) as server:
        assert await call_all(bench, spec, server, rounds=3, answers=name != "spotify.yaml") == actions * 3


async def test_the_server_would_notice(bench: Bench) -> None:
    spec = yaml.safe_load(STYLES)
    wrong = yaml.safe_load(STYLES)
    wrong["paths"]["/forms"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"][
        "required"
    ] = []
    with described(spec) as server:
        connector = import_openapi(json.dumps({**wrong, "servers": [{"url": server.url}]})).connector
        with pytest.raises(NodeError, match="answered 422"):
            await bench.call(connector, "forms", body={"count": 1})
    assert len(server.refused) == 1
