"""What every engine of the sandbox offers."""

from __future__ import annotations

from typing import Protocol

from interlace.resources.sandbox.contract import CodeResult, Limits


class EngineUnavailable(Exception):  # noqa: N818 - says what it is
    """The engine cannot run code here: why, and what to do."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


class Engine(Protocol):
    """One way to run code that nobody vouches for."""

    name: str

    async def check(self) -> None:
        """Run a real piece of code. Raises EngineUnavailable."""

    async def run(
        self, code: str, inputs: bytes, *, limits: Limits, packages: tuple[str, ...], network: bool
    ) -> CodeResult:
        """Run the code once. Raises CodeError, NodeTimeout, EngineUnavailable."""
        ...

    async def close(self) -> None:
        """Leave no process behind."""
