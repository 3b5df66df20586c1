from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from interlace.engine.validate.schemas import flaws, mismatch

CORPUS = next(
    (found for up in Path(__file__).parents if (found := up / "shared/corpus/json_schema").is_dir()), None
)


@pytest.mark.parametrize(
    "schema",
    [
        True, {}, {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
        {"$defs": {"x": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/x"}}}, {"type": "array", "items": False},
        {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]}, {"enum": [1, "a", None]}, {"x-unknown": [1]},
        {"type": "object", "format": "file"}, {"default": 5, "type": "integer"}, {"pattern": "^\\d+$"}, {"$ref": "#"},
        {"dependentRequired": {"a": ["b"]}}, {"minItems": 2.0},
    ],
)  # fmt: skip
def test_right_schemas(schema: Any) -> None:
    assert list(flaws(schema)) == []


@pytest.mark.parametrize(
    ("schema", "path", "words"),
    [
        ("string", "", "is a mapping, not the text 'string'"),
        ({"type": "str"}, "type", "no type 'str'"),
        ({"type": ["string", "nul"]}, "type", "no type 'nul'"),
        ({"type": []}, "type", "must name a type"),
        ({"properties": ["a"]}, "properties", "mapping of names to schemas"),
        ({"properties": {"a": "string"}}, "properties.a", "is a mapping"),
        ({"properties": {"a": {"required": True}}}, "properties.a.required", "list of names"),
        ({"required": ["a", "a"]}, "required", "twice"),
        ({"items": [{"type": "string"}]}, "items", "is a mapping, not a list"),
        ({"anyOf": []}, "anyOf", "list of schemas"),
        ({"anyOf": [{}, {"minimum": "1"}]}, "anyOf[1].minimum", "must be a number"),
        ({"maxLength": -1}, "maxLength", "at least 0"),
        ({"maxItems": True}, "maxItems", "whole number"),
        ({"pattern": "("}, "pattern", "no regular expression"),
        ({"uniqueItems": "yes"}, "uniqueItems", "true or false"),
        ({"enum": "a"}, "enum", "must be a list"),
        ({"description": 5}, "description", "must be text"),
        ({"$ref": "https://example.com/x.json"}, "$ref", "must point into the same schema"),
        ({"$ref": "#/$defs/gone"}, "$ref", "points to nothing"),
        ({"dependentRequired": {"a": "b"}}, "dependentRequired.a", "list of names"),
    ],
)
def test_flaws(schema: Any, path: str, words: str) -> None:
    (flaw,) = flaws(schema)
    assert (flaw.code, flaw.path) == ("bad_schema", path)
    assert words in flaw.message


def test_the_type_that_was_meant_is_named() -> None:
    assert next(flaws({"type": "dict"})).fix == "Did you mean 'object'?"
    assert next(flaws({"type": "strng"})).fix == "Did you mean 'string'?"


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "integer", "default": "x"}, "default"),
        ({"properties": {"a": {"enum": [1, 2], "default": 3}}}, "properties.a.default"),
        (
            {"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n", "default": "x"}}},
            "properties.a.default",
        ),
    ],
)
def test_defaults_that_do_not_match(schema: Any, path: str) -> None:
    (flaw,) = flaws(schema)
    assert (flaw.code, flaw.path) == ("bad_default", path)


def test_a_schema_nested_without_end_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(80):
        schema = {"not": schema}
    (flaw,) = flaws(schema)
    assert "nested" in flaw.message


def test_mismatch() -> None:
    assert mismatch(5, {"type": "integer"}) is None
    assert mismatch("x", {"type": "integer"}) == "'x' is not of type 'integer'"
    assert mismatch(1, {"$ref": "#/nothing"}) is None


KEYWORDS = st.sampled_from(
    ["type", "properties", "items", "required", "enum", "anyOf", "minimum", "maxLength", "pattern", "description", "uniqueItems",
     "additionalProperties", "prefixItems", "dependentRequired", "multipleOf", "format"]
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["string", "object", "a", "("]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYWORDS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYWORDS, JUNK, max_size=3))
def test_agrees_with_the_meta_schema(schema: dict[str, Any]) -> None:
    """Whatever the meta-schema of JSON Schema refuses is a flaw; the other way only patterns differ."""
    ours = [flaw for flaw in flaws(schema) if "regular expression" not in flaw.message]
    theirs = Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema)
    assert (not ours) == theirs, ours


@pytest.mark.skipif(CORPUS is None, reason="the corpus of real schemas is not here")
def test_agrees_on_real_schemas() -> None:
    assert CORPUS is not None
    checked = 0
    for path in sorted(CORPUS.rglob("*.json"))[:60]:
        for case in json.loads(path.read_text()):
            schema = case.get("schema") if isinstance(case, dict) else None
            if isinstance(schema, dict | bool) and "$ref" not in json.dumps(schema):
                unusable = [
                    flaw
                    for flaw in flaws(schema)
                    if flaw.code == "bad_schema" and "regular" not in flaw.message
                ]
                assert not unusable, (path.name, schema, unusable)
                checked += 1
    assert checked
