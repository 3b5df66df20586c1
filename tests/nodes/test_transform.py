from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from interlace.engine.conversion import format_csv, format_json, parse_csv, parse_json
from interlace.engine.markup import parse_yaml
from interlace.nodes.transform import TransformConfig
from tests.nodes.runs import NodeRun, check, run_node


async def apply(value: Any, *steps: dict[str, Any], **inputs: Any) -> NodeRun:
    return await run_node(
        "TRANSFORM", {"input": "{{ inputs.value }}", "steps": list(steps)}, {"value": value, **inputs}
    )


PEOPLE = [{"name": "Ada", "age": "36"}, {"name": "Bob", "age": ""}]


@pytest.mark.parametrize(
    ("value", "steps", "result"),
    [
        ({"a": [1]}, [], {"a": [1]}),
        ({"a": [{"b": 1}, {"b": 2}]}, [{"jmespath": "a[?b > `1`].b"}], [2]),
        ({"a": 1, "b": 2, "c": 3}, [{"pick": ["c", "a", "zzz"]}], {"c": 3, "a": 1}),
        (PEOPLE, [{"pick": ["name"]}], [{"name": "Ada"}, {"name": "Bob"}]),
        (PEOPLE, [{"omit": ["name", "zzz"]}], [{"age": "36"}, {"age": ""}]),
        ({"a": 1, "b": 2}, [{"rename": {"a": "b", "b": "a"}}], {"b": 1, "a": 2}),
        ({"a": 1}, [{"set": {"b": "{{ item.a + inputs.n }}", "c": ["{{ item.a }}"]}}], {"a": 1, "b": 6, "c": [1]}),
        ([{"a": 1}, {"a": 2}], [{"set": {"a": "{{ item.a * 10 }}", "i": "{{ index }}"}}], [{"a": 10, "i": 0}, {"a": 20, "i": 1}]),
        (PEOPLE, [{"cast": {"age": "integer", "zzz": "number"}}], [{"name": "Ada", "age": 36}, {"name": "Bob", "age": None}]),
        ("5", [{"cast": "number"}], 5),
        ("5.5", [{"cast": "number"}], 5.5),
        (5.0, [{"cast": "integer"}], 5),
        (True, [{"cast": "integer"}], 1),
        ("Yes", [{"cast": "boolean"}], True),
        (0, [{"cast": "boolean"}], False),
        (5, [{"cast": "string"}], "5"),
        ([1, None], [{"cast": "string"}], "[1,null]"),
        (None, [{"cast": "string"}], None),
        ("2026-11-30", [{"cast": "date"}], "2026-11-30T00:00:00+00:00"),
        ('{"a": [1, null]}', [{"parse": "json"}], {"a": [1, None]}),
        ('\ufeffname,age\nAda,36\n\n"B, ""x""","1\n2"\n', [{"parse": "csv"}], [{"name": "Ada", "age": "36"}, {"name": 'B, "x"', "age": "1\n2"}]),
        ("a;b\r\n1;2\r\n", [{"parse": {"format": "csv", "delimiter": ";", "header": False}}], [["a", "b"], ["1", "2"]]),
        ("", [{"parse": "csv"}], []),
        ("<o id='1'><line>a</line><line n='2'>b</line><empty/><t>  x &amp; y </t></o>", [{"parse": "xml"}],
         {"o": {"@id": "1", "line": ["a", {"@n": "2", "#text": "b"}], "empty": None, "t": "x & y"}}),
        ('<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE a><a>ü</a>', [{"parse": "xml"}], {"a": "ü"}),
        ("a: 1\nb: [x, no, 12:30, 2026-11-30, 0x1f, 010, 1e3, ~]\n5: true\n", [{"parse": "yaml"}],
         {"a": 1, "b": ["x", "no", "12:30", "2026-11-30", 31, 10, 1000.0, None], "5": True}),
        ("base: &b {x: 1}\nmore: {<<: *b, y: 2}", [{"parse": "yaml"}], {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("", [{"parse": "yaml"}], None),
        ("30.11.2026", [{"parse": {"format": "date", "pattern": "%d.%m.%Y", "time_zone": "Asia/Tokyo"}}], "2026-11-30T00:00:00+09:00"),
        ("2026-11-30T10:00:00Z", [{"parse": "date"}], "2026-11-30T10:00:00+00:00"),
        ({"a": [1, "ü"]}, [{"format": "json"}], '{"a":[1,"ü"]}'),
        ({"a": 1}, [{"format": {"format": "json", "indent": True}}], '{\n  "a": 1\n}'),
        ([{"a": 1, "b": None}, {"a": 'x"y', "c": [1]}], [{"format": "csv"}], 'a,b,c\n1,,\n"x""y",,[1]\n'),
        ([{"a": 1, "b": 2}], [{"format": {"format": "csv", "columns": ["b"], "header": False}}], "2\n"),
        ([["a", "b"], [1, True]], [{"format": "csv"}], "a,b\n1,true\n"),
        ([], [{"format": "csv"}], ""),
        ([{"a": "x|y\nz", "b": 1}], [{"format": "markdown"}], "| a | b |\n| --- | --- |\n| x\\|y<br>z | 1 |\n"),
        ([["h"], ["v"]], [{"format": "markdown"}], "| h |\n| --- |\n| v |\n"),
        ([], [{"format": "markdown"}], ""),
        ("Total: 30 EUR, 5 EUR", [{"regex": {"extract": r"(\d+) EUR"}}], "30"),
        ("Total: 30 EUR, 5 EUR", [{"regex": {"extract": r"(\d+) EUR", "all": True}}], ["30", "5"]),
        ("Total: 30 EUR", [{"regex": {"extract": r"(?P<n>\d+) (?P<c>[a-z]+)", "ignore_case": True}}], {"n": "30", "c": "EUR"}),
        ("a1b2", [{"regex": {"extract": r"([a-z])(\d)", "all": True}}], [["a", "1"], ["b", "2"]]),
        ("x", [{"regex": {"extract": r"\d"}}], None),
        ("a  b", [{"regex": {"replace": r"\s+", "with": " "}}], "a b"),
        ("k=v", [{"regex": {"replace": r"(\w)=(\w)", "with": r"\2=\1"}}], "v=k"),
        ({"a": 1, "b": {"x": 1, "y": 1}}, [{"merge": {"with": {"b": {"y": 2}, "c": "{{ inputs.n }}"}}}], {"a": 1, "b": {"y": 2}, "c": 5}),
        ({"b": {"x": 1, "y": 1}}, [{"merge": {"with": {"b": {"y": 2}}, "mode": "deep"}}], {"b": {"x": 1, "y": 2}}),
        ([{"a": {"x": 1}}, {"a": {"y": 2}, "b": 3}], [{"merge": True}], {"a": {"y": 2}, "b": 3}),
        ([{"a": {"x": 1}}, {"a": {"y": 2}, "b": 3}], [{"merge": {"mode": "deep"}}], {"a": {"x": 1, "y": 2}, "b": 3}),
        ({"id": 1}, [{"schema": {"type": "object", "required": ["id"]}}], {"id": 1}),
    ],
)  # fmt: skip
async def test_steps(value: Any, steps: list[Any], result: Any) -> None:
    run = await apply(value, *steps, n=5)
    assert run["result"] == result
    assert json.loads(json.dumps(run["result"])) == result


async def test_steps_follow_each_other_and_the_input_stays() -> None:
    value = [{"a": {"x": 1}}]
    run = await apply(value, {"set": {"b": "{{ item.a.x }}"}}, {"rename": {"b": "c"}}, {"omit": ["a"]})
    assert run["result"] == [{"c": 1}]
    assert value == [{"a": {"x": 1}}]


BOMB = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>'
FETCH = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
ALIASES = "\n".join(
    [
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
        *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)),
    ]
)


@pytest.mark.parametrize(
    ("value", "step", "message"),
    [
        ({"a": 1}, {"jmespath": "sum(a)"}, "steps[0].jmespath: the JMESPath 'sum(a)' failed"),
        (5, {"pick": ["a"]}, "steps[0].pick: pick takes an object or a list of objects, got number 5"),
        ([{}, 1], {"omit": ["a"]}, "steps[0].omit: omit takes a list of objects; entry 1 is number 1"),
        ({"a": 1, "b": 2}, {"rename": {"a": "b"}}, "steps[0].rename: two fields would be called 'b'; omit one of them first"),
        ([{"a": 1}, {}], {"set": {"b": "{{ item.a }}"}}, "steps[0].set: entry 1: `item.a` is missing"),
        ([{"a": "1"}, {"a": "x"}], {"cast": {"a": "number"}}, "steps[0].cast: entry 1: field 'a': text 'x' cannot be made a number"),
        ("5.5", {"cast": "integer"}, "steps[0].cast: text '5.5' cannot be made a whole number"),
        ("maybe", {"cast": "boolean"}, "steps[0].cast: text 'maybe' cannot be made true or false"),
        ([], {"cast": "number"}, "steps[0].cast: list cannot be made a number"),
        ("soon", {"cast": "date"}, "steps[0].cast: text 'soon' is not an ISO 8601 date"),
        (5, {"parse": "json"}, "steps[0].parse: parse json takes a text, got number 5"),
        ('{"a": }', {"parse": "json"}, "steps[0].parse: the text is no JSON: line 1, column 7: "),
        ("a,b\n1\n", {"parse": "csv"}, "steps[0].parse: line 2 of the CSV has 1 cells, the header has 2"),
        ("a,a\n1,2\n", {"parse": "csv"}, "steps[0].parse: the header of the CSV has the column 'a' twice"),
        ("a,\n1,2\n", {"parse": "csv"}, "steps[0].parse: column 2 of the CSV has no name in the header"),
        ('a\n"x', {"parse": "csv"}, "steps[0].parse: the text is no CSV: line 2: "),
        ("<a><b></a>", {"parse": "xml"}, "steps[0].parse: the text is no XML: line 1, column 9: mismatched tag"),
        ("", {"parse": "xml"}, "steps[0].parse: the text is no XML: line 1, column 1: no element found"),
        (BOMB, {"parse": "xml"}, "steps[0].parse: the XML declares the entity 'x'; entities are not allowed"),
        (FETCH, {"parse": "xml"}, "steps[0].parse: the XML declares the entity 'x'; entities are not allowed"),
        ("<a>" * 500 + "</a>" * 500, {"parse": "xml"}, "steps[0].parse: the XML is nested more than 100 levels deep"),
        ("a: [1", {"parse": "yaml"}, "steps[0].parse: the text is no YAML: line "),
        ("!!python/object/apply:os.system ['true']", {"parse": "yaml"}, "steps[0].parse: the text is no YAML: line 1: could not determine a constructor"),
        (ALIASES, {"parse": "yaml"}, "steps[0].parse: the YAML stands for more than 2,000,000 values"),
        ("&a [*a]", {"parse": "yaml"}, "steps[0].parse: the YAML refers to itself"),
        ("a: 1\n---\nb: 2\n", {"parse": "yaml"}, "steps[0].parse: the text is no YAML: line "),
        ("31.02.2026", {"parse": {"format": "date", "pattern": "%d.%m.%Y"}}, "steps[0].parse: text '31.02.2026' is not the pattern '%d.%m.%Y'"),
        ("2026-01-01", {"parse": {"format": "date", "time_zone": "Mars/One"}}, "steps[0].parse: no time zone 'Mars/One'"),
        (5, {"format": "csv"}, "steps[0].format: format csv takes a list of objects or of lists, got number 5"),
        ([{"a": 1}, 2], {"format": "markdown"}, "steps[0].format: format markdown takes a list of objects or of lists; entry 1 is number 2"),
        ([1], {"regex": {"extract": "x"}}, "steps[0].regex: regex takes a text, got list"),
        (5, {"merge": {"with": {}}}, "steps[0].merge: merge takes objects; the input is number 5"),
        ({}, {"merge": {"with": 5}}, "steps[0].merge: merge takes objects; 'with' is number 5"),
        ({}, {"merge": True}, "steps[0].merge: merge without 'with' takes a list of objects, got mapping"),
        ([{}, 1], {"merge": True}, "steps[0].merge: merge takes objects; entry 1 is number 1"),
        ({"id": "x"}, {"schema": {"required": ["a"], "properties": {"id": {"type": "integer"}}}},
         "steps[0].schema: value.a: is required. value.id: must be a whole number, got text 'x'."),
    ],
)  # fmt: skip
async def test_what_cannot_be_done(value: Any, step: dict[str, Any], message: str) -> None:
    run = await apply(value, step)
    assert run.message.startswith(message) or sorted(run.message.split(". ")) == sorted(message.split(". "))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"prase": "json"}, "did you mean 'parse'"),
        ({"parse": "jsn"}, "Input should be 'json'"),
        ({"pick": ["a"], "omit": ["b"]}, "this one has 2: pick, omit"),
        ({"regex": {}}, "exactly one of 'extract' and 'replace'"),
        ({"cast": "int"}, "Input should be 'string'"),
    ],
)
def test_bad_configs(step: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TransformConfig.model_validate({"input": 1, "steps": [step]})


def test_static_check() -> None:
    steps = [
        {"jmespath": "a["},
        {"regex": {"extract": "("}},
        {"regex": {"replace": "(?=x)"}},
        {"jmespath": "a.b"},
    ]
    assert [f.field for f in check("TRANSFORM", {"input": 1, "steps": steps})] == [
        "config.steps[0].jmespath", "config.steps[1].regex", "config.steps[2].regex",
    ]  # fmt: skip


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), min_size=1).filter(
    str.strip
)
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"))


@settings(max_examples=30, deadline=None)
@given(values)
def test_json_and_yaml_round_trips(value: Any) -> None:
    try:
        text = format_json(value)
    except Exception:
        assert any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False))
        return
    assert parse_json(text) == value
    if not re.search(
        r'"[-+]?(\d+[eE][-+]?\d+|0o[0-7]+)"', text
    ):  # PyYAML writes such texts bare: numbers in YAML 1.2
        assert parse_yaml(yaml.safe_dump({"v": value}))["v"] == value


@settings(max_examples=80, deadline=None)
@given(
    st.lists(names, min_size=2, max_size=4, unique=True).flatmap(
        lambda columns: st.lists(st.fixed_dictionaries(dict.fromkeys(columns, cells)), min_size=1, max_size=4)
    )
)
def test_csv_round_trip(rows: list[dict[str, str]]) -> None:
    assert parse_csv(format_csv(rows)) == rows


async def test_large_values_are_worked_on_beside_the_loop() -> None:
    text = "name,price\n" + "\n".join(f"n{i},{i}" for i in range(60_000))
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    watcher = asyncio.ensure_future(watch())
    run = await apply(
        text, {"parse": "csv"}, {"cast": {"price": "integer"}}, {"set": {"double": "{{ item.price * 2 }}"}}
    )
    watcher.cancel()
    assert run["result"][-1] == {"name": "n59999", "price": 59999, "double": 119998}
    assert turns > 3


async def test_a_hostile_pattern_takes_linear_time() -> None:
    run = await apply("a" * 50_000 + "!", {"regex": {"extract": "(a+)+$"}})
    assert run["result"] is None
