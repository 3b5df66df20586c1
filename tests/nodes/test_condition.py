from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from interlace.engine.rules import OPERATORS, Operator
from interlace.nodes.condition import ConditionConfig
from tests.nodes.runs import NodeRun, check, run_node


async def rule(left: Any, operator: str, *right: Any, inputs: dict[str, Any] | None = None) -> NodeRun:
    entry = {"left": left, "operator": operator, **({"right": right[0]} if right else {})}
    return await run_node("CONDITION", {"cases": [{"id": "yes", "rules": {"all": [entry]}}]}, inputs)


TRUE = [
    (5, "==", "5"), ("5", "==", 5.0), (None, "==", None), (5, "!=", "6"), (True, "==", "true"), (True, "!=", "false"), ([1], "==", [1]),
    (9, "<", 10), ("9", "<", "10"), ("abc", "<", "abd"), ("2026-01-09", "<", "2026-01-10T00:00:00+00:00"), (1, "<=", 1), ("b", ">", "a"),
    (2, ">=", "2"), ("workflow", "contains", "flow"), ([1, 2], "contains", "2"), ({"a": 1}, "contains", "a"), ("x", "not contains", "y"),
    ([1], "not contains", 2), ("invoice.pdf", "ends with", ".pdf"), ("invoice.pdf", "starts with", "inv"), (2024, "starts with", "20"),
    ("order 123", "matches", r"\d+"), ("a", "in", ["a", "b"]), (3, "in", ["3"]), ("lo", "in", "flow"), ("c", "not in", ["a"]),
    ("", "is empty"), ([], "is empty"), ({}, "is empty"), (None, "is empty"), (0, "is not empty"), (False, "is not empty"), ("x", "is not empty"),
    (None, "exists"), ("", "exists"), (5, "between", [1, 5]), ("2026-05-01", "between", ["2026-01-01", "2026-12-31"]), (True, "is true"),
    ("True", "is true"), (False, "is false"), ("false", "is false"),
]  # fmt: skip
FALSE = [
    (True, "==", "True"), (1, "==", True), ("a", "==", 1), (10, "<", "9"), ("10", "<", "9"), ("x", "contains", "y"), ("a", "is empty"), (0, "is empty"),
    ("", "is not empty"), ([], "is not empty"), (6, "between", [1, 5]), ("yes", "is true"), (1, "is true"), (0, "is false"), ("b", "matches", "^a"),
    ("a", "in", []), ("a", "not in", "abc"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "expected"), [*((c, "yes") for c in TRUE), *((c, "else") for c in FALSE)])
async def test_operators(case: tuple[Any, ...], expected: str) -> None:
    run = await rule("{{ inputs.left }}", case[1], *case[2:], inputs={"left": case[0]})
    assert run["matched"] == expected
    assert run.handles == (expected,)


async def test_every_operator_of_the_form_has_a_function_and_a_test() -> None:
    assert set(get_args(Operator)) == set(OPERATORS) == {case[1] for case in TRUE}


@pytest.mark.parametrize(
    ("left", "operator", "right", "message"),
    [
        ("abc", ">", 1, "text 'abc' > number 1"),
        (None, "<", 1, "null < number 1"),
        ([1], ">=", 1, "list >= number 1"),
        (5, "contains", 1, "number 5"),
        (5, "between", 3, "'between' takes a list of two values"),
        ([1], "starts with", "1", "'starts with' compares texts, not list"),
        ("a", "matches", "(", "regular expression '(' is not valid"),
    ],
)
async def test_what_has_no_order_is_an_error(left: Any, operator: str, right: Any, message: str) -> None:
    run = await rule("{{ inputs.left }}", operator, right, inputs={"left": left})
    assert message in run.message


async def test_missing_values() -> None:
    gone = "{{ inputs.gone.deeper }}"
    assert (await rule(gone, "exists"))["matched"] == "else"
    assert (await rule(gone, "is empty"))["matched"] == "yes"
    assert (await rule(gone, "is not empty"))["matched"] == "else"
    assert (await rule(gone, "==", 1))["matched"] == "else"
    assert (await rule(gone, "==", None))["matched"] == "yes"
    assert (await rule(1, "!=", gone))["matched"] == "yes"
    assert (await rule("{{ inputs.gone ~ 'x' }}", "exists"))["matched"] == "else"
    assert (await rule(gone, "==", 1)).why == {"yes": "gone.deeper (missing) is not == 1"}
    for operator, right in (
        ("<", [1]),
        ("contains", ["x"]),
        ("in", [["x"]]),
        ("is true", []),
        ("between", [[1, 2]]),
    ):
        run = await rule(gone, operator, *right)
        assert run.kind == "missing"
        assert "inputs.gone" in run.message


async def test_a_right_side_may_be_an_expression() -> None:
    assert (await rule("{{ inputs.a }}", ">", "{{ inputs.b }}", inputs={"a": 2, "b": 1}))["matched"] == "yes"
    assert (await rule("{{ inputs.a }}", "in", ["{{ inputs.b }}", 7], inputs={"a": 2, "b": 2}))[
        "matched"
    ] == "yes"
    assert (await rule("{{ inputs.a }}", "==", "{{ 2 }}", inputs={"a": 2}))["matched"] == "yes"


async def test_groups_nest() -> None:
    rules = {
        "all": [
            {"left": "{{ inputs.a }}", "operator": ">", "right": 1},
            {
                "any": [
                    {"left": "{{ inputs.b }}", "operator": "is empty"},
                    {"left": "{{ inputs.b }}", "operator": "==", "right": "x"},
                ]
            },
        ]
    }
    config = {"cases": [{"id": "yes", "rules": rules}]}
    assert (await run_node("CONDITION", config, {"a": 2, "b": ""}))["matched"] == "yes"
    assert (await run_node("CONDITION", config, {"a": 2, "b": "x"}))["matched"] == "yes"
    run = await run_node("CONDITION", config, {"a": 2, "b": "y"})
    assert run["matched"] == "else"
    assert run.why == {"yes": "b 'y' is not empty; b 'y' is not == 'x'"}
    run = await run_node("CONDITION", config, {"a": 1, "b": "y"})
    assert run.why == {"yes": "a 1 is not > 1"}


CASES = [{"id": "large", "when": "inputs.amount > 1000"}, {"id": "odd", "when": "inputs.amount % 2 == 1"}]


async def test_mode_first_takes_one() -> None:
    run = await run_node("CONDITION", {"cases": CASES}, {"amount": 2001})
    assert (run["matched"], run.handles) == ("large", ("large",))
    assert run.why == {"odd": "case large matched first", "else": "large matched"}


async def test_mode_every_takes_all_that_hold() -> None:
    run = await run_node("CONDITION", {"cases": CASES, "mode": "every"}, {"amount": 2001})
    assert (run["matched"], run.handles) == (["large", "odd"], ("large", "odd"))
    assert run.why == {"else": "large, odd matched"}
    run = await run_node("CONDITION", {"cases": CASES, "mode": "every"}, {"amount": 2})
    assert (run["matched"], run.handles) == ([], ("else",))


@pytest.mark.parametrize(
    ("when", "inputs", "reason"),
    [
        ("inputs.amount > 1000", {"amount": 50}, "amount 50 is not > 1000"),
        ("  inputs.amount   >   1000 ", {"amount": "50"}, "amount '50' is not > 1000"),
        ("inputs.vendor == 'acme'", {"vendor": "x" * 100}, f"vendor '{'x' * 59}…' is not == 'acme'"),
        ("inputs.a == inputs.b", {"a": 1, "b": None}, "a 1 is not == null"),
        ("inputs.a in ['x', 'y']", {"a": "z"}, "a 'z' is not in ['x', 'y']"),
        ("start.trigger.kind == 'cron'", {}, "start.trigger.kind 'manual' is not == 'cron'"),
        (
            "inputs.a > 1 and inputs.b",
            {"a": 1, "b": 2},
            "inputs.a > 1 and inputs.b is false (inputs.a = 1, inputs.b = 2)",
        ),
        ("not inputs.flag", {"flag": True}, "not inputs.flag is false (inputs.flag = true)"),
        ("false", {}, "false is false"),
    ],
)
async def test_says_why_not(when: str, inputs: dict[str, Any], reason: str) -> None:
    run = await run_node("CONDITION", {"cases": [{"id": "yes", "when": when}]}, inputs)
    assert run["matched"] == "else"
    assert run.why == {"yes": reason}


async def test_skipped_nodes_carry_the_reason() -> None:
    from interlace.engine.testing import MemoryJournal, edges, run_document
    from tests.nodes.runs import REGISTRY

    journal = MemoryJournal()
    nodes = [
        {"id": "start", "type": "START"}, {"id": "size", "type": "CONDITION", "config": {"cases": CASES[:1]}},
        {"id": "ask", "type": "TEMPLATE", "config": {"template": "?"}}, {"id": "done", "type": "END"},
    ]  # fmt: skip
    document = {
        "name": "t",
        "nodes": nodes,
        "edges": edges("start -> size", "size.large -> ask", "size.else -> done", "ask -> done"),
    }
    await run_document(document, {"amount": 50}, registry=REGISTRY, journal=journal)
    reasons = [event.data["reason"] for event in journal.events if event.type == "node.skipped"]
    assert reasons == ["edge size.large not taken (amount 50 is not > 1000)"]


async def test_a_missing_condition_is_an_error() -> None:
    run = await run_node("CONDITION", {"cases": [{"id": "yes", "when": "inputs.gone"}]})
    assert run.kind == "missing"


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([{"id": "a"}], "exactly one of 'when' and 'rules'"),
        (
            [{"id": "a", "when": "x", "rules": {"all": [{"left": 1, "operator": "exists"}]}}],
            "exactly one of 'when' and 'rules'",
        ),
        ([{"id": "a", "rules": {"all": [], "any": []}}], "at least 1"),
        ([{"id": "a", "rules": {}}], "exactly one of 'all' and 'any'"),
        ([{"id": "a", "rules": {"all": [{"left": 1, "operator": ">"}]}}], "needs 'right'"),
        (
            [{"id": "a", "rules": {"all": [{"left": 1, "operator": "exists", "right": 2}]}}],
            "takes no 'right'",
        ),
        (
            [{"id": "a", "rules": {"all": [{"left": 1, "operator": "=>", "right": 2}]}}],
            "Input should be '=='",
        ),
        ([], "at least 1"),
        ([{"id": "a b", "when": "x"}], "should match pattern"),
    ],
)
async def test_bad_configs(cases: list[Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ConditionConfig.model_validate({"cases": cases})


async def test_static_check() -> None:
    found = check(
        "CONDITION",
        {"cases": [{"id": "a", "when": "x"}, {"id": "a", "when": "x"}, {"id": "else", "when": "x"}]},
    )
    assert [(f.field, f.message) for f in found] == [
        ("config.cases[1].id", "two cases are called 'a'."),
        ("config.cases[2].id", "a case cannot be called 'else', the handle has that name."),
    ]
    rules = {
        "any": [
            {"left": "x", "operator": "matches", "right": "("},
            {"all": [{"left": 1, "operator": "between", "right": [1]}]},
        ]
    }
    found = check("CONDITION", {"cases": [{"id": "a", "rules": rules}]})
    assert [f.field for f in found] == [
        "config.cases[0].rules.any[0].right",
        "config.cases[0].rules.any[1].all[0].right",
    ]
