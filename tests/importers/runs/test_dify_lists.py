"""Runs of Dify workflows about lists and branches: what the rules of the original give, worked out by hand."""

from __future__ import annotations

from tests.importers.dify_files import code, end, export, field, node, start, template
from tests.importers.running import valid, workshop


async def test_one_entry_is_taken_before_the_rest_is_put_in_order() -> None:
    numbers = code("l", "def main():\n    return {'list': [3, 1, 2]}", {"list": "array[number]"})
    chosen = node(
        "f", "list-operator", variable=["l", "list"], item_var_type="number", filter_by={"enabled": False, "conditions": []},
        extract_by={"enabled": True, "serial": "2"}, order_by={"enabled": True, "key": "", "value": "asc"}, limit={"enabled": False},
    )  # fmt: skip
    text = export([start(), numbers, chosen, end(o=["f", "result"])], "s -> l", "l -> f", "f -> e")
    async with workshop() as shop:
        assert await shop.run(text) == {"o": [1]}


async def test_lists_of_an_iteration_become_one_and_failed_items_leave_nothing() -> None:
    numbers = code("l", "def main():\n    return {'list': [1, 0, 2]}", {"list": "array[number]"})
    each = node("it", "iteration", iterator_selector=["l", "list"], output_selector=["f", "result"], output_type="array[number]", error_handle_mode="continue-on-error")  # fmt: skip
    inner = code("c", "def main(x):\n    return {'r': [1 // x, x]}", {"r": "array[number]"}, x=["it", "item"])
    inner["parentId"] = "it"
    kept = node(
        "f",
        "list-operator",
        parent="it",
        variable=["c", "r"],
        item_var_type="number",
        filter_by={"enabled": False},
    )
    text = export(
        [start(), numbers, each, inner, kept, end(o=["it", "output"])],
        "s -> l",
        "l -> it",
        "c -> f",
        "it -> e",
    )
    async with workshop() as shop:
        assert await shop.run(text) == {"o": [1, 1, 0, 2]}


async def test_a_variable_of_a_loop_is_cleared_to_what_is_empty_for_its_type() -> None:
    repeat = node(
        "lp", "loop", loop_count=2, logical_operator="and", break_conditions=[],
        loop_variables=[{"label": "seen", "var_type": "array[number]", "value_type": "constant", "value": "[1]"},
                        {"label": "n", "var_type": "number", "value_type": "constant", "value": "4"}],
    )  # fmt: skip
    items = [
        {"variable_selector": ["lp", name], "operation": "clear", "input_type": "variable", "value": ""}
        for name in ("seen", "n")
    ]
    clear = node("a", "assigner", parent="lp", items=items)
    text = export([start(), repeat, clear, end(o=["lp", "seen"], n=["lp", "n"])], "s -> lp", "lp -> e")
    async with workshop() as shop:
        assert await shop.run(text) == {"o": [], "n": 0}


def test_a_question_that_fits_no_class_goes_the_way_of_the_first() -> None:
    classes = [{"id": "1", "name": "Refund"}, {"id": "2", "name": "Other"}]
    ask = node("q", "question-classifier", query_variable_selector=["s", "t"], classes=classes, model={})
    text = export([start(field("t")), ask, template("a", "A"), template("b", "B"), end("e", o=["a", "output"]), end("f", o=["b", "output"])], "s -> q", "q:1 -> a", "q:2 -> b", "a -> e", "b -> f")  # fmt: skip
    made = valid(text).document
    assert made is not None
    assert {(edge.handle, edge.to) for edge in made.edges if edge.from_ == "q"} == {
        ("refund", "a"),
        ("else", "a"),
        ("other", "b"),
    }
