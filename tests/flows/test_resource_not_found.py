"""What the run's user may not use: one kind of error, in the same words whatever the reason."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.principal import LOCAL, Principal
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from tests.flows.conftest import Run
from tests.flows.documents import chain, sub

OTHER = Principal("other")
PROVIDER = {"name": "NAME", "base_url": "http://127.0.0.1:1", "models": [{"name": "m"}]}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "connector": ("CONNECTOR", {"connector": "NAME", "action": "a"}, {"name": "NAME", "actions": [{"name": "a"}]}),
    "database": ("DATABASE", {"connector": "NAME", "sql": "SELECT 1"}, {"dialect": "sqlite", "database": "x.db"}),
    "mcp_server": ("MCP", {"server": "NAME", "tool": "t"}, {"transport": "http", "url": "http://127.0.0.1:1/mcp"}),
    "knowledge_base": ("KB_RETRIEVAL", {"knowledge_bases": ["NAME"], "query": "q"}, {}),
    "model": ("LLM", {"model": "NAME/m", "prompt": "p"}, PROVIDER),
}  # fmt: skip


def named(value: Any, name: str) -> Any:
    """A config or definition with the resource's name in it."""
    if isinstance(value, dict):
        return {key: named(entry, name) for key, entry in value.items()}
    if isinstance(value, list):
        return [named(entry, name) for entry in value]
    return value.replace("NAME", name) if isinstance(value, str) else value


@pytest.mark.parametrize("kind", CASES)
async def test_missing_anothers_and_switched_off_are_alike(platform: Platform, run: Run, kind: str) -> None:
    node, config, definition = CASES[kind]
    resources = platform.store.resources
    await resources.add(kind, "theirs", named(definition, "theirs"), by=OTHER)
    off = await resources.add(kind, "mine", named(definition, "mine"), by=LOCAL)
    await resources.update(off.id, by=LOCAL, active=False)
    told = []
    for name in ("none", "theirs", "mine"):
        result = await run(chain({"id": "n", "type": node, "config": named(config, name)}))
        assert result.error is not None
        assert (result.error["type"], result.error["retryable"]) == ("resource_not_found", False), (
            result.error
        )
        assert name in result.error["message"]
        told.append(result.error["message"].replace(name, "NAME"))
    assert len(set(told)) == 1, told
    assert "you may use" in told[0]


async def test_workflows_are_alike_too(platform: Platform) -> None:
    told = []
    for name in ("gone", "theirs"):
        pushed = await platform.store.workflows.push(name, chain(name=name))
        await platform.store.workflows.publish(pushed.workflow_id)
        document = await platform.documents.from_text(chain(sub("n", name)))
        await platform.store.workflows.delete(name)
        if name == "theirs":
            await platform.store.workflows.push(name, chain(name=name), owner="other")
        result = await platform.runner.wait(await platform.runner.start(document, Request()), 30)
        assert result is not None
        assert result.error is not None
        assert result.error["type"] == "resource_not_found"
        assert name in result.error["message"]
        told.append(result.error["message"].replace(name, "NAME"))
    assert told[0] == told[1]
