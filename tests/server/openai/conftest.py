"""One server for all tests of a module, with models that answer by a script."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
import pytest_asyncio
from fastapi import FastAPI

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.resources.models.testing import Asked, ScriptedModels
from tests.flows.chatting import chat_settings
from tests.server.served import served

COUNTER = """
name: counter
settings: {chat: true}
inputs: {type: object, required: [message], properties: {message: {type: string}, history: {type: array}, seed: {type: integer}}}
variables: {count: {type: integer, default: 0, scope: session}}
nodes:
  - {id: start, type: START}
  - {id: up, type: VARIABLE_ASSIGN, config: {assignments: [{variable: count, op: increment}]}}
  - {id: say, type: LLM, config: {prompt: "{{ inputs.message }}", history: 9}}
  - {id: end, type: END, config: {outputs: {answer: "{{ say.text }}", count: "{{ vars.count }}"}}}
edges: [start -> up, up -> say, say -> end]
"""
GATED = """
name: gated
settings: {chat: true}
inputs: {type: object, required: [message], properties: {message: {type: string}}}
nodes:
  - {id: start, type: START}
  - {id: ask, type: HUMAN, config: {title: "Send {{ inputs.message }}?", actions: [approve, reject]}}
  - {id: end, type: END, config: {outputs: {answer: "{{ inputs.message }}: {{ ask.action }}"}}}
edges: [start -> ask, ask.approve -> end, ask.reject -> end, ask.timeout -> end]
"""
BROKEN = """
name: broken
settings: {chat: true}
variables: {n: {type: integer, default: 0}}
inputs: {type: object, required: [message], properties: {message: {type: string}}}
nodes:
  - {id: start, type: START}
  - {id: bad, type: VARIABLE_ASSIGN, config: {assignments: [{variable: n, op: set, value: "{{ inputs.message | int }}"}]}}
  - {id: end, type: END, config: {outputs: {answer: "{{ vars.n }}"}}}
edges: [start -> bad, bad -> end]
"""


def heard(asked: Asked) -> str:
    """What the model was shown."""
    said = [f"{m['role'][0]}:{m['content']}" for m in asked.messages if m["role"] in ("user", "assistant")]
    return f"heard {' | '.join(said)}"


RULES: list[Any] = [
    {"when": {"user": "weather", "has_tool_result": True}, "reply": {"text": "It is sunny in Rome."}},
    {
        "when": {"user": "weather"},
        "reply": {
            "text": "I look.",
            "tool_calls": [
                {"name": "weather", "arguments": {"city": "Rome"}, "id": "call_1"},
                {"name": "weather", "arguments": {"city": "Oslo"}, "id": "call_2"},
            ],
        },
    },
    {"when": {"user": "mail", "has_tool_result": True}, "reply": {"text": "The mail is sent."}},
    {
        "when": {"user": "mail"},
        "reply": {
            "tool_calls": [
                {"name": "send_email", "arguments": {"to": ["a@example.com"], "subject": "s", "text": "t"}, "id": "call_m"}
            ]
        },
    },
    {"when": {"user": "over a restart"}, "reply": {"text": "slowly " * 30, "chunk_delay": 0.1}},
    {"when": {"user": "slow"}, "reply": {"text": "slowly " * 30, "chunk_delay": 0.02}},
    {"when": {"user": "as data"}, "reply": {"data": {"city": "Rome", "degrees": 21}}},
    {"when": {"user": "too many"}, "reply": {"status": 429, "error": "slow down"}},
    {"reply": heard},
]  # fmt: skip


@dataclass(frozen=True)
class World:
    """A server, its models, and clients of it."""

    app: FastAPI
    url: str
    key: str
    models: ScriptedModels
    clients: list[openai.AsyncOpenAI] = field(default_factory=list)

    @property
    def platform(self) -> Platform:
        found: Platform = self.app.state.platform
        return found

    def client(self, **more: Any) -> openai.AsyncOpenAI:
        """The SDK's client."""
        given = {"base_url": f"{self.url}/v1", "api_key": self.key, "max_retries": 0, "timeout": 100, **more}
        self.clients.append(openai.AsyncOpenAI(**given))
        return self.clients[-1]


@pytest.fixture(autouse=True)
def _no_settings() -> None:
    """Replaces the one that empties the environment for each test: the server of these lives longer."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    for name in [name for name in os.environ if name.startswith("INTERLACE_") and "TEST" not in name]:
        del os.environ[name]
    home = tmp_path_factory.mktemp("openai") / "home"
    with ScriptedModels(RULES) as models:
        settings = chat_settings(home, models.url, smtp_url="smtp://127.0.0.1:9", smtp_from="a@example.com")
        async with served(settings) as (app, url):
            platform: Platform = app.state.platform
            for text in (COUNTER, GATED, BROKEN):
                pinned = await platform.documents.from_text(text)
                pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
                await platform.store.workflows.publish(pushed.workflow_id)
            persona = {"name": "guide", "instructions": "You are a guide.", "tool_categories": ["mail"]}
            await platform.agents.add(persona, by=LOCAL)
            _, key = await platform.store.keys.create("sdk")
            world = World(app=app, url=url, key=key, models=models)
            yield world
            for client in world.clients:
                await client.close()


@pytest.fixture(scope="module")
def sdk(world: World) -> openai.AsyncOpenAI:
    return world.client()
