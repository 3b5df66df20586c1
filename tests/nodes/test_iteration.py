from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, Output, RunContext
from interlace.nodes.iteration import IterationConfig
from tests.nodes.runs import REGISTRY, NodeRun, run_node


class GateConfig(Config):
    value: Dynamic[Data] = None
    fail: Dynamic[bool] = False


class GateOutput(Output):
    value: Data


class Gate(Node[GateConfig, GateOutput]):
    """Ends in the order of the values, the largest first, and counts how many are inside."""

    kind = "TEST_GATE"
    inside: ClassVar[int] = 0
    most: ClassVar[int] = 0

    async def run(self, config: GateConfig, ctx: RunContext) -> GateOutput:
        cls = type(self)
        cls.inside += 1
        cls.most = max(cls.most, cls.inside)
        try:
            for _ in range(10 - int(config.value)):
                await asyncio.sleep(0)
            if config.fail:
                raise NodeError(f"no {config.value}", kind="boom")
            return GateOutput.model_construct(value=config.value)
        finally:
            cls.inside -= 1


REGISTRY.add(Gate)
WORK = {"id": "w", "type": "TEST_GATE", "config": {"value": "{{ item }}", "fail": "{{ item in inputs.bad }}"}}
OUTPUT = "{{ [index, w.value] }}"


async def each(
    items: Any,
    *,
    bad: list[int] | None = None,
    limit: int = 10,
    body: dict[str, Any] | None = None,
    **config: Any,
) -> NodeRun:
    Gate.inside = Gate.most = 0
    return await run_node(
        "ITERATION",
        {"items": "{{ inputs.items }}", "output": OUTPUT, **config},
        {"items": items, "bad": bad or []},
        body=body or {"nodes": [WORK]},
        settings={"max_concurrency": limit},
    )


@pytest.mark.parametrize("parallel", [1, 3, 100])
async def test_results_keep_the_order_of_the_list(parallel: int) -> None:
    run = await each([1, 5, 3], parallel=parallel)
    assert run.outputs == {"results": [[0, 1], [1, 5], [2, 3]], "errors": [], "count": 3}
    assert Gate.most == min(parallel, 3)
    assert sorted((e["index"], e["status"]) for e in run.of("iteration.item")) == [
        (i, "succeeded") for i in range(3)
    ]


async def test_parallel_is_capped_by_the_run() -> None:
    await each([1] * 8, parallel=100, limit=2)
    assert Gate.most == 2


@pytest.mark.parametrize("items", [[], "[]", ()])
async def test_zero_items_run_nothing(items: Any) -> None:
    run = await each(list(items) if isinstance(items, tuple) else items)
    assert run.outputs == {"results": [], "errors": [], "count": 0}
    assert Gate.most == 0


async def test_json_text_of_a_list_is_a_list() -> None:
    assert (await each("[1, 2]"))["results"] == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("abc", "items must be a list, got text 'abc', which is no JSON list"),
        ('{"a": 1}', "items must be a list, got JSON text of a mapping"),
        ({"a": 1}, "items must be a list, got mapping"),
        (5, "items must be a list, got number 5"),
        (None, "items must be a list, got null"),
    ],
)
async def test_anything_else_is_an_error_that_names_the_type(items: Any, message: str) -> None:
    run = await each(items)
    assert (run.kind, run.message) == ("type", message)


async def test_max_items() -> None:
    assert (await each([1, 2], max_items=2))["count"] == 2
    run = await each([1, 2, 3], max_items=2)
    assert (run.kind, Gate.most) == ("too_many_items", 0)
    assert run.message.startswith("the list has 3 items, more than max_items 2")


async def test_an_error_stops_the_node_and_names_the_inner_node() -> None:
    run = await each([1, 2, 3], bad=[2])
    assert run.error is not None
    assert {k: run.error[k] for k in ("type", "message", "node", "path", "attempt")} == {
        "type": "boom", "message": "no 2", "node": "w", "path": "n[1].w", "attempt": 1,
    }  # fmt: skip
    assert [e["status"] for e in run.of("iteration.item")] == ["succeeded", "failed"]


async def test_an_error_ends_the_items_under_way() -> None:
    run = await each([1, 9, 1, 1], bad=[9], parallel=4)
    assert run.kind == "boom"
    assert sorted(e.path for e in run.events if e.type == "node.cancelled") == ["n[0].w", "n[2].w", "n[3].w"]
    assert Gate.inside == 0


@pytest.mark.parametrize("parallel", [1, 4])
async def test_null_keeps_the_place(parallel: int) -> None:
    run = await each([1, 2, 3], bad=[2], on_item_error="null", parallel=parallel)
    assert run["results"] == [[0, 1], None, [2, 3]]
    assert run["count"] == 3
    assert [(e["index"], e["node"], e["error"]["message"]) for e in run["errors"]] == [(1, "w", "no 2")]


@pytest.mark.parametrize("parallel", [1, 4])
async def test_drop_leaves_the_item_out(parallel: int) -> None:
    run = await each([1, 2, 3, 2], bad=[2], on_item_error="drop", parallel=parallel)
    assert run["results"] == [[0, 1], [2, 3]]
    assert run["count"] == 2
    assert [e["index"] for e in run["errors"]] == [1, 3]


JUMPS = {
    "nodes": [
        {"id": "c", "type": "CONDITION", "config": {"cases": [{"id": "skip", "when": "item == 2"}, {"id": "halt", "when": "item == 4"}]}},
        WORK,
    ],
    "edges": [
        {"from": "c", "handle": "skip", "to": "$continue"}, {"from": "c", "handle": "halt", "to": "$break"}, {"from": "c", "handle": "else", "to": "w"},
    ],
}  # fmt: skip


async def test_continue_ends_the_item_with_what_there_is() -> None:
    run = await each([1, 2, 3], body=JUMPS)
    assert run["results"] == [[0, 1], None, [2, 3]]
    assert run["errors"] == []
    run = await each([1, 2], body=JUMPS, output="{{ w.value | default('none') }}")
    assert run["results"] == [1, "none"]


async def test_break_keeps_the_results_so_far() -> None:
    run = await each([1, 3, 4, 5], body=JUMPS)
    assert run.outputs == {"results": [[0, 1], [1, 3]], "errors": [], "count": 2}
    assert [e["status"] for e in run.of("iteration.item")] == ["succeeded", "succeeded", "break"]


async def test_an_output_that_is_missing_is_an_error_of_the_item() -> None:
    run = await each([1, 2], output="{{ item.name }}")
    assert run.error is not None
    assert (run.kind, run.error["node"], run.error["path"]) == ("missing", "n", "n[0]")
    assert run.message.startswith("output of item 0: `item.name` is missing")
    run = await each([{"v": 1, "name": "a"}, {"v": 2}], body={"nodes": [{"id": "w", "type": "TRANSFORM", "config": {"input": 1}}]},
                     output="{{ item.name }}", on_item_error="drop")  # fmt: skip
    assert run["results"] == ["a"]
    assert [(e["index"], e["node"], e["error"]["type"]) for e in run["errors"]] == [(1, "n", "missing")]


async def test_without_output_the_results_are_null() -> None:
    assert (await each([1, 2], output=None))["results"] == [None, None]


async def test_bodies_nest_and_read_outer_nodes() -> None:
    inner = {
        "id": "inner", "type": "ITERATION", "config": {"items": "{{ item.list }}", "output": "{{ t.result }}", "parallel": 2},
        "body": {"nodes": [{"id": "t", "type": "TRANSFORM", "config": {"input": "{{ start.prefix }}{{ item }}{{ index }}"}}]},
    }  # fmt: skip
    run = await run_node(
        "ITERATION", {"items": "{{ inputs.items }}", "output": "{{ inner.results }}"},
        {"items": [{"list": ["a", "b"]}, {"list": []}], "prefix": "-"}, body={"nodes": [inner]},
    )  # fmt: skip
    assert run["results"] == [["-a0", "-b1"], []]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parallel", 0),
        ("parallel", 1001),
        ("on_item_error", None),
        ("on_item_error", "skip"),
        ("max_items", -1),
    ],
)
def test_bad_configs(field: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=field):
        IterationConfig.model_validate({"items": [], field: value})
