from __future__ import annotations

import pytest

from interlace.engine.schema import (
    UNKNOWN,
    Absent,
    compatible,
    described,
    field,
    kinds,
    of_value,
    union,
    without_null,
)

ROW = {"type": "object", "properties": {"name": {"type": "string"}, "amount": {"type": "number"}}}
TREE = {
    "$ref": "#/$defs/Node",
    "$defs": {"Node": {"type": "object", "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "key", "expected"),
    [
        ({}, "x", UNKNOWN),
        (ROW, "name", {"type": "string"}),
        (ROW, "nam", Absent(near="name")),
        (ROW, "zzz", Absent()),
        ({**ROW, "additionalProperties": True}, "zzz", UNKNOWN),
        ({**ROW, "additionalProperties": {"type": "null"}}, "zzz", {"type": "null"}),
        ({**ROW, "additionalProperties": False}, "zzz", Absent()),
        ({**ROW, "patternProperties": {"^x": {}}}, "zzz", UNKNOWN),
        ({"properties": {"a": {}}}, "b", Absent()),
        ({"type": "object"}, "x", UNKNOWN),
        ({"type": "object", "properties": {}}, "x", Absent()),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "x", {"type": "integer"}),
        (ROW, None, UNKNOWN),
        ({"type": "array", "items": ROW}, 0, ROW),
        ({"type": "array", "items": ROW}, None, ROW),
        ({"type": "array", "items": ROW}, "name", Absent(kind="array")),
        ({"type": "array"}, 3, UNKNOWN),
        ({"type": "array", "prefixItems": [{"type": "null"}], "items": ROW}, 0, {"type": "null"}),
        ({"type": "array", "prefixItems": [{"type": "null"}], "items": ROW}, 1, ROW),
        ({"type": "array", "prefixItems": [{"type": "null"}]}, -1, UNKNOWN),
        ({"type": "string"}, 0, {"type": "string"}),
        ({"type": "string"}, "x", Absent(kind="string")),
        ({"type": "number"}, 0, Absent(kind="number")),
        ({"type": ["object", "null"], "properties": {"a": {"type": "null"}}}, "a", {"type": "null"}),
        ({"anyOf": [ROW, {"type": "null"}]}, "name", {"type": "string"}),
        ({"anyOf": [ROW, {"type": "null"}]}, "nme", Absent(near="name")),
        ({"anyOf": [ROW, {}]}, "nme", UNKNOWN),
        ({"oneOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "null"}}}]}, "a", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"allOf": [ROW, {"properties": {"x": {"type": "null"}}}]}, "x", {"type": "null"}),
        ({"allOf": [ROW, {"properties": {"x": {"type": "null"}}}]}, "name", {"type": "string"}),
        ({"allOf": [ROW, {}]}, "x", UNKNOWN),
        ({"allOf": [ROW, {"type": "object"}]}, "nam", Absent(near="name")),
        ({"$ref": "https://example.org/x"}, "x", UNKNOWN),
        ({"$ref": "#/$defs/gone"}, "x", UNKNOWN),
        ({"const": "x"}, "a", Absent(kind="string")),
        (True, "x", UNKNOWN),
    ],
)  # fmt: skip
def test_field(schema, key, expected):
    assert field(schema if schema is not True else {}, key) == expected


def test_references_inside_a_schema_are_followed_at_any_depth():
    schema = TREE
    for key in ("kids", 0, "kids", None, "v"):
        schema = field(schema, key)
    assert schema["type"] == "integer"
    assert field(field(field(TREE, "kids"), 0), "w") == Absent()


def test_a_reference_to_itself_is_unknown_and_ends():
    loop = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert field(loop, "x") == UNKNOWN
    assert compatible(loop, {"type": "string"})


@pytest.mark.parametrize(
    ("actual", "expected", "fits"),
    [
        ({}, {"type": "string"}, True),
        ({"type": "string"}, {}, True),
        ({"type": "integer"}, {"type": "number"}, True),
        ({"type": "number"}, {"type": "integer"}, True),
        ({"type": "string"}, {"type": "number"}, False),
        ({"type": "string", "const": "5"}, {"type": "number"}, False),
        ({"type": "boolean"}, {"type": "integer"}, False),
        ({"type": "null"}, {"type": "string"}, False),
        ({"type": "null"}, {"type": ["string", "null"]}, True),
        ({"type": ["string", "null"]}, {"type": "string"}, True),
        ({"anyOf": [{"type": "null"}, {"type": "array"}]}, {"type": "string"}, False),
        ({"type": "string"}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, True),
        ({"const": "a"}, {"enum": ["a", "b"]}, True),
        ({"const": "c"}, {"enum": ["a", "b"]}, False),
        ({"enum": ["a", "z"]}, {"enum": ["a", "b"]}, True),
        ({"type": "string"}, {"enum": ["a", "b"]}, True),
        ({"type": "integer"}, {"enum": ["a", "b"]}, False),
        ({"const": True}, {"enum": [1]}, False),
        ({"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "number"}}, False),
        ({"type": "array"}, {"type": "array", "items": {"type": "number"}}, True),
        ({"type": "array", "items": ROW}, {"type": "object"}, False),
        (ROW, {"type": "object", "properties": {"amount": {"type": "string"}}}, False),
        (ROW, {"type": "object", "required": ["zip"]}, False),
        ({**ROW, "additionalProperties": True}, {"type": "object", "required": ["zip"]}, True),
        ({"type": "object"}, {"type": "object", "required": ["zip"]}, True),
        (ROW, {"type": "object", "required": ["name"]}, True),
        (TREE, TREE, True),
        (TREE, {"type": "object", "properties": {"v": {"type": "string"}}}, False),
    ],
)  # fmt: skip
def test_compatible(actual, expected, fits):
    assert compatible(actual, expected) is fits


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", {"type": "string", "const": "x"}),
        (1, {"type": "integer", "const": 1}),
        (True, {"type": "boolean", "const": True}),
        (None, {"type": "null"}),
        ([], {"type": "array"}),
        ([1, 1], {"type": "array", "items": {"type": "integer", "const": 1}}),
        ({"a": None}, {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}),
        ("x" * 500, {"type": "string"}),
        (object(), UNKNOWN),
    ],
)
def test_of_value(value, expected):
    assert of_value(value) == expected


def test_union_and_without_null():
    text, null = {"type": "string"}, {"type": "null"}
    assert union([text, text]) == text
    assert union([text, {}]) == UNKNOWN
    assert union([]) == UNKNOWN
    assert union([union([text, null]), {"type": "array"}]) == {"anyOf": [text, null, {"type": "array"}]}
    assert without_null(union([text, null])) == text
    assert without_null({"type": ["string", "null"]}) == {"type": ["string"]}
    assert without_null(null) == UNKNOWN
    assert without_null({}) == {}


def test_kinds_and_words():
    assert kinds({"type": "wrong"}) == kinds({})
    assert kinds({"enum": ["a", 1]}) == {"string", "integer"}
    assert described({"type": ["array", "null"]}) == "list or null"
    assert described({}) == "anything"
