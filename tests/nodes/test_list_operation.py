from __future__ import annotations

import asyncio
import statistics
import time
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from interlace.nodes.list_operation import ListOperationConfig
from tests.nodes.runs import NodeRun, check, run_node

ORDERS = [
    {"id": 1, "price": 30, "country": "jp"}, {"id": 2, "price": 10, "country": "de"}, {"id": 3, "price": 20, "country": "jp"},
    {"id": 4, "price": 10, "country": None},
]  # fmt: skip


async def apply(items: Any, *operations: dict[str, Any], **inputs: Any) -> NodeRun:
    config = {"input": "{{ inputs.items }}", "operations": list(operations)}
    return await run_node("LIST_OPERATION", config, {"items": items, **inputs})


@pytest.mark.parametrize(
    ("items", "operations", "result"),
    [
        ([3, 1], [], [3, 1]),
        ([1, 2, 3], [{"filter": "item > 1"}], [2, 3]),
        ([1, 2, 3], [{"filter": "item > inputs.least and index < 2"}], [2]),
        ([1, 2], [{"map": "item * 10 + index"}], [10, 21]),
        (["a"], [{"map": "{'name': item, 'n': index}"}], [{"name": "a", "n": 0}]),
        (ORDERS, [{"sort": {"by": "item.price"}}, {"map": "item.id"}], [2, 4, 3, 1]),
        (ORDERS, [{"sort": {"by": "item.price", "descending": True}}, {"map": "item.id"}], [1, 3, 2, 4]),
        (ORDERS, [{"sort": {"by": "item.country"}}, {"map": "item.id"}], [2, 1, 3, 4]),
        (ORDERS, [{"sort": {"by": "item.country", "nulls": "first"}}, {"map": "item.id"}], [4, 2, 1, 3]),
        (ORDERS, [{"sort": {"by": "item.country", "descending": True}}, {"map": "item.id"}], [1, 3, 2, 4]),
        ([3, "10", 2.5], [{"sort": True}], [2.5, 3, "10"]),
        (["b", "10", "9", "a"], [{"sort": True}], ["10", "9", "a", "b"]),
        (["10", "9"], [{"sort": {}}], ["9", "10"]),
        (
            ["2026-02-01", "2026-01-31T23:00:00-05:00"],
            [{"sort": True}],
            ["2026-02-01", "2026-01-31T23:00:00-05:00"],
        ),
        ([True, False], [{"sort": True}], [False, True]),
        ([None, None], [{"sort": True}], [None, None]),
        ([0, 1, 2, 3], [{"slice": [1, 3]}], [1, 2]),
        ([0, 1, 2, 3], [{"slice": [-2, None]}], [2, 3]),
        ([0, 1], [{"slice": [5, 9]}], []),
        (
            [1, 1.0, "1", True, None, None, {"a": 1, "b": 2}, {"b": 2.0, "a": 1}],
            [{"unique": True}],
            [1, "1", True, None, {"a": 1, "b": 2}],
        ),
        (ORDERS, [{"unique": {"by": "item.country"}}, {"map": "item.id"}], [1, 2, 4]),
        ([[1, [2]], 3, [[4]]], [{"flatten": 1}], [1, [2], 3, [4]]),
        ([[1, [2]], 3, [[4]]], [{"flatten": 9}], [1, 2, 3, 4]),
        ([[1], [[2]]], [{"flatten": True}], [1, [2]]),
        ([1, 2], [{"reverse": True}], [2, 1]),
        (ORDERS, [{"group_by": {"by": "item.country"}}, {"map": "item.key"}], ["jp", "de", None]),
        ([1, 2, 3], [{"chunk": 2}], [[1, 2], [3]]),
        ([1, 2], [{"zip": "{{ inputs.other }}"}], [[1, "x"], [2, "y"]]),
        ([1], [{"concat": "{{ inputs.other }}"}], [1, "x", "y"]),
        ([1], [{"concat": [2, "{{ inputs.least }}"]}], [1, 2, 1]),
        ([1, "2", 3.5], [{"sum": True}], 6.5),
        ([], [{"sum": True}], 0),
        (ORDERS, [{"sum": {"by": "item.price"}}], 70),
        (ORDERS, [{"filter": "item.country == 'jp'"}, {"avg": {"by": "item.price"}}], 25),
        ([], [{"avg": True}], None),
        (["b", "a"], [{"min": True}], "a"),
        ([2, "10"], [{"max": True}], "10"),
        ([], [{"max": True}], None),
        (ORDERS, [{"count": True}], 4),
        ("[1, 2]", [{"reverse": True}], [2, 1]),
    ],
)
async def test_operations(items: Any, operations: list[Any], result: Any) -> None:
    run = await apply(items, *operations, least=1, other=["x", "y"])
    assert run["result"] == result


async def test_group_by() -> None:
    run = await apply(ORDERS, {"group_by": {"by": "item.country"}})
    assert run["result"] == [
        {"key": "jp", "items": [ORDERS[0], ORDERS[2]]}, {"key": "de", "items": [ORDERS[1]]}, {"key": None, "items": [ORDERS[3]]},
    ]  # fmt: skip


async def test_first_last_and_count() -> None:
    assert (await apply([1, 2, 3], {"filter": "item > 1"})).outputs == {
        "result": [2, 3],
        "first": 2,
        "last": 3,
        "count": 2,
    }
    assert (await apply([])).outputs == {"result": [], "first": None, "last": None, "count": 0}
    assert (await apply([4, 5], {"sum": True})).outputs == {"result": 9, "first": 4, "last": 5, "count": 2}


async def test_the_input_is_not_changed() -> None:
    items = [3, 1, 2]
    await apply(items, {"sort": True}, {"reverse": True}, {"concat": [5]})
    assert items == [3, 1, 2]


@pytest.mark.parametrize(
    ("items", "operation", "message"),
    [
        ("abc", {"reverse": True}, "input must be a list, got text 'abc', which is no JSON list"),
        ('{"a": 1}', {"reverse": True}, "input must be a list, got JSON text of a mapping"),
        (5, {"reverse": True}, "input must be a list, got number 5"),
        (None, {"reverse": True}, "input must be a list, got null"),
        (
            [1, {"a": 2}],
            {"filter": "item > 0"},
            "operations[0].filter, entry 1: cannot compare mapping > number 0",
        ),
        ([{"a": 1}, {}], {"map": "item.a"}, "operations[0].map, entry 1: `item.a` is missing"),
        (
            [1, "x"],
            {"sort": True},
            "operations[0].sort: entry 0 is number 1 and entry 1 is text 'x', which have no common order",
        ),
        ([1, None, "x"], {"sort": True}, "operations[0].sort: entry 0 is number 1 and entry 2 is text 'x'"),
        (
            [{"a": 1}],
            {"sort": True},
            "operations[0].sort: entry 0 is a mapping, which has no order; name a field with 'by'",
        ),
        ([1, "x"], {"sum": True}, "operations[0].sum, entry 1: must be a number, got text 'x'"),
        ([1, None], {"avg": True}, "operations[0].avg, entry 1: must be a number, got null"),
        ([1, None], {"max": True}, "operations[0].max, entry 1: null has no order"),
        ([1], {"zip": [1, 2]}, "operations[0].zip: the lists have 1 and 2 entries"),
        ([1], {"concat": 5}, "operations[0].concat must be a list, got number 5"),
        ([1], {"map": "item / 0"}, "operations[0].map, entry 0: "),
    ],
)
async def test_what_cannot_be_done(items: Any, operation: dict[str, Any], message: str) -> None:
    run = await apply(items, operation)
    assert run.message.startswith(message)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"fliter": "x"}, "no operation 'fliter'; did you mean 'filter'?"),
        (
            {"filter": "x", "map": "y"},
            "a step is an object with one key, the operation; this one has 2: filter, map",
        ),
        ({}, "a step is an object with one key"),
        ({"reverse": False}, "the operation 'reverse' has no settings"),
        ({"sort": {"key": "x"}}, "Extra inputs are not permitted"),
        ({"chunk": 0}, "greater than or equal to 1"),
        ({"slice": [1]}, "slice"),
    ],
)
def test_bad_configs(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("?", r"\?")):
        ListOperationConfig.model_validate({"input": [], "operations": [operation]})


def test_static_check() -> None:
    found = check("LIST_OPERATION", {"input": [], "operations": [{"sum": True}, {"reverse": True}]})
    assert [(f.field, f.message) for f in found] == [
        ("config.operations[1]", "'sum' ends the list, so 'reverse' has nothing to work on.")
    ]


numbers = st.one_of(st.none(), st.integers(-50, 50), st.sampled_from([0.5, -1.5, 2.0]))


@settings(max_examples=60, deadline=None)
@given(st.lists(numbers, max_size=20), st.booleans(), st.sampled_from(["first", "last"]), st.integers(1, 5))
def test_against_plain_python(items: list[Any], descending: bool, nulls: str, size: int) -> None:
    present = sorted((x for x in items if x is not None), reverse=descending)
    empty = [None] * (len(items) - len(present))
    ordered = empty + present if nulls == "first" else present + empty
    unique: list[Any] = []
    for x in items:
        if x not in unique:
            unique.append(x)
    expected = {
        "sort": ordered,
        "unique": unique,
        "reverse": list(reversed(items)),
        "chunk": [items[i : i + size] for i in range(0, len(items), size)],
        "flatten": list(chain.from_iterable([x, [x]] for x in items)),
        "filter": [x for x in items if x is not None and x > 0],
        "map": [[x, i] for i, x in enumerate(items)],
        "sum": sum(present),
        "avg": statistics.fmean(present) if present else None,
        "max": max(present, default=None),
        "min": min(present, default=None),
        "count": len(items),
    }
    some = [x for x in items if x is not None]
    operations: dict[str, tuple[list[Any], Any]] = {
        "sort": (items, {"sort": {"descending": descending, "nulls": nulls}}), "unique": (items, {"unique": True}), "reverse": (items, {"reverse": True}),
        "chunk": (items, {"chunk": size}), "flatten": ([[x, [x]] for x in items], {"flatten": 1}), "filter": (items, {"filter": "item is not none and item > 0"}),
        "map": (items, {"map": "[item, index]"}), "sum": (some, {"sum": True}), "avg": (some, {"avg": True}), "max": (some, {"max": True}),
        "min": (some, {"min": True}), "count": (items, {"count": True}),
    }  # fmt: skip
    for name, (given_items, operation) in operations.items():
        run = asyncio.run(apply(given_items, operation))
        assert (
            run["result"] == pytest.approx(expected[name])
            if name == "avg" and present
            else run["result"] == expected[name]
        ), name


async def test_long_lists_give_way_and_are_linear() -> None:
    items = [{"n": i % 977, "t": str(i)} for i in range(100_000)]
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    watcher = asyncio.ensure_future(watch())
    began = time.process_time()
    run = await apply(
        items,
        {"filter": "item.n > 3"},
        {"sort": {"by": "item.n"}},
        {"unique": {"by": "item.n"}},
        {"map": "item.t"},
    )
    spent = time.process_time() - began
    watcher.cancel()
    assert run["count"] == 973
    assert turns > 4
    assert spent < 5
