"""Ways that n8n's nodes have beside the plain one: categories, failures, batches that nothing leads back for, missing rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.n8n_files import called, manual, node, set_, workflow
from tests.importers.running import valid

AI = "@n8n/n8n-nodes-langchain."


def spec(text: str) -> dict[str, dict[str, Any]]:
    made = valid(text).document
    assert made is not None
    return {one["id"]: one for one in made.model_dump(by_alias=True, exclude_none=True)["nodes"]}


def edges(text: str) -> set[tuple[str, str, str]]:
    made = valid(text).document
    assert made is not None
    return {(edge.from_, edge.handle, edge.to) for edge in made.edges}


def codes(text: str) -> dict[str, str]:
    return {entry.code: entry.level for entry in valid(text).report}


def test_each_category_is_a_way() -> None:
    classes = {"categories": [{"category": "Bill", "description": "asks for money"}, {"category": "Other"}]}
    text = workflow(
        [called("q"), node("Sort", AI + "textClassifier", 1.1, inputText="={{ $json.q }}", categories=classes, options={"fallback": "other"}),
         set_("Pay", a=1), set_("Keep", a=2), set_("Unsure", a=3)],
        "Go -> Sort", "Sort.0 -> Pay", "Sort.1 -> Keep", "Sort.2 -> Unsure",
    )  # fmt: skip
    assert {("sort", "bill", "pay"), ("sort", "other", "keep"), ("sort", "else", "unsure")} <= edges(text)


def test_a_call_that_fails_takes_its_output_for_failures() -> None:
    call = node("Call", "executeWorkflow", 1.2, raw={"onError": "continueErrorOutput"}, workflowId={"__rl": True, "mode": "id", "value": "x"})  # fmt: skip
    text = workflow([called("a"), call, set_("Good", a=1), set_("Bad", why="={{ $json.error.message }}")], "Go -> Call", "Call.0 -> Good", "Call.1 -> Bad")  # fmt: skip
    assert {("call", "out", "good"), ("call", "error", "bad")} <= edges(text)


def test_a_switch_without_rules_keeps_its_ways_for_somebody_to_say_when() -> None:
    text = workflow(
        [called("a"), node("Way", "switch", 3.2), set_("One", a=1), set_("Two", a=2)],
        "Go -> Way", "Way.0 -> One", "Way.1 -> Two",
    )  # fmt: skip
    assert {("way", "way_1", "one"), ("way", "way_2", "two")} <= edges(text)
    assert codes(text)["no_rules"] == "decision"


def test_a_run_is_no_evaluation() -> None:
    text = workflow([called("a"), node("Ask", "evaluation", 4.6, operation="checkIfEvaluating"), set_("Yes", a=1), set_("No", a=2)], "Go -> Ask", "Ask.0 -> Yes", "Ask.1 -> No")  # fmt: skip
    assert "no" in spec(text)
    assert "yes" not in spec(text)


@pytest.mark.parametrize(
    ("query", "sql"),
    [
        ("INSERT INTO t VALUES ('{{ $json.a }}', {{ $json.b }})", "INSERT INTO t VALUES ({{ inputs.a | string }}, {{ inputs.b }})"),
        ("=SELECT * FROM t WHERE n LIKE '%{{ $json.a }}%'", "SELECT * FROM t WHERE n LIKE {{ '%' ~ inputs.a ~ '%' }}"),
        ("SELECT 1 -- of {{ $json.a }}", "SELECT 1 -- of …"),
        ("SELECT * FROM t WHERE a = $1 AND b = $2", "SELECT * FROM t WHERE a = {{ inputs.a }} AND b = {{ inputs.b }}"),
    ],
)  # fmt: skip
def test_values_in_sql_are_bound_even_where_the_file_pastes_them_in(query: str, sql: str) -> None:
    options = {"queryReplacement": "={{ $json.a }}, {{ $json.b }}"} if "$1" in query else {}
    text = workflow([called("a", "b"), node("Db", "postgres", 2.6, operation="executeQuery", query=query, options=options)], "Go -> Db")  # fmt: skip
    assert spec(text)["db"]["config"]["sql"] == sql


def test_a_long_chain_of_lists_neither_nests_nor_takes_long() -> None:
    nodes = [
        node(f"C{index}", "slack", 2, raw={"credentials": {"s": {}}}, operation="get") for index in range(40)
    ]
    text = workflow([called("a"), *nodes], "Go -> C0", *(f"C{index} -> C{index + 1}" for index in range(39)))
    made = spec(text)
    assert [one["type"] for one in made["each_c39"]["body"]["nodes"]] == ["CONNECTOR", "TRANSFORM"]


def test_bodies_inside_bodies_are_made_once_for_each_level() -> None:
    """Each reads the item before it, so that the bodies have to stand inside each other."""
    nodes = [
        node(f"C{index}", "slack", 2, raw={"credentials": {"s": {}}}, operation="get", text="={{ $('C0').item.json.a }}")
        for index in range(14)
    ]  # fmt: skip
    made = valid(
        workflow([called("a"), *nodes], "Go -> C0", *(f"C{index} -> C{index + 1}" for index in range(13)))
    )
    assert len([entry for entry in made.report if entry.code == "bind_connector"]) == 14


def test_a_field_that_is_never_there_reads_as_nothing_and_is_named() -> None:
    gather = node(
        "Gather", "aggregate", 1, fieldsToAggregate={"fieldToAggregate": [{"fieldToAggregate": "a"}]}
    )
    text = workflow([called("a"), gather, set_("Use", x="={{ $json.b.c }}", y="={{ $('Gather').first().json.a }}")], "Go -> Gather", "Gather -> Use")  # fmt: skip
    assert spec(text)["use"]["config"]["input"]["x"] is None


def test_a_schema_that_is_none_is_asked_for() -> None:
    parser = node("Parser", AI + "outputParserStructured", 1.2, schemaType="manual", inputSchema='{"type": "object", "properties": {"a": {"type": "object", "properties": {"required": ["x"]}}}}')  # fmt: skip
    text = workflow([called("q"), node("Ask", AI + "chainLlm", 1.5, promptType="define", text="={{ $json.q }}"), parser], "Go -> Ask", helpers=("Parser ai_outputParser Ask",))  # fmt: skip
    assert codes(text)["schema"] == "decision"
    assert "output_schema" not in spec(text)["ask"]["config"]


def test_a_manual_start_alone_is_valid() -> None:
    assert codes(workflow([manual(), node("Stop", "noOp")], "Go -> Stop"))["passed"] == "carried"
