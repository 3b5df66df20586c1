"""One process of Interlace: settings, store, node types, resources and the runner, put together."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import structlog

from interlace.engine.protocols import (
    Callbacks,
    Children,
    Clock,
    CodeResult,
    CodeRunner,
    Environment,
    Services,
)
from interlace.engine.registry import Registry
from interlace.flows.callbacks import CallbackUrls
from interlace.flows.children import ChildRuns
from interlace.flows.documents import Documents
from interlace.flows.environment import ProcessEnvironment
from interlace.flows.follow_ups import FollowUps
from interlace.flows.node_types import node_types
from interlace.flows.runner import Runner
from interlace.flows.settings import Settings
from interlace.flows.waits import RunWaits
from interlace.resources.databases import Databases
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.sandbox import Limits, Sandbox
from interlace.store import Store

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
        own_database = [] if settings.database_url is None else [settings.database_url.get_secret_value()]
        self.databases = Databases(
            allow=settings.database_allow,
            refused_paths=[home],
            refused_urls=own_database,
            base_dir=Path.cwd(),
        )
        self.services = Services()
        self.runner = Runner(store, self.documents, self.services, clock=clock, max_runs=settings.max_runs)
        self.services.register(HttpClient, self.http)
        self.services.register(Databases, self.databases)
        self.services.register(CodeRunner, SandboxedCode(self.sandbox))
        self.services.register(Environment, ProcessEnvironment(settings))
        self.services.register(Children, ChildRuns(self.runner))
        self.callbacks = CallbackUrls(settings)
        self.services.register(Callbacks, self.callbacks)
        self.follow_ups = FollowUps(self.runner)
        self.waits = RunWaits(self.runner, self.http, self.callbacks)

    @classmethod
    async def open(cls, settings: Settings, *, clock: Clock | None = None) -> Platform:
        """Open the home, making or updating what is in it.

        Raises:
            StoreError: the database cannot be opened.
        """
        url = None if settings.database_url is None else settings.database_url.get_secret_value()
        store = await Store.open(url, settings.home.resolve(), durability=settings.durability)
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
        await asyncio.gather(self.sandbox.close(), self.http.close(), self.databases.close())
        await self.store.close()
