"""A platform whose models answer by a script, for tests of sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.models.testing import ScriptedModels


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
