"""Warnings of resources that whoever saves a workflow does not see."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.principal import LOCAL, Principal
from interlace.engine.problems import Problem
from interlace.engine.source import load
from interlace.flows.callees import check_all
from interlace.flows.node_types import node_types
from interlace.flows.platform import Platform
from tests.flows.documents import chain
from tests.flows.recorded import tripwire
from tests.flows.test_resource_not_found import CASES, OTHER, named


async def warnings(platform: Platform, text: str, owner: Any = "local") -> list[Problem]:
    with tripwire() as tried:
        found = await platform.documents.check(load(text), owner=owner)
    assert tried == []
    assert found.valid, found.errors
    return [problem for problem in found.problems if problem.code == "unbound_resource"]


def document(kind: str, name: str) -> str:
    node, config, _ = CASES[kind]
    return chain({"id": "n", "type": node, "config": named(config, name)})


@pytest.mark.parametrize("kind", CASES)
async def test_what_is_not_there_is_a_warning(platform: Platform, kind: str) -> None:
    resources = platform.store.resources
    made = await resources.add(kind, "mine", named(CASES[kind][2], "mine"), by=LOCAL)
    await resources.add(kind, "theirs", named(CASES[kind][2], "theirs"), by=OTHER)
    assert await warnings(platform, document(kind, "mine")) == []
    for name in ("theirs", "nothing"):
        (found,) = await warnings(platform, document(kind, name))
        assert (found.severity, found.node, name in found.message) == ("warning", "n", True)
        assert str(found.field).startswith("config.")
        assert found.line is not None
    assert await warnings(platform, document(kind, "theirs"), OTHER) == []
    assert len(await warnings(platform, document(kind, "mine"), Principal("stranger"))) == 1
    await resources.update(made.id, by=LOCAL, active=False)
    assert len(await warnings(platform, document(kind, "mine"))) == 1


async def test_each_name_of_a_list_and_nodes_in_bodies(platform: Platform) -> None:
    await platform.store.resources.add("knowledge_base", "mine", {}, by=LOCAL)
    search = {
        "id": "s",
        "type": "KB_RETRIEVAL",
        "config": {"knowledge_bases": ["mine", "gone"], "query": "q"},
    }
    each = {
        "id": "each", "type": "ITERATION", "config": {"items": [1], "output": 1}, "body": {"nodes": [search], "edges": []},
    }  # fmt: skip
    (found,) = await warnings(platform, chain(each))
    assert (found.node, found.field, "'gone'" in found.message) == ("s", "config.knowledge_bases[1]", True)


async def test_agents_and_their_tools(platform: Platform) -> None:
    await platform.store.resources.add("agent", "mine", {"instructions": "Be kind."}, by=LOCAL)
    await platform.store.resources.add("connector", "shop", {"name": "shop"}, by=LOCAL)

    def asking(**config: Any) -> str:
        return chain({"id": "n", "type": "AGENT", "config": {"prompt": "p", **config}})

    assert await warnings(platform, asking(agent="mine")) == []
    assert await warnings(platform, asking(agent="auto")) == []
    (found,) = await warnings(platform, asking(agent="nobody"))
    assert (found.field, "'nobody'" in found.message) == ("config.agent", True)
    (found,) = await warnings(
        platform, asking(instructions="x", tools=["calculator", "shop", "mcp", "nothing"])
    )
    assert (found.field, "'nothing'" in found.message) == ("config.tools[3]", True)


async def test_roles_and_expressions_are_no_names(platform: Platform) -> None:
    asked = [
        {"id": "role", "type": "LLM", "config": {"prompt": "p", "model": "general"}},
        {"id": "free", "type": "LLM", "config": {"prompt": "p", "model": "{{ inputs.model }}"}},
        {"id": "none", "type": "DATABASE", "config": {"url": "sqlite:///x.db", "sql": "SELECT 1"}},
    ]
    inputs = {"type": "object", "properties": {"model": {"type": "string", "default": "x"}}}
    assert await warnings(platform, chain(*asked, inputs=inputs)) == []


async def test_without_a_store_nothing_is_said() -> None:
    found = await check_all(load(document("connector", "nothing")), node_types(), store=None, folder=None)
    assert [problem.code for problem in found.problems] == []
