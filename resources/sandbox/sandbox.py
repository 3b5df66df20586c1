"""The sandbox behind the CODE node: chooses an engine once, and runs code in it or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from interlace.resources.sandbox.bubblewrap import Bubblewrap
from interlace.resources.sandbox.contract import (
    CodeError,
    CodeResult,
    JsonValue,
    Limits,
    SandboxStatus,
    Setting,
)
from interlace.resources.sandbox.engine import Engine, EngineUnavailable
from interlace.resources.sandbox.fast import Function, Snippets
from interlace.resources.sandbox.flight import encode
from interlace.resources.sandbox.wasm import Wasm


class Sandbox:
    """Runs Python code that nobody vouches for. It belongs to the event loop that first runs something.

    Args:
        engine: `bwrap` (namespaces, Linux) or `wasm`; `auto` takes the first that works here. When none does, every
            run fails with the reason: code never runs without isolation.
        packages: what code may ask for beyond the standard library: name and the folder for its module path.
        network: whether code may ask for the network. It is the service's own, so nothing of the platform stands between
            such code and internal addresses.
        max_processes: how many runs go on at the same time; more of them wait.
        bwrap: the bubblewrap program, when it is not the one from its package or from the PATH.
    """

    def __init__(
        self,
        *,
        engine: Literal["auto", "bwrap", "wasm"] = "auto",
        packages: Mapping[str, Path] | None = None,
        network: bool = False,
        max_processes: int = 8,
        bwrap: Path | None = None,
    ) -> None:
        self._packages = {name: Path(path) for name, path in (packages or {}).items()}
        self._network = network
        for name, path in self._packages.items():
            if not name.replace("-", "_").replace(".", "_").isidentifier():
                raise ValueError(
                    f"the package name {name!r} is not one; use letters, digits, '-', '_' and '.'"
                )
            if not path.is_dir():
                raise ValueError(f"the package {name!r} has no folder at {str(path)!r}")
        self._candidates: list[Engine] = []
        if engine in ("auto", "bwrap"):
            self._candidates.append(Bubblewrap(packages=self._packages, bwrap=bwrap))
        if engine in ("auto", "wasm"):
            self._candidates.append(Wasm())
        self._engine: Engine | None = None
        self._status: SandboxStatus | None = None
        self._snippets = Snippets(max_processes=max_processes)
        self._programs = Snippets(max_processes=4 * max_processes)
        self._checking = asyncio.Lock()  # holds back a second self-test
        self._slots = asyncio.Semaphore(max_processes)

    async def check(self) -> SandboxStatus:
        """Which engine runs code here; the self-test runs once, at the first call."""
        async with self._checking:
            if self._status is None:
                self._status = await self._choose()
            return self._status

    async def _choose(self) -> SandboxStatus:
        failed: list[tuple[str, EngineUnavailable]] = []
        for engine in self._candidates:
            try:
                await engine.check()
            except EngineUnavailable as error:
                failed.append((engine.name, error))
                await engine.close()
            else:
                self._engine = engine
                reason = "; ".join(f"{name}: {error.reason}" for name, error in failed)
                return SandboxStatus(engine=engine.name, available=True, reason=reason)
        return SandboxStatus(
            engine="none",
            available=False,
            reason="; ".join(f"{name}: {error.reason}" for name, error in failed),
            fix="; or ".join(error.fix for _, error in failed),
        )

    async def run(
        self,
        code: str,
        inputs: Mapping[str, JsonValue],
        *,
        limits: Limits,
        fast: bool = False,
        packages: Sequence[str] = (),
        network: bool = False,
    ) -> CodeResult:
        """Call the code's `main` with the inputs that it takes, and give back the dict it returns.

        Args:
            code: defines `def main(...)` or `async def main(...)`.
            inputs: its arguments by name.
            limits: what it may use.
            fast: run in the engine for short snippets: a subset of Python, without packages and network.
            packages: names from the allow-list that it imports.
            network: whether it may open internet connections. It then shares the network of the service: a firewall
                is what keeps it from internal addresses.

        Raises:
            NodeTimeout: it ran longer than its limit.
            CodeError: everything else that can go wrong; `kind` says what.
        """
        self._permit(packages, fast=fast, network=network)
        try:
            data = encode(inputs)
        except ValueError as error:
            raise CodeError(f"the inputs have no JSON form: {error}", kind="bad_input") from error
        async with self._slots:
            if fast:
                return await self._snippets.run(code, inputs, limits=limits)
            status = await self.check()
            if self._engine is None:
                raise CodeError(
                    f"no sandbox to run code in. {status.reason}. To fix: {status.fix}",
                    kind="sandbox_unavailable",
                )
            wanted = tuple(sorted(set(packages)))
            try:
                return await self._engine.run(code, data, limits=limits, packages=wanted, network=network)
            except EngineUnavailable as error:
                raise CodeError(f"{error.reason}. To fix: {error.fix}", kind="sandbox_unavailable") from error

    async def program(
        self, code: str, functions: Mapping[str, Function], *, limits: Limits, setting: Setting
    ) -> CodeResult:
        """Run a short program that may call some functions of this process; see `Snippets.program`.

        It holds no slot: what it calls may need one.
        """
        return await self._programs.program(code, functions, limits=limits, setting=setting)

    def _permit(self, packages: Sequence[str], *, fast: bool, network: bool) -> None:
        for name in packages:
            if name not in self._packages:
                known = ", ".join(sorted(self._packages)) or "none"
                raise CodeError(
                    f"the package {name!r} is not on the operator's list (allowed: {known}); "
                    "remove it from the node or have it added to INTERLACE_CODE_PACKAGES",
                    kind="package_not_allowed",
                )
        if fast and (packages or network):
            raise CodeError(
                "`sandbox: fast` has no packages and no network; use `sandbox: full`", kind="not_supported"
            )
        if network and not self._network:
            raise CodeError(
                "the operator does not let code use the network, because it would reach internal addresses too; "
                "set `network: false` and fetch with an HTTP node, or have INTERLACE_CODE_NETWORK set to true",
                kind="network_not_allowed",
            )

    async def close(self) -> None:
        """End all processes of the sandbox; runs in flight fail."""
        for engine in self._candidates:
            await engine.close()
        await self._snippets.close()
        await self._programs.close()
