"""One node with a scripted model behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from interlace.engine.chat import ChatModel
from interlace.engine.protocols import Files, Services
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.models.catalogue import Catalogue
from interlace.resources.models.client import Client
from interlace.resources.models.definition import ModelSettings
from interlace.resources.models.ledger import Ledger
from interlace.resources.models.models import Models
from interlace.resources.models.testing import Asked, ScriptedModels
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.store import Store
from tests.nodes.runs import NodeRun, run_node


@dataclass
class Scripted:
    """Runs nodes with the models of a script."""

    server: ScriptedModels
    store: Store
    services: Services = field(repr=False)

    async def run(self, kind: str, config: dict[str, Any], inputs: dict[str, Any] | None = None) -> NodeRun:
        return await run_node(kind, config, inputs, services=self.services)

    @property
    def asked(self) -> Asked:
        """The last request."""
        return self.server.requests[-1]


@asynccontextmanager
async def scripted(
    *replies: Any, model: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Scripted]:
    """Models that give the replies in order, whatever is asked."""
    rules = [{"reply": list(replies)}]
    roles = {"general": "scripted", "fast": "scripted-mini", "embedding": "scripted-embedding"}
    with ScriptedModels(rules if replies else (), **settings) as server, TemporaryDirectory() as folder:
        models = [{"name": name, **(model or {})} for name in server.script.models]
        given = {"name": "p", "base_url": server.url, "models": models, "roles": roles, "retries": 0}
        home = Path(folder)
        store = await Store.open(None, home)
        http = HttpClient(allow=AllowList.parse("127.0.0.1"))
        try:
            catalogue = Catalogue(
                store,
                Secrets(store, MasterKeys(home)),
                ModelSettings.model_validate({"providers": [given]}),
                {},
            )
            service = Models(catalogue, Client(http, catalogue), Ledger(store.usage))
            yield Scripted(server, store, Services({ChatModel: service, Files: store.files}))
        finally:
            await http.close()
            await store.close()
