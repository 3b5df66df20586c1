"""Imports a file, checks that the document is valid, and runs it: the real engine, real HTTP, real sandbox, scripted models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from interlace.engine.chat import ChatModel
from interlace.engine.document import Document
from interlace.engine.protocols import CodeRunner, Environment, Files, Services
from interlace.engine.run import RunResult
from interlace.engine.source import load
from interlace.engine.testing import MemoryJournal, run_document
from interlace.engine.validate import check
from interlace.flows.node_types import node_types
from interlace.flows.platform import SandboxedCode
from interlace.importers import Imported, import_text
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.models.catalogue import Catalogue
from interlace.resources.models.client import Client
from interlace.resources.models.definition import ModelSettings
from interlace.resources.models.ledger import Ledger
from interlace.resources.models.models import Models
from interlace.resources.models.testing import ScriptedModels
from interlace.resources.sandbox import Sandbox
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.store import Store

REGISTRY = node_types()
BOUND_LATER = frozenset({"unknown_workflow", "unknown_type"})


def imported(text: str, source: str = "auto") -> Imported:
    """The import of a text, which gives the same document when it is made again."""
    made = import_text(text, registry=REGISTRY, source=source)
    if made.ok:
        assert import_text(text, registry=REGISTRY, source=source).yaml() == made.yaml()
    return made


def errors(made: Imported) -> list[str]:
    """What the validator finds wrong with the text of a document, but for what is bound later."""
    found = check(load(made.yaml()), REGISTRY)
    return [f"{problem.code} {problem}" for problem in found.errors if problem.code not in BOUND_LATER]


def valid(text: str, source: str = "auto") -> Imported:
    made = imported(text, source)
    assert made.ok, made.report
    assert errors(made) == []
    return made


@dataclass
class GivenNames:
    """Settings and secrets as a test gives them."""

    secrets: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    def settings(self) -> dict[str, str]:
        return self.values

    def secret(self, name: str) -> str:
        return self.secrets[name]


@dataclass
class Workshop:
    """Runs imported workflows."""

    services: Services
    models: ScriptedModels | None = None
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    secrets: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    async def result(self, text: str, inputs: Mapping[str, Any] | None = None) -> RunResult:
        made = valid(text)
        assert made.document is not None
        self.journal = MemoryJournal()
        given = with_defaults(made.document, inputs or {})
        return await run_document(
            made.document, given, registry=REGISTRY, services=self.services, journal=self.journal
        )

    async def run(self, text: str, inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        ended = await self.result(text, inputs)
        assert ended.status == "succeeded", ended.error
        assert ended.outputs is not None
        return ended.outputs

    def conversations(self) -> list[list[dict[str, Any]]]:
        """What the models were shown, call by call."""
        assert self.models is not None
        return [request.body["messages"] for request in self.models.requests]

    def asked(self) -> list[dict[str, Any]]:
        """What was shown last."""
        return self.conversations()[-1]

    def ran(self) -> list[str]:
        return [event.path for event in self.journal.events if event.type == "node.succeeded" and event.path]


def with_defaults(document: Document, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as a run gets them: checked, with defaults."""
    from interlace.engine.inputs import prepare_inputs

    return prepare_inputs(document.inputs, inputs)


@asynccontextmanager
async def workshop(*replies: Any, rules: Sequence[Any] = ()) -> AsyncIterator[Workshop]:
    """Services on loopback; models give the replies in order, or by rules."""
    script = list(rules) or ([{"reply": list(replies)}] if replies else [])
    roles = {"general": "scripted", "fast": "scripted-mini", "embedding": "scripted-embedding"}
    sandbox = Sandbox()
    status = await sandbox.check()
    if not status.available:
        pytest.skip(f"no sandbox here: {status.reason}")
    with ScriptedModels(script) as server, TemporaryDirectory() as folder:
        named = [{"name": name} for name in server.script.models]
        given = {"name": "p", "base_url": server.url, "models": named, "roles": roles, "retries": 0}
        home = Path(folder)
        store = await Store.open(None, home)
        http = HttpClient(allow=AllowList.parse("127.0.0.1"))
        try:
            settings = ModelSettings.model_validate({"providers": [given]})
            catalogue = Catalogue(store, Secrets(store, MasterKeys(home)), settings, {})
            models = Models(catalogue, Client(http, catalogue), Ledger(store.usage))
            given_names = GivenNames()
            services = Services({
                ChatModel: models, Files: store.files, HttpClient: http, CodeRunner: SandboxedCode(sandbox), Environment: given_names,
            })  # fmt: skip
            yield Workshop(services, server, secrets=given_names.secrets, settings=given_names.values)
        finally:
            await http.close()
            await store.close()
            await sandbox.close()
