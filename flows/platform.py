"""One process of Interlace: settings, store, node types, resources and the runner, put together."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import structlog

from interlace.agents.meta.call_agent import Delegates
from interlace.agents.outfit import Outfitter
from interlace.agents.outfitting import StoredAgents, WorkingAgents
from interlace.agents.resolve import Sources
from interlace.agents.search import Finder, Vectors
from interlace.agents.visible import Visible
from interlace.engine.chat import ChatModel
from interlace.engine.protocols import (
    Callbacks,
    Children,
    Clock,
    CodeResult,
    CodeRunner,
    Conversations,
    Environment,
    Inbox,
    Places,
    ProgramRunner,
    Services,
)
from interlace.engine.registry import Registry
from interlace.flows.answers import StoreInbox
from interlace.flows.callbacks import CallbackUrls
from interlace.flows.chat import Chat
from interlace.flows.children import ChildRuns
from interlace.flows.documents import Documents
from interlace.flows.environment import ProcessEnvironment, RunEnvironments
from interlace.flows.follow_ups import FollowUps
from interlace.flows.ingestion import Ingestion
from interlace.flows.node_types import node_types
from interlace.flows.published import PublishedWorkflows
from interlace.flows.retention import Retention
from interlace.flows.runner import Runner
from interlace.flows.served import Served
from interlace.flows.settings import Settings
from interlace.flows.titles import Titles
from interlace.flows.triggers.triggers import Triggers
from interlace.flows.waits import RunWaits
from interlace.resources.agents.agents import Agents
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.databases import Databases
from interlace.resources.databases.stored import StoredDatabases
from interlace.resources.documents.extractor import Extractor
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.identity.providers import Providers
from interlace.resources.knowledge import EmbeddedModel, KnowledgeBases
from interlace.resources.knowledge.embedders import Embedders
from interlace.resources.knowledge.ingest import Ingestor
from interlace.resources.knowledge.rerank import Rerank
from interlace.resources.mail import Mailer
from interlace.resources.mcp import Catalog, McpPool, McpServers
from interlace.resources.models.catalogue import Catalogue
from interlace.resources.models.client import Client
from interlace.resources.models.ledger import Ledger
from interlace.resources.models.models import Models
from interlace.resources.notices import Notices
from interlace.resources.sandbox import Limits, Sandbox, Setting
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.resources.skills.skills import Skills
from interlace.resources.tools import BuiltinTools, builtin_tools
from interlace.resources.tools.folder import RunFolders
from interlace.store import Store
from interlace.store.clock import DatabaseClock
from interlace.store.resources import ResourceRepository

_PORTS = {"postgresql": 5432, "postgres": 5432, "http": 80, "https": 443}

log = structlog.get_logger("interlace.platform")


class SandboxedCode:
    """Implements `CodeRunner` on the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def run(
        self, code: str, inputs: Mapping[str, Any], *, seconds: float, memory_mb: int, output_mb: float,
        fast: bool = False, packages: Sequence[str] = (), network: bool = False,
    ) -> CodeResult:  # fmt: skip
        """Call `main(**inputs)` of the code in the sandbox."""
        limits = Limits(seconds=seconds, memory_mb=memory_mb, output_mb=output_mb)
        return await self._sandbox.run(
            code, inputs, limits=limits, fast=fast, packages=packages, network=network
        )


class SandboxedPrograms:
    """Implements `ProgramRunner` on the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def program(
        self, code: str, functions: Mapping[str, Callable[..., Awaitable[Any]]], *, seconds: float, memory_mb: int,
        total: float, now: float, seed: str,
    ) -> CodeResult:  # fmt: skip
        """Run a program with some functions."""
        limits = Limits(seconds=seconds, memory_mb=memory_mb)
        return await self._sandbox.program(
            code, functions, limits=limits, setting=Setting(total=total, now=now, seed=seed)
        )


class Platform:
    """Everything a process needs to run workflows. Made by `Platform.open`, ended by `close`."""

    def __init__(
        self, settings: Settings, store: Store, registry: Registry, clock: Clock | None = None
    ) -> None:
        self.settings = settings
        self.store = store
        self.registry = registry
        self.documents = Documents(store, registry)
        self.own_addresses: set[tuple[str, int]] = set()
        """(ip, port) pairs that HTTP nodes never reach, whatever is allowed: the platform's own database and Prefect."""
        home = settings.home.resolve()
        self.sandbox = Sandbox(
            engine=settings.code_engine,
            packages=settings.code_packages,
            network=settings.code_network,
            max_processes=settings.code_processes,
        )
        self.http = HttpClient(
            allow=AllowList.parse(settings.http_allow),
            max_body=settings.max_body,
            own_addresses=self.own_addresses,
        )
        self.providers = Providers(settings.oidc, settings.http_allow, self.own_addresses)
        own_database = [] if settings.database_url is None else [settings.database_url.get_secret_value()]
        self.databases = Databases(
            allow=settings.database_allow,
            refused_paths=[home],
            refused_urls=own_database,
            base_dir=Path.cwd(),
        )
        self.services = Services({BuiltinTools: builtin_tools(), RunFolders: RunFolders(store.run_files)})
        self.served = Served.of(settings)
        self.services.register(Places, self.served)
        self.secrets = Secrets(store, _master_keys(settings))
        environment = ProcessEnvironment(settings)
        self.environments = RunEnvironments(environment, self.secrets)
        self.runner = Runner(
            store,
            self.documents,
            self.services,
            clock=clock,
            max_runs=settings.max_runs,
            environments=self.environments,
            served=self.served,
            most=settings.concurrency,
        )
        self.services.register(HttpClient, self.http)
        self.services.register(Databases, self.databases)
        self.mcp = McpServers(
            store, self.secrets, McpPool(self.http, Catalog.load(settings.mcp_stdio_catalog), refused=(home,))
        )
        self.services.register(McpServers, self.mcp)
        self.services.register(CodeRunner, SandboxedCode(self.sandbox))
        self.services.register(ProgramRunner, SandboxedPrograms(self.sandbox))
        self.services.register(Environment, environment)
        self.services.register(Secrets, self.secrets)
        self.stored_databases = StoredDatabases(store.resources, self.secrets, self.databases)
        self.services.register(StoredDatabases, self.stored_databases)
        self.connectors = Connectors(store, self.secrets, self.http)
        self.services.register(Connectors, self.connectors)
        self._add_models()
        self._add_knowledge(home)
        self._add_agents(home)
        self.services.register(Children, ChildRuns(self.runner))
        self.callbacks = CallbackUrls(settings)
        self.services.register(Callbacks, self.callbacks)
        self.follow_ups = FollowUps(self.runner)
        smtp = None if settings.smtp_url is None else settings.smtp_url.get_secret_value()
        self.mailer = Mailer(smtp, settings.smtp_from)
        notices = Notices(self.http, self.mailer, lambda: self.callbacks.base)
        self.services.register(Mailer, self.mailer)
        self.services.register(Notices, notices)
        self._add_watchers(notices)

    def _add_watchers(self, notices: Notices) -> None:
        self.published = PublishedWorkflows(self.store, self.documents)
        self.retention = Retention(self.store, self.settings, self.runner.clock)
        self.waits = RunWaits(self.runner, notices, self.callbacks)
        self.triggers = Triggers(self)

    def _add_models(self) -> None:
        self.catalogue = Catalogue(self.store, self.secrets, self.settings.models, os.environ)
        self.documents.models = self.catalogue.chain
        self.models = Models(self.catalogue, Client(self.http, self.catalogue), Ledger(self.store.usage))
        self.services.register(ChatModel, self.models)

    def _add_knowledge(self, home: Path) -> None:
        self.extractor = Extractor(hidden=[home])
        self.embedded = EmbeddedModel()
        self.models.embedder = self.embedded
        embedders = Embedders(self.embedded, self.models)
        self.knowledge = KnowledgeBases(self.store, embedders, self.http, Rerank(self.models))
        self.ingestion = Ingestion(self.store, Ingestor(self.store, self.extractor, embedders))
        self.knowledge.changed.append(self.ingestion.wake)
        self.services.register(Extractor, self.extractor)
        self.services.register(KnowledgeBases, self.knowledge)

    def _add_agents(self, home: Path) -> None:
        self.services.register(ResourceRepository, self.store.resources)
        self.skills = Skills(self.store)
        self.agents = Agents(self.store, self.secrets)
        self.services.register(Skills, self.skills)
        self.services.register(Agents, self.agents)
        self.visible = Visible(self.store.resources, self.stored_databases, self.mcp)
        self.tool_vectors = Vectors(self.embedded, home / "cache")
        self.sources = Sources(
            builtin=builtin_tools(),
            visible=self.visible,
            resources=self.store.resources,
            connectors=self.connectors,
            skills=self.skills,
            agents=self.agents,
            finder=Finder(self.tool_vectors),
            models=self.models,
            how=self.settings.discovery,
        )
        self.services.register(Sources, self.sources)
        outfitter = StoredAgents(self.sources)
        self.services.register(Outfitter, outfitter)
        self.services.register(Delegates, WorkingAgents(outfitter))
        titles = Titles(self.store, self.models, self.catalogue, wanted=self.settings.chat_titles)
        self.chat = Chat(
            self.store,
            self.documents,
            self.runner,
            titles,
            self.extractor,
            environment=self.settings.environment,
        )
        self.services.register(Inbox, StoreInbox(self.store))
        self.services.register(Conversations, self.chat)

    @classmethod
    async def open(cls, settings: Settings, *, clock: Clock | None = None) -> Platform:
        """Open the home, making or updating what is in it.

        Raises:
            StoreError: the database cannot be opened.
        """
        url = None if settings.database_url is None else settings.database_url.get_secret_value()
        store = await Store.open(
            url, settings.home.resolve(), durability=settings.durability, payloads=settings.payloads
        )
        if clock is None and store.database.location.kind != "sqlite":
            # Machines that share a database go by its clock: theirs may differ by hours.
            clock = DatabaseClock(store.database)
            await clock.sync()
            store.database.now = clock.now
        platform = cls(settings, store, node_types(), clock)
        platform.callbacks.key = str(await store.settings.setdefault("callback_key", secrets.token_hex(32)))
        if url is not None:
            await platform.guard(url)
        return platform

    async def guard(self, url: str) -> None:
        """Let no HTTP node reach the address of a URL, whatever the operator allows."""
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme.partition("+")[0])
        if parts.hostname is None or port is None:
            return
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                parts.hostname, port, type=socket.SOCK_STREAM
            )
        except OSError as error:
            log.warning(
                "an address of the platform's own does not resolve", host=parts.hostname, error=str(error)
            )
            return
        self.own_addresses.update((str(entry[4][0]), port) for entry in found)

    async def close(self, drain: float = 0.0) -> None:
        """Let go of everything; unfinished runs go on where their journals end.

        Attempts that must not be repeated have `drain` seconds to finish.
        """
        await self.runner.close(drain)
        await self.ingestion.close()
        await asyncio.gather(self.visible.close(), self.tool_vectors.close())
        self.embedded.close()
        await self.mcp.close()
        await asyncio.gather(
            self.sandbox.close(), self.http.close(), self.providers.close(), self.databases.close()
        )
        await self.store.close()


def _master_keys(settings: Settings) -> MasterKeys:
    key, previous = settings.secret_key, settings.secret_key_previous
    return MasterKeys(
        settings.home.resolve(),
        key=None if key is None else key.get_secret_value(),
        file=settings.secret_key_file,
        previous=None if previous is None else previous.get_secret_value(),
    )
