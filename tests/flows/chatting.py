"""A platform whose models answer by a script, for tests of sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from interlace.flows.chat import Turn
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.models.testing import Asked, ScriptedModels
from interlace.store.sessions import Message


def chat_settings(home: Path, url: str, **more: Any) -> Settings:
    """Settings of a home whose models are a scripted server's."""
    provider = {
        "name": "p", "base_url": url, "retries": 0, "models": [{"name": "scripted"}, {"name": "scripted-mini"}],
        "roles": {"general": "scripted"},
    }  # fmt: skip
    return Settings(
        home=home, http_allow=["127.0.0.1/32"], prefect="off",
        **{"models": {"providers": [provider]}, **more},
    )  # fmt: skip


@asynccontextmanager
async def chatting(home: Path, rules: Any, **more: Any) -> AsyncIterator[tuple[Platform, ScriptedModels]]:
    """An open platform and the models behind it."""
    with ScriptedModels(rules) as models:
        opened = await Platform.open(chat_settings(home, models.url, **more))
        try:
            yield opened, models
        finally:
            await opened.close()


ECHO = [
    {"when": {"user": "slow"}, "reply": {"text": "slowly " * 40, "chunk_delay": 0.05}},
    {"reply": {"text": "fine"}},
]


def told(asked: Asked) -> str:
    """Answers with what it was told, so that histories can be seen."""
    said = [str(message["content"]) for message in asked.messages if message["role"] != "system"]
    return f"heard {len(said)}: {' | '.join(said)}"


async def done(platform: Platform, turn: Turn) -> Message:
    assert turn.answer.run_id is not None
    assert await platform.runner.wait(turn.answer.run_id, 30) is not None
    await platform.runner.idle()
    return await platform.store.sessions.message(turn.answer.id)


async def published(platform: Platform, text: str) -> str:
    pinned = await platform.documents.from_text(text)
    pushed = await platform.store.workflows.push(pinned.document.name, pinned.text)
    await platform.store.workflows.publish(pushed.workflow_id)
    return pinned.document.name
