"""What runs (joins, skips, branches): the rules of edge states, one test a rule."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.events import Event
from interlace.engine.testing import MemoryJournal, edges, run_document

from .kinds import registry

KINDS = registry()


def document(nodes: list[dict[str, Any]], *short: str, **more: Any) -> dict[str, Any]:
    ends = [] if any(node["type"] == "END" for node in nodes) else [{"id": "end", "type": "END"}]
    return {
        "schema": "interlace/v1", "name": "t", "nodes": [{"id": "start", "type": "START"}, *nodes, *ends],
        "edges": edges(*short), **more,
    }  # fmt: skip


def echo(name: str, value: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "ECHO", "config": {"value": value}, **more}


def pick(name: str, *take: str, handles: tuple[str, ...] = ("a", "b"), **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "PICK", "config": {"handles": list(handles), "take": list(take)}, **more}


def end(**outputs: Any) -> dict[str, Any]:
    return {"id": "end", "type": "END", "config": {"outputs": outputs}}


async def run(doc: dict[str, Any], **inputs: Any) -> tuple[Any, MemoryJournal]:
    journal = MemoryJournal()
    return await run_document(doc, inputs, registry=KINDS, journal=journal), journal


def reason(journal: MemoryJournal, path: str) -> str:
    (event,) = [event for event in journal.events if event.path == path and event.type == "node.skipped"]
    return str(event.data["reason"])


async def test_a_chain_runs_in_order_and_gives_its_outputs() -> None:
    result, journal = await run(
        document(
            [echo("a", 1), echo("b", "{{ a.value + 1 }}"), end(x="{{ b.value }}")],
            "start -> a",
            "a -> b",
            "b -> end",
        )
    )
    assert (result.status, result.outputs) == ("succeeded", {"x": 2})
    finished = [event.path for event in journal.events if event.type == "node.succeeded"]
    assert finished == ["start", "a", "b", "end"]


async def test_join_any_runs_when_one_incoming_edge_is_taken() -> None:
    doc = document([pick("p", "a"), echo("x"), echo("y"), echo("j", 1), end(v="{{ j.value }}")],
                   "start -> p", "p.a -> x", "p.b -> y", "x -> j", "y -> j", "j -> end")  # fmt: skip
    result, journal = await run(doc)
    assert result.outputs == {"v": 1}
    assert journal.of("y") == ["node.skipped"]


async def test_join_all_skips_when_one_incoming_edge_is_skipped() -> None:
    doc = document([pick("p", "a"), echo("x"), echo("y"), echo("j", join="all"), {"id": "end", "type": "END"}],
                   "start -> p", "p.a -> x", "p.b -> y", "x -> j", "y -> j", "j -> end", "x -> end")  # fmt: skip
    result, journal = await run(doc)
    assert result.status == "succeeded"
    assert reason(journal, "j") == "edge y -> j not taken (y was skipped: edge p.b not taken (p took a))"


async def test_join_all_runs_when_every_incoming_edge_is_taken() -> None:
    doc = document([echo("x"), echo("y"), echo("j", 7, join="all"), end(v="{{ j.value }}")],
                   "start -> x", "start -> y", "x -> j", "y -> j", "j -> end")  # fmt: skip
    result, _ = await run(doc)
    assert result.outputs == {"v": 7}


async def test_a_node_waits_until_all_its_incoming_edges_are_decided() -> None:
    doc = document([echo("a", 1), echo("b", 2), echo("c", 3), echo("j", "{{ a.value + c.value }}"), end(v="{{ j.value }}")],
                   "start -> a", "start -> b", "b -> c", "a -> j", "c -> j", "j -> end")  # fmt: skip
    result, journal = await run(doc)
    assert result.outputs == {"v": 4}
    assert journal.of("j") == ["node.started", "node.succeeded"]


async def test_several_edges_between_two_nodes_run_the_target_once() -> None:
    doc = document([pick("p", "a", "b"), echo("x", 1), {"id": "end", "type": "END"}],
                   "start -> p", "p.a -> x", "p.b -> x", "x -> end")  # fmt: skip
    result, journal = await run(doc)
    assert result.status == "succeeded"
    assert journal.of("x") == ["node.started", "node.succeeded"]


async def test_skips_go_on_down_the_graph() -> None:
    doc = document([pick("p", "a"), echo("x"), echo("y"), echo("z"), {"id": "end", "type": "END"}],
                   "start -> p", "p.b -> x", "x -> y", "y -> z", "p.a -> end", "z -> end")  # fmt: skip
    result, journal = await run(doc)
    assert result.status == "succeeded"
    assert [journal.of(name) for name in "xyz"] == [["node.skipped"]] * 3


async def test_a_skip_says_which_edge_was_not_taken_and_why() -> None:
    doc = document(
        [{"id": "size", "type": "CONDITION", "config": {"cases": [{"id": "large", "when": "inputs.amount > 1000"}]}},
         echo("ask"), {"id": "end", "type": "END"}],
        "start -> size", "size.large -> ask", "size.else -> end", "ask -> end", inputs={"type": "object"})  # fmt: skip
    result, journal = await run(doc, amount=50)
    assert result.status == "succeeded"
    assert reason(journal, "ask") == "edge size.large not taken (amount 50 is not > 1000)"


async def test_a_disabled_node_is_skipped_and_its_first_handle_is_taken() -> None:
    doc = document([pick("p", "b", disabled=True), echo("x", 1), echo("y", 2), end(v="{{ x.value }}")],
                   "start -> p", "p.a -> x", "p.b -> y", "x -> end", "y -> end")  # fmt: skip
    result, journal = await run(doc)
    assert result.outputs == {"v": 1}
    assert reason(journal, "p") == "disabled"
    assert journal.of("y") == ["node.skipped"]


async def test_outputs_of_several_ends_are_merged_in_document_order() -> None:
    nodes = [echo("a"), {"id": "e2", "type": "END", "config": {"outputs": {"q": 2}}},
             {"id": "e1", "type": "END", "config": {"outputs": {"p": 1}}}]  # fmt: skip
    result, _ = await run(document(nodes, "start -> a", "a -> e1", "start -> e2"))
    assert result.outputs is not None
    assert list(result.outputs.items()) == [("q", 2), ("p", 1)]


async def test_two_ends_that_ran_and_set_one_key_fail_the_run() -> None:
    nodes = [{"id": name, "type": "END", "config": {"outputs": {"k": name}}} for name in ("e1", "e2")]
    result, _ = await run(document(nodes, "start -> e1", "start -> e2"))
    assert result.status == "failed"
    assert result.error is not None
    assert result.error["type"] == "output_conflict"


async def test_no_end_reached_fails_the_run() -> None:
    result, _ = await run(document([pick("p", "b"), {"id": "end", "type": "END"}, echo("x")],
                                   "start -> p", "p.a -> end", "p.b -> x"))  # fmt: skip
    assert result.status == "failed"
    assert result.error is not None
    assert result.error["type"] == "no_end_reached"


async def test_a_side_branch_runs_too() -> None:
    result, journal = await run(
        document([echo("side"), {"id": "end", "type": "END"}], "start -> side", "start -> end")
    )
    assert result.status == "succeeded"
    assert journal.of("side") == ["node.started", "node.succeeded"]


@pytest.mark.parametrize("size", [1, 50])
async def test_events_are_numbered_without_gaps_and_end_with_the_run(size: int) -> None:
    nodes = [echo(f"n{i}", i) for i in range(size)]
    _, journal = await run(document([*nodes, {"id": "end", "type": "END"}],
                                    *(f"start -> n{i}" for i in range(size)), *(f"n{i} -> end" for i in range(size))))  # fmt: skip
    events: list[Event] = journal.events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[0].type, events[-1].type) == ("run.started", "run.succeeded")
