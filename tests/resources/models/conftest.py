from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.chat import CallSite, ChatRequest, Message
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.models.catalogue import Catalogue
from interlace.resources.models.client import Client
from interlace.resources.models.definition import ModelSettings
from interlace.resources.models.ledger import Ledger
from interlace.resources.models.models import Models
from interlace.resources.models.testing import ScriptedModels
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(None, tmp_path / "home")
    yield opened
    await opened.close()


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    client = HttpClient(allow=AllowList.parse("127.0.0.1"))
    yield client
    await client.close()


@pytest.fixture
def secrets(store: Store, tmp_path: Path) -> Secrets:
    return Secrets(store, MasterKeys(home=tmp_path / "home"))


def provider(server: ScriptedModels, name: str = "main", **settings: Any) -> dict[str, Any]:
    models = settings.pop("models", [{"name": model} for model in server.script.models])
    return {"name": name, "base_url": server.url, "api_key": "sk-secret-1", "models": models, **settings}


@pytest.fixture
def models_of(store: Store, http: HttpClient, secrets: Secrets) -> Callable[..., Models]:
    def make(*providers: dict[str, Any], roles: dict[str, Any] | None = None, **kwargs: Any) -> Models:
        settings = ModelSettings.model_validate({"providers": providers, "roles": roles or {}})
        catalogue = Catalogue(store, secrets, settings, kwargs.pop("environment", {}))
        return Models(catalogue, Client(http, catalogue), Ledger(store.usage, **kwargs))

    return make


def ask(text: str = "Hello", **fields: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **fields)


SITE = CallSite(run_id="r1", path="ask")
