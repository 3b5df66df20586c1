"""The sandbox behind the CODE node: chooses an engine once, and runs code in it or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from interlace.resources.sandbox.bubblewrap import Bubblewrap, EngineUnavailable
from interlace.resources.sandbox.contract import CodeError, CodeResult, JsonValue, Limits, SandboxStatus
from interlace.resources.sandbox.flight import encode
from interlace.resources.sandbox.zygote import ZygoteFault


class Sandbox:
    """Runs Python code that nobody vouches for.

    Args:
        engine: `bwrap` or `wasm`; `auto` takes the first that works here.
        packages: what code may ask for beyond the standard library: name and the folder for its module path.
        max_processes: how many runs go on at the same time; more of them wait.
        bwrap: the bubblewrap program, when it is not the one from its package.
    """

    def __init__(
        self,
        *,
        engine: Literal["auto", "bwrap", "wasm"] = "auto",
        packages: Mapping[str, Path] | None = None,
        max_processes: int = 8,
        bwrap: Path | None = None,
    ) -> None:
        self._packages = dict(packages or {})
        self._engine = Bubblewrap(packages=self._packages, bwrap=bwrap)
        self._status: SandboxStatus | None = None
        self._checking = asyncio.Lock()
        self._slots = asyncio.Semaphore(max_processes)

    async def check(self) -> SandboxStatus:
        """Which engine runs code here; the self-test runs once, at the first call."""
        async with self._checking:
            if self._status is None:
                try:
                    await self._engine.check()
                    self._status = SandboxStatus(engine="bwrap", available=True)
                except EngineUnavailable as error:
                    self._status = SandboxStatus(
                        engine="bwrap", available=False, reason=error.reason, fix=error.fix
                    )
            return self._status

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
        """Call the code's `main` with the inputs and give back the dict it returns."""
        status = await self.check()
        if not status.available:
            raise CodeError(f"{status.reason}; {status.fix}", kind="sandbox_unavailable")
        async with self._slots:
            return await self._engine.run(
                code, encode(inputs), limits=limits, packages=tuple(packages), network=network
            )

    async def close(self) -> None:
        await self._engine.close()
