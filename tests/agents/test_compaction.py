"""Compact schemas demand what the full ones do, and say it in fewer words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.agents.compaction import compact
from interlace.engine.json_schema import problems_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from(["", "a", "ab", "title", "a@b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "title", "x-y"]), inner, max_size=3)
    ),
    max_leaves=6,
)
NOTES = st.fixed_dictionaries(
    {},
    optional={
        "title": st.sampled_from(["A", "Title"]), "description": st.sampled_from(["", "what  it\n is"]),
        "default": st.none() | st.integers(0, 3), "x-internal": st.just(True), "$comment": st.just("c"),
        "examples": st.just([]), "deprecated": st.booleans(), "readOnly": st.booleans(),
    },
)  # fmt: skip
DEMANDS = st.sampled_from(
    [
        {}, {"type": "string"}, {"type": ["integer"]}, {"type": ["string", "null"]}, {"enum": ["a", 1, None]}, {"const": "a"},
        {"minLength": 0}, {"minLength": 1}, {"minimum": 2}, {"minItems": 0}, {"minItems": 1}, {"uniqueItems": False},
        {"uniqueItems": True}, {"required": []}, {"required": ["a"]}, {"type": "object"}, {"type": "array"}, {"pattern": "^a"},
        {"dependentRequired": {"a": ["b"]}}, {"minProperties": 1}, {"type": "integer", "multipleOf": 2},
    ]
)  # fmt: skip
NAMES = ("one", "two", "a/b~c")


def _schemas(depth: int) -> st.SearchStrategy[Any]:
    def merged(parts: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        return {key: value for part in parts for key, value in part.items()}

    refs = st.sampled_from(NAMES).map(
        lambda name: {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}
    )
    leaf = st.tuples(NOTES, DEMANDS).map(merged)
    if depth == 0:
        return leaf | st.tuples(NOTES, refs).map(merged)
    inner = _schemas(depth - 1)
    holding = st.one_of(
        st.dictionaries(st.sampled_from(["a", "b", "title"]), inner, max_size=3).map(
            lambda p: {"properties": p}
        ),
        st.booleans().map(lambda b: {"additionalProperties": b}),
        inner.map(lambda s: {"additionalProperties": s}),
        inner.map(lambda s: {"items": s}),
        st.just({"items": True}),
        inner.map(lambda s: {"not": s}),
        st.lists(inner, min_size=1, max_size=2).map(lambda p: {"allOf": p}),
        st.lists(inner, min_size=1, max_size=2).map(lambda p: {"anyOf": p}),
        st.lists(inner, min_size=1, max_size=2).map(lambda p: {"oneOf": p}),
        st.tuples(inner, inner).map(lambda p: {"if": p[0], "then": p[1]}),
        st.just({"unevaluatedProperties": False}),
        st.dictionaries(st.sampled_from(["^a", "e$"]), inner, max_size=2).map(
            lambda p: {"patternProperties": p}
        ),
    )
    return st.tuples(NOTES, DEMANDS, holding, st.one_of(st.just({}), refs)).map(merged) | leaf


@st.composite
def whole(draw: st.DrawFn) -> dict[str, Any]:
    schema = dict(draw(_schemas(2)))
    return {**schema, "$defs": {name: draw(_schemas(1)) for name in NAMES}}


@given(whole(), st.lists(VALUES, min_size=3, max_size=6))
def test_verdicts_are_the_same(schema: dict[str, Any], values: list[Any]) -> None:
    short = compact(schema)
    for value in values:
        full, kept = problems_of(schema, value, "value"), problems_of(short, value, "value")
        if any(problem.code.endswith("_schema") for problem in (*full, *kept)):
            continue  # a reference leads to itself on the same value: JSON Schema defines no verdict
        assert bool(full) == bool(kept), (schema, short, value)


@given(whole())
def test_it_is_never_longer_by_more_than_what_is_written_out_and_done_after_one_time(
    schema: dict[str, Any],
) -> None:
    before = orjson.dumps(schema)
    short = compact(schema)
    assert orjson.dumps(schema) == before
    assert compact(short) == compact(compact(short))


def test_a_property_called_like_a_keyword_stays() -> None:
    schema = {"type": "object", "title": "T", "properties": {"title": {"type": "string", "title": "Title"}}}
    assert compact(schema) == {"type": "object", "properties": {"title": {"type": "string"}}}


def test_references_are_written_out_and_circles_stay() -> None:
    schema = {
        "type": "object",
        "properties": {
            "owner": {"$ref": "#/$defs/Person", "description": "Whose it is"},
            "tree": {"$ref": "#/$defs/Node"},
        },
        "$defs": {
            "Person": {"type": "object", "properties": {"name": {"type": "string"}}, "description": "A person"},
            "Node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}},
            "Unused": {"type": "null"},
        },
    }  # fmt: skip
    short = compact(schema)
    assert short["properties"]["owner"] == {
        "type": "object", "properties": {"name": {"type": "string"}}, "description": "Whose it is",
    }  # fmt: skip
    assert set(short["$defs"]) == {"Node"}


def test_what_refers_to_places_in_itself_keeps_them() -> None:
    schema = {
        "properties": {
            "a": {"allOf": [{"type": "string", "title": "A"}]},
            "b": {"$ref": "#/properties/a/allOf/0"},
        }
    }
    for value, fine in (({"b": "x"}, True), ({"b": 1}, False)):
        assert (problems_of(compact(schema), value, "v") == []) == fine


def _corpus(*names: str) -> Path:
    for root in Path(__file__).resolve().parents:
        path = root.joinpath("shared", "corpus", *names)
        if path.exists():
            return path
    pytest.skip(f"no corpus {'/'.join(names)}")


def test_the_official_cases_are_judged_the_same() -> None:
    judged = 0
    for file in sorted(_corpus("json_schema").glob("*.json")):
        cases = json.loads(file.read_text("utf-8"))
        if not isinstance(cases, list):
            continue
        for case in cases:
            if not isinstance(case["schema"], dict):
                continue
            short = compact(case["schema"])
            for test in case["tests"]:
                full = problems_of(case["schema"], test["data"], "v")
                if full and full[0].code.endswith("_schema"):
                    continue
                assert bool(full) == bool(problems_of(short, test["data"], "v")), (case, short)
                judged += 1
    assert judged > 300


@pytest.mark.parametrize(("name", "share"), [("box.json.gz", 0.97), ("openfga.json", 0.85)])
def test_the_actions_of_real_apis_take_fewer_words(name: str, share: float) -> None:
    from interlace.resources.connectors.loaded import Loaded
    from interlace.resources.connectors.openapi import import_openapi

    file = _corpus("openapi", name)
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
    connector = import_openapi(text, name="api").connector
    loaded = Loaded(connector, "c")
    full = [loaded.parameters(action) for action in connector.actions]
    short = [compact(schema) for schema in full]
    before, after = sum(len(orjson.dumps(s)) for s in full), sum(len(orjson.dumps(s)) for s in short)
    assert after < share * before, (before, after)
