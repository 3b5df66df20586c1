"""JSON, CSV, XML, YAML, and lists of objects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.resources.tools.calling import fault, value

ORDERS: list[dict[str, Any]] = [
    {"id": 1, "who": "Ada", "total": 120.5}, {"id": 2, "who": "Bo", "total": 30}, {"id": 3, "who": "Ada", "total": 99},
    {"id": 4, "who": "Cy", "total": None},
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "b", "a/b", "~"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "a/b", "~"]), inner, max_size=3)
    ),
    max_leaves=8,
)


async def test_a_query() -> None:
    assert await value("json_query", data=ORDERS, query="[?who=='Ada'].id") == [1, 3]
    assert await value("json_query", data='{"a": {"b": 5}}', query="a.b") == 5
    assert (await fault("json_query", data=ORDERS, query="[?"))[0] == "bad_jmespath"
    assert "exactly one of data and path" in (await fault("json_query", query="a"))[1]


async def test_data_against_a_schema() -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}}
    assert await value("validate_json", data={"n": 1}, json_schema=schema) == {"valid": True, "problems": []}
    wrong = await value("validate_json", data={"n": 0}, json_schema=schema)
    assert wrong == {
        "valid": False,
        "problems": [{"path": "data.n", "message": "must be at least 1, got 0."}],
    }
    assert (await fault("validate_json", data=1, json_schema={"type": "numbr"}))[0] == "schema"
    assert (await fault("validate_json", data=1, json_schema={"$ref": "https://example.com/x"}))[
        0
    ] == "schema"


async def test_differences_of_data() -> None:
    before = {"a": 1, "b": [{"id": 1, "n": 1}, {"id": 2}], "c": True}
    after = {"a": 1.0, "b": [{"id": 2}, {"id": 1, "n": 2}], "d": None}
    assert await value("json_diff", before=before, after=after, key="id") == {
        "equal": False, "more": False,
        "changes": [
            {"path": "/b/id=1/n", "change": "changed", "before": 1, "after": 2},
            {"path": "/c", "change": "removed", "before": True}, {"path": "/d", "change": "added", "after": None},
        ],
    }  # fmt: skip
    assert (await value("json_diff", before=1, after="1"))["changes"][0]["path"] == "/"
    many = await value("json_diff", before=list(range(3000)), after=[])
    assert (len(many["changes"]), many["more"]) == (1000, True)
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    assert (await fault("json_diff", before=deep, after=deep))[0] == "type"


@given(JSON, JSON)
@settings(max_examples=200, deadline=None)
async def test_equal_data_has_no_differences_and_other_data_has(one: Any, other: Any) -> None:
    assert (await value("json_diff", before={"v": one}, after={"v": one}))["equal"]
    found = await value("json_diff", before={"v": one}, after={"v": other})
    back = await value("json_diff", before={"v": other}, after={"v": one})
    assert found["equal"] is back["equal"]
    assert len(found["changes"]) == len(back["changes"])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"data": "a,b\n1,x\n", "from_format": "csv"}, [{"a": "1", "b": "x"}]),
        ({"data": "1;x\n", "from_format": "csv", "delimiter": ";", "header": False}, [["1", "x"]]),
        (
            {"data": "<r n='1'><i>a</i><i>b</i></r>", "from_format": "xml"},
            {"r": {"@n": "1", "i": ["a", "b"]}},
        ),
        ({"data": "a: [1, no]\n", "from_format": "yaml"}, {"a": [1, "no"]}),
        ({"data": [{"a": 1, "b": 'x"'}], "to_format": "csv"}, 'a,b\n1,"x"""\n'),
        ({"data": [{"a": 1, "b": 2}], "to_format": "markdown", "columns": ["b"]}, "| b |\n| --- |\n| 2 |\n"),
        ({"data": {"b": ["日", 1]}, "to_format": "yaml"}, "b:\n- 日\n- 1\n"),
    ],
)
async def test_conversions(given: dict[str, Any], wanted: Any) -> None:
    assert await value("convert_data", **given) == wanted


async def test_what_cannot_be_converted() -> None:
    assert (await fault("convert_data", data="{", from_format="json"))[0] == "parse"
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    assert (await fault("convert_data", data=bomb, from_format="xml"))[0] == "parse"
    assert (await fault("convert_data", data=5, to_format="csv"))[0] == "type"


async def test_a_table() -> None:
    assert await value("markdown_table", rows='[{"a": "x|y"}]') == "| a |\n| --- |\n| x\\|y |\n"


async def test_a_list_as_a_query_on_a_table() -> None:
    found = await value(
        "list_query", data=ORDERS, where="item.total != none and item.total > 50", sort_by="item.total", descending=True,
        select=["id"], summary={"total": "sum", "id": "count"},
    )  # fmt: skip
    assert found == {
        "items": [{"id": 1}, {"id": 3}],
        "total": 2,
        "summary": {"sum_total": 219.5, "count_id": 2},
    }
    groups = await value("list_query", data=ORDERS, group_by="item.who", summary={"total": "avg"}, limit=2)
    assert groups == {
        "items": [{"key": "Ada", "count": 2, "avg_total": 109.75}, {"key": "Bo", "count": 1, "avg_total": 30.0}],
        "total": 3,
    }  # fmt: skip
    plain = await value("list_query", data=ORDERS, group_by="item.who", select=["id"], offset=2)
    assert plain["items"] == [{"key": "Cy", "items": [{"id": 4}]}]
    assert await value("list_query", data=[3, 1, 3], unique_by="item", sort_by="item") == {
        "items": [1, 3],
        "total": 2,
    }


async def test_lists_that_cannot_be_queried() -> None:
    assert (await fault("list_query", data="text"))[0] == "type"
    assert (await fault("list_query", data=[1], where="item ="))[0] == "syntax"
    assert (await fault("list_query", data=[1], where="item.a.b"))[0] == "missing"
    assert (await fault("list_query", data=[{"a": "x"}], summary={"a": "sum"}))[0] == "type"
