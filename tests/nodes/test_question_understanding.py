from __future__ import annotations

from typing import Any

import pytest

from tests.nodes.models import scripted
from tests.nodes.runs import check

HISTORY = [
    {"role": "user", "content": "Tell me of Oslo"},
    {"role": "assistant", "content": "It is in Norway."},
]
QUESTION = "How cold is it there?"


async def understood(
    config: dict[str, Any], answer: dict[str, Any], question: str = QUESTION
) -> tuple[Any, Any]:
    async with scripted({"data": answer}) as models:
        run = await models.run(
            "QUESTION_UNDERSTANDING", {"input": "{{ inputs.q }}", "history": "{{ inputs.h }}", **config},
            {"q": question, "h": HISTORY},
        )  # fmt: skip
        assert run.error is None, run.message
        return run.outputs, models.asked


@pytest.mark.parametrize(
    ("question", "language"), [(QUESTION, "en"), ("そこはどのくらい寒いですか?", "ja"), ("那里有多冷?", "zh")]
)
async def test_rewriting(question: str, language: str) -> None:
    outputs, asked = await understood(
        {}, {"language": language.upper(), "query": "How cold is Oslo?"}, question
    )
    assert outputs == {
        "query": "How cold is Oslo?", "queries": ["How cold is Oslo?"], "sub_questions": [], "intent": None, "language": language,
    }  # fmt: skip
    assert question in asked.user
    assert "assistant: It is in Norway." in asked.user
    assert question not in asked.system
    assert asked.model == "scripted-mini"


async def test_expanding_gives_each_query_once() -> None:
    answer = {
        "language": "en",
        "query": "Oslo cold",
        "queries": ["Oslo cold", "Oslo temperature", " Oslo temperature ", "", "x", "y"],
    }
    outputs, asked = await understood({"mode": "expand", "most": 2}, answer)
    assert outputs["queries"] == ["Oslo cold", "Oslo temperature", "x"]
    assert "up to 2" in asked.system


async def test_decomposing() -> None:
    answer = {"language": "en", "query": "a and b", "sub_questions": ["a?", "b?"]}
    outputs, _ = await understood({"mode": "decompose"}, answer)
    assert outputs["sub_questions"] == ["a?", "b?"]


async def test_intents_are_held_to_the_list() -> None:
    answer = {"language": "en", "query": "q", "intent": "refund"}
    outputs, asked = await understood({"mode": "intent", "intents": ["refund", "other"]}, answer)
    assert outputs["intent"] == "refund"
    schema = asked.body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["intent"]["enum"] == ["refund", "other"]


async def test_an_empty_question_asks_nobody() -> None:
    async with scripted("never") as models:
        run = await models.run("QUESTION_UNDERSTANDING", {"input": "  "})
    assert (run["query"], run["queries"], run["language"]) == ("", [], "und")
    assert models.server.requests == []


def test_intents_without_their_mode_are_pointed_out() -> None:
    [finding] = check("QUESTION_UNDERSTANDING", {"input": "x", "intents": ["a"]})
    assert (finding.severity, finding.field) == ("warning", "config.intents")
