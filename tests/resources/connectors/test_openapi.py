"""What single features of descriptions become."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlace.resources.connectors.openapi import export_openapi, import_openapi
from interlace.resources.connectors.report import Imported, NotImported
from interlace.resources.connectors.schemas import parameters_schema


def spec(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> str:
    return json.dumps(
        {
            "openapi": version,
            "info": {"title": "Shop API", "version": "1"},
            "servers": [{"url": "https://api.example.com/v1"}],
            "paths": paths,
            **more,
        }
    )


def one(operation: dict[str, Any], method: str = "get", path: str = "/things", **more: Any) -> Imported:
    return import_openapi(spec({path: {method: {"responses": {}, **operation}}}, **more))


def codes(found: Imported) -> set[tuple[str, str]]:
    return {(entry.level, entry.code) for entry in found.entries}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"openapi": "3.1.0",\n "paths": {,}}', 2, "JSON cannot be read"),
        ("openapi: 3.1.0\npaths:\n  - a: [\n", 4, "YAML cannot be read"),
        ("openapi: 3.1.0\n\tpaths: {}\n", 2, "YAML cannot be read"),
        ("hello", 1, "no mapping"),
        ("a: 1", 1, "neither `openapi` nor `swagger`"),
        ("info: {}\nopenapi: 4.0.0\n", 2, "'4.0.0'"),
        ("openapi: 3.1.0\ninfo: {}\npaths: [1]\n", 3, "`paths` is no mapping"),
        (
            "openapi: 3.1.0\nx: !!python/object/apply:os.system ['true']\n",
            2,
            "could not determine a constructor",
        ),
    ],
)
def test_a_damaged_text_is_refused_at_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(NotImported) as caught:
        import_openapi(text)
    assert caught.value.line == line
    assert words in str(caught.value)


def test_bombs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(NotImported, match="more than 3,000,000 values"):
        import_openapi("openapi: 3.1.0\n" + "\n".join(lines))
    with pytest.raises(NotImported, match="inside the value that it names"):
        import_openapi("openapi: 3.1.0\npaths: &p {x-a: *p}")
    with pytest.raises(NotImported, match="levels deep"):
        import_openapi('{"openapi": "3.1.0", "x": ' + "[" * 5000 + "]" * 5000 + "}")
    with pytest.raises(NotImported):
        import_openapi("openapi: 3.1.0\nx: " + "[" * 5000 + "]" * 5000)
    with pytest.raises(NotImported, match="the limit is 20,000,000"):
        import_openapi(" " * 20_000_001)


def test_names_work_in_any_script_and_stay_unique() -> None:
    operation = {"responses": {}}
    found = import_openapi(
        spec(
            {
                "/注文": {"get": {"operationId": "注文を取得", **operation}, "post": operation},
                "/a": {"get": {"operationId": "get thing", **operation}},
                "/b": {"get": {"operationId": "get/thing", **operation}},
                "/c": {"get": {"operationId": "///", "summary": "注文", **operation}},
                "/": {"get": {"operationId": "😀", **operation}},
                "/d": {
                    "get": {"operationId": "x" * 200, **operation},
                    "put": {"operationId": "x" * 201, **operation},
                },
            }
        )
    )
    names = {(action.method, action.path): action.name for action in found.connector.actions}
    assert names["GET", "/注文"] == "注文を取得"
    assert names["POST", "/注文"] == "post_注文"
    assert (names["GET", "/a"], names["GET", "/b"]) == ("get_thing", "get_thing_2")
    assert (names["GET", "/c"], names["GET", "/"]) == ("get_c", "get")
    assert len(set(names.values())) == len(names) == 8
    assert all(0 < len(name) <= 64 for name in names.values())
    assert ("warning", "duplicate_name") in codes(found)


def test_parameters_of_the_path_hold_unless_the_operation_says_otherwise() -> None:
    found = import_openapi(
        spec(
            {
                "/x/{id}/{lost}": {
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                        {"name": "q", "in": "query", "schema": {"type": "integer"}},
                    ],
                    "get": {
                        "parameters": [
                            {"name": "q", "in": "query", "schema": {"type": "string"}},
                            {"name": "id", "in": "query", "schema": {}},
                            {"name": "Authorization", "in": "header", "schema": {}},
                            {"name": "filter[name]", "in": "query", "schema": {}},
                        ],
                        "responses": {},
                    },
                }
            }
        )
    )
    action = found.connector.actions[0]
    schema = parameters_schema(found.connector, action)
    assert schema["required"] == ["id", "lost"]
    assert schema["properties"]["q"] == {"type": "string"}
    assert {p.name: (p.place, p.wire) for p in action.parameters} == {
        "id": ("path", "id"), "q": ("query", "q"), "id_query": ("query", "id"), "filter_name": ("query", "filter[name]"),
        "lost": ("path", "lost"),
    }  # fmt: skip
    assert codes(found) >= {
        ("info", "set_otherwise"),
        ("info", "renamed_argument"),
        ("warning", "undeclared_parameter"),
    }


def test_older_schemas_become_json_schema() -> None:
    found = one(
        {
            "parameters": [
                {
                    "name": "p", "in": "query",
                    "schema": {
                        "type": "object", "x-noise": 1, "discriminator": {}, "required": ["a", "b"],
                        "properties": {
                            "a": {"type": "string", "nullable": True, "enum": ["x"]},
                            "b": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "readOnly": True},
                            "c": {"type": "string", "pattern": "(?=x)y"},
                            "d": {"type": "string", "format": "binary"},
                            "e": {"type": "whatever", "required": True, "minLength": -1},
                        },
                    },
                }
            ]
        },
        version="3.0.3",
    )  # fmt: skip
    (parameter,) = found.connector.actions[0].parameters
    assert parameter.schema_ == {
        "type": "object", "required": ["a"],
        "properties": {
            "a": {"type": ["string", "null"], "enum": ["x", None]},
            "b": {"type": "number", "exclusiveMinimum": 0, "readOnly": True},
            "c": {"type": "string"},
            "d": {"anyOf": [{"type": "object", "format": "file"}, {"type": "string"}]},
            "e": {},
        },
    }  # fmt: skip
    assert codes(found) == {("info", "pattern"), ("warning", "bad_type")}


def test_references_are_followed_inside_and_nowhere_else() -> None:
    found = import_openapi(
        spec(
            {
                "/a": {"$ref": "#/components/pathItems/A"},
                "/b": {
                    "get": {"$ref": "other.yaml#/get"},
                    "post": {"responses": {}, "requestBody": {"$ref": "https://example.com/x"}},
                },
                "/c": {"$ref": "gone.yaml"},
                "/d": {"get": {"$ref": "#/paths/~1d/get"}},
            },
            components={
                "pathItems": {
                    "A": {
                        "get": {
                            "operationId": "a",
                            "parameters": [{"$ref": "#/components/parameters/P"}],
                            "responses": {},
                        }
                    }
                },
                "parameters": {
                    "P": {"name": "p", "in": "query", "schema": {"$ref": "#/components/schemas/Tree"}}
                },
                "schemas": {
                    "Tree": {
                        "type": "object",
                        "properties": {
                            "next": {"$ref": "#/components/schemas/Tree"},
                            "odd": {"$ref": "#/components/schemas/Loop"},
                        },
                    },
                    "Loop": {"$ref": "#/components/schemas/Loop"},
                },
            },
        )
    )
    assert [action.name for action in found.connector.actions] == ["a", "post_b"]
    schema = parameters_schema(found.connector, found.connector.actions[0])
    assert schema["properties"]["p"] == {"$ref": "#/$defs/Tree"}
    assert set(schema["$defs"]) == {"Tree", "Loop"}
    left = {entry.place: entry.code for entry in found.entries if entry.level == "error"}
    assert left == {
        "GET /b": "remote_reference",
        "POST /b": "remote_reference",
        "/c": "remote_reference",
        "GET /d": "circular_reference",
    }


def test_all_media_types_of_a_body_are_offered() -> None:
    content = {
        "text/plain": {"schema": {"type": "string"}},
        "application/octet-stream": {},
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
        },
        "application/json": {"schema": {"type": "object"}},
    }
    found = one({"requestBody": {"required": True, "content": content}}, "post")
    action = found.connector.actions[0]
    assert [body.media_type for body in action.bodies] == [
        "application/json",
        "multipart/form-data",
        "text/plain",
        "application/octet-stream",
    ]
    schema = parameters_schema(found.connector, action)
    assert schema["required"] == ["body"]
    assert schema["properties"]["body_type"]["enum"][0] == "application/json"


def test_version_2_says_the_same() -> None:
    found = import_openapi(
        json.dumps(
            {
                "swagger": "2.0", "info": {"title": "Old", "version": "1"}, "host": "old.example.com", "basePath": "/v2", "schemes": ["http", "https"],
                "consumes": ["application/json"], "securityDefinitions": {"k": {"type": "apiKey", "in": "query", "name": "key"}}, "security": [{"k": []}],
                "parameters": {"Limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 10}},
                "paths": {
                    "/pets": {
                        "get": {"parameters": [{"$ref": "#/parameters/Limit"}, {"name": "tags", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "pipes"}],
                                "responses": {"200": {"schema": {"$ref": "#/definitions/Pet"}}}},
                        "post": {"parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}], "responses": {}},
                        "put": {"consumes": ["multipart/form-data"], "parameters": [{"name": "f", "in": "formData", "type": "file", "required": True}, {"name": "n", "in": "formData", "type": "integer"}], "responses": {}},
                    }
                },
                "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}},
            }
        )
    )  # fmt: skip
    connector = found.connector
    assert (connector.base_url, connector.auth.type) == ("https://old.example.com/v2", "api_key")
    get, post, put = sorted(connector.actions, key=lambda action: action.name)
    assert [(p.name, p.style, p.explode) for p in get.parameters] == [
        ("limit", None, None),
        ("tags", "pipeDelimited", False),
    ]
    assert get.response_schema == {"$ref": "#/$defs/Pet"}
    assert (post.bodies[0].media_type, post.body_required) == ("application/json", True)
    assert put.bodies[0].media_type == "multipart/form-data"
    assert put.bodies[0].schema_["required"] == ["f"]
    assert put.bodies[0].schema_["properties"]["f"] == {
        "anyOf": [{"type": "object", "format": "file"}, {"type": "string"}],
        "description": "",
    }


def test_version_3_2_has_more_methods() -> None:
    found = import_openapi(
        spec(
            {
                "/s": {
                    "query": {
                        "operationId": "search",
                        "requestBody": {"content": {"application/json": {"schema": {}}}},
                        "responses": {},
                    },
                    "additionalOperations": {"COPY": {"operationId": "copy", "responses": {}}},
                    "get": {
                        "parameters": [
                            {
                                "name": "all",
                                "in": "querystring",
                                "content": {
                                    "application/x-www-form-urlencoded": {"schema": {"type": "object"}}
                                },
                            }
                        ],
                        "responses": {},
                    },
                }
            },
            version="3.2.0",
        )
    )
    made = {action.method: action for action in found.connector.actions}
    assert set(made) == {"QUERY", "COPY", "GET"}
    assert not made["QUERY"].requires_confirmation
    assert made["COPY"].requires_confirmation
    assert made["GET"].parameters[0].place == "querystring"
    again = import_openapi(json.dumps(export_openapi(found.connector))).connector
    assert {action.method for action in again.actions} == {"QUERY", "COPY", "GET"}


def test_servers_and_their_variables() -> None:
    text = json.loads(
        spec({"/a": {"get": {"responses": {}, "servers": [{"url": "https://other.example.com"}]}}})
    )
    text["servers"] = [
        {
            "url": "https://{region}.example.com/v1",
            "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}},
        },
        {"url": "https://b.example.com"},
    ]
    found = import_openapi(json.dumps(text))
    assert (found.connector.base_url, found.connector.variables) == (
        "https://{region}.example.com/v1",
        {"region": "eu"},
    )
    assert found.connector.actions[0].base_url == "https://other.example.com"
    text["servers"] = [{"url": "/v3"}]
    assert import_openapi(json.dumps(text)).connector.base_url == ""
    assert (
        import_openapi(json.dumps(text), source_url="https://h.example.com/docs/api.json").connector.base_url
        == "https://h.example.com/v3"
    )


def test_an_import_cannot_open_a_gate() -> None:
    found = one(
        {"x-interlace": {"requires_confirmation": False, "confirmation": "never"}},
        "delete",
        **{"x-interlace": {"confirmation": "never", "auth": "none"}},
    )
    assert found.connector.confirmation == "model"
    assert found.connector.actions[0].requires_confirmation


def test_repeated_keys_are_reported() -> None:
    found = import_openapi('{"openapi": "3.1.0", "info": {}, "paths": {"/a": {"get": {}, "get": {}}}}')
    assert ("error", "repeated_key") in codes(found)
    found = import_openapi("openapi: 3.1.0\npaths:\n  /a:\n    get: {}\n    get: {}\n")
    assert [entry.place for entry in found.entries if entry.code == "repeated_key"] == ["line 5"]


def test_yaml_keeps_texts_as_they_are() -> None:
    found = import_openapi(
        "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      parameters:\n        - {name: on, in: query, schema: {type: string, enum: [no, 2020-01-01, 12:30:00]}}\n"
        "      responses: {200: {content: {application/json: {schema: {type: integer}}}}}\n"
    )
    action = found.connector.actions[0]
    assert action.parameters[0].name == "on"
    assert action.parameters[0].schema_["enum"] == ["no", "2020-01-01", "12:30:00"]
    assert action.response_schema == {"type": "integer"}
