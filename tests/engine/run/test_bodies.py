"""ITERATION and LOOP in the engine: order, parallelism, errors, jumps, nesting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlace.engine.testing import MemoryJournal, edges, run_document

from .kinds import Gate
from .test_edges import KINDS, document, echo, end, pick, run


def iteration(nodes: list[dict[str, Any]], short: tuple[str, ...] = (), **config: Any) -> dict[str, Any]:
    return {
        "id": "each",
        "type": "ITERATION",
        "config": config,
        "body": {"nodes": nodes, "edges": edges(*short)},
    }


def loop(nodes: list[dict[str, Any]], short: tuple[str, ...] = (), **config: Any) -> dict[str, Any]:
    return {
        "id": "l",
        "type": "LOOP",
        "config": {"max_rounds": 100, **config},
        "body": {"nodes": nodes, "edges": edges(*short)},
    }


def add(value: str = "{{ 1 }}", variable: str = "n") -> dict[str, Any]:
    return {"id": "inc", "type": "VARIABLE_ASSIGN",
            "config": {"assignments": [{"variable": variable, "op": "increment", "value": value}]}}  # fmt: skip


def around(node: dict[str, Any], **outputs: Any) -> dict[str, Any]:
    return document([node, end(**outputs)], f"start -> {node['id']}", f"{node['id']} -> end")


@pytest.mark.parametrize("parallel", [1, 3, 50])
async def test_results_come_in_input_order_whatever_the_parallelism(parallel: int) -> None:
    node = iteration(
        [echo("w", "{{ item * 2 }}")], items="{{ inputs.xs }}", parallel=parallel, output="{{ w.value }}"
    )
    result, _ = await run(around(node, r="{{ each.results }}", n="{{ each.count }}"), xs=[3, 1, 2])
    assert result.outputs == {"r": [6, 2, 4], "n": 3}


async def test_results_keep_their_order_when_later_items_finish_first() -> None:
    Gate.reset()
    node = iteration(
        [{"id": "g", "type": "GATE", "config": {"value": "{{ item }}"}}],
        items=[0, 1, 2],
        parallel=3,
        output="{{ g.value }}",
    )
    task = asyncio.create_task(run(around(node, r="{{ each.results }}")))
    for index in (2, 1, 0):
        Gate.open(f"each[{index}].g")
    result, _ = await task
    assert result.outputs == {"r": [0, 1, 2]}


async def test_at_most_parallel_items_run_at_once() -> None:
    Gate.reset()
    for index in range(8):
        Gate.open(f"each[{index}].g")
    node = iteration([{"id": "g", "type": "GATE"}], items="{{ range(8) }}", parallel=2, output="x")
    await run(around(node))
    assert Gate.peak <= 2


async def test_no_items_run_nothing_and_give_an_empty_list() -> None:
    result, journal = await run(
        around(iteration([echo("w")], items=[], output="{{ w.value }}"), r="{{ each.results }}")
    )
    assert result.outputs == {"r": []}
    assert not [event for event in journal.events if event.path.startswith("each[")]


async def test_stop_fails_the_run_and_names_the_inner_node_and_path() -> None:
    nodes = [{"id": "f", "type": "FAIL"}]
    result, _ = await run(around(iteration(nodes, items=[1, 2], output="x")))
    assert result.error is not None
    assert (result.error["node"], result.error["path"]) == ("f", "each[0].f")


@pytest.mark.parametrize(("policy", "expected"), [("null", [1, None, 3]), ("drop", [1, 3])])
async def test_on_item_error_keeps_null_or_drops_the_item_and_lists_the_error(
    policy: str, expected: list[Any]
) -> None:
    nodes = [echo("w", "{{ 6 // (item - 2) and item }}")]
    node = iteration(nodes, items=[1, 2, 3], on_item_error=policy, output="{{ w.value }}")
    result, _ = await run(around(node, r="{{ each.results }}", e="{{ each.errors }}"))
    assert result.outputs is not None
    assert result.outputs["r"] == expected
    (error,) = result.outputs["e"]
    assert (error["index"], error["node"]) == (1, "w")


async def test_branches_inside_a_body_hold() -> None:
    nodes = [{"id": "c", "type": "CONDITION", "config": {"cases": [{"id": "big", "when": "item > 1"}]}},
             echo("yes", "big"), echo("no", "small")]  # fmt: skip
    node = iteration(
        nodes, ("c.big -> yes", "c.else -> no"), items=[1, 2], output="{{ yes.value | default(no.value) }}"
    )
    result, journal = await run(around(node, r="{{ each.results }}"))
    assert result.outputs == {"r": ["small", "big"]}
    assert journal.of("each[0].yes") == ["node.skipped"]


async def test_nested_iterations_iterate_the_inner_list() -> None:
    inner = {"id": "inner", "type": "ITERATION", "config": {"items": "{{ item.xs }}", "output": "{{ w.value }}"},
             "body": {"nodes": [echo("w", "{{ item }}")], "edges": []}}  # fmt: skip
    node = iteration(
        [inner], items=[{"xs": [1, 2]}, {"xs": []}, {"xs": [3]}], parallel=2, output="{{ inner.results }}"
    )
    result, journal = await run(around(node, r="{{ each.results }}"))
    assert result.outputs == {"r": [[1, 2], [], [3]]}
    assert journal.of("each[2].inner[0].w") == ["node.started", "node.succeeded"]


async def test_inner_nodes_read_outer_upstream_nodes() -> None:
    node = iteration([echo("w", "{{ base.value + item }}")], items=[1, 2], output="{{ w.value }}")
    doc = document(
        [echo("base", 10), node, end(r="{{ each.results }}")], "start -> base", "base -> each", "each -> end"
    )
    result, _ = await run(doc)
    assert result.outputs == {"r": [11, 12]}


async def test_break_in_an_iteration_keeps_the_results_so_far() -> None:
    nodes = [
        pick("p", "{{ 'stop' if item == 3 else 'go' }}", handles=("go", "stop")),
        echo("w", "{{ item }}"),
    ]
    nodes[0]["config"]["take"] = "{{ ['stop'] if item == 3 else ['go'] }}"
    node = iteration(nodes, ("p.go -> w", "p.stop -> $break"), items=[1, 2, 3, 4], output="{{ w.value }}")
    result, journal = await run(around(node, r="{{ each.results }}"))
    assert result.outputs == {"r": [1, 2]}
    assert not journal.of("each[3].p")


async def test_a_loop_ends_when_until_holds_after_a_round() -> None:
    node = loop([add()], variables={"n": 0}, until="n >= 3")
    result, journal = await run(around(node, n="{{ l.n }}", rounds="{{ l.rounds }}", why="{{ l.reason }}"))
    assert result.outputs == {"n": 3, "rounds": 3, "why": "until"}
    assert journal.of("l#2.inc") == ["node.started", "node.succeeded"]


async def test_a_loop_whose_while_is_false_at_first_runs_no_round() -> None:
    node = loop([add()], variables={"n": 5}, **{"while": "n < 5"})
    result, journal = await run(around(node, n="{{ l.n }}", rounds="{{ l.rounds }}"))
    assert result.outputs == {"n": 5, "rounds": 0}
    assert not journal.of("l#0.inc")


async def test_reaching_max_rounds_is_an_error_unless_allowed() -> None:
    result, _ = await run(around(loop([add()], variables={"n": 0}, max_rounds=2, until="n > 10")))
    assert result.status == "failed"
    node = loop([add()], variables={"n": 0}, max_rounds=2, until="n > 10", on_max="continue")
    result, _ = await run(around(node, n="{{ l.n }}", why="{{ l.reason }}"))
    assert result.outputs == {"n": 2, "why": "max_rounds"}


async def test_break_and_continue_in_a_loop() -> None:
    nodes = [add(), {"id": "c", "type": "CONDITION", "config": {"cases": [{"id": "odd", "when": "n % 2 == 1"}, {"id": "far", "when": "n > 5"}]}},
             {"id": "sum", "type": "VARIABLE_ASSIGN", "config": {"assignments": [{"variable": "s", "op": "increment", "value": "{{ n }}"}]}}]  # fmt: skip
    node = loop(
        nodes,
        ("inc -> c", "c.odd -> $continue", "c.far -> $break", "c.else -> sum"),
        variables={"n": 0, "s": 0},
    )
    result, _ = await run(around(node, s="{{ l.s }}", why="{{ l.reason }}"))
    assert result.outputs == {"s": 6, "why": "break"}


async def test_break_cancels_what_runs_in_the_body() -> None:
    Gate.reset()
    nodes = [{"id": "g", "type": "GATE"}, {"id": "h", "type": "GATE"}, pick("p", "a")]
    node = loop(nodes, ("h -> p", "p.a -> $break"), variables={"n": 0}, until="n > 0")
    task = asyncio.create_task(run(around(node, why="{{ l.reason }}")))
    await Gate.arrived.wait()
    Gate.open("l#0.h")
    result, journal = await task
    assert result.outputs == {"why": "break"}
    assert not Gate.waiting
    assert journal.of("l#0.g") == ["node.started", "node.cancelled"]


async def test_run_variables_are_set_by_assignments() -> None:
    doc = document([add("{{ 5 }}", "total"), end(v="{{ vars.total }}")], "start -> inc", "inc -> end",
                   variables={"total": {"type": "number", "default": 2}})  # fmt: skip
    result, _ = await run(doc)
    assert result.outputs == {"v": 7}


async def test_a_thousand_items_cost_what_a_thousand_items_cost() -> None:
    journal = MemoryJournal()
    node = iteration([echo("w", "{{ item }}!")], items="{{ inputs.xs }}", parallel=10, output="{{ w.value }}")
    xs = [f"i{n}" for n in range(1000)]
    result = await run_document(
        around(node, r="{{ each.results }}"), {"xs": xs}, registry=KINDS, journal=journal
    )
    assert result.outputs == {"r": [f"{x}!" for x in xs]}
