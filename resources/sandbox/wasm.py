"""The engine that runs code as WebAssembly, in processes of its own: for hosts without user namespaces."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import struct
import sys
from pathlib import Path
from typing import Any

from interlace.engine.errors import NodeTimeout
from interlace.resources.sandbox.contract import CodeError, CodeResult, Limits
from interlace.resources.sandbox.engine import EngineUnavailable
from interlace.resources.sandbox.verdict import failure, read_value

_LENGTH = struct.Struct(">I")
_HERE = Path(__file__).parent
_PACKAGE = "interlace.resources.sandbox.inside"
_IDLE = 2
_GRACE = 5.0  # the engine's own clock ended a run up to this much late
_SELF_TEST = "def main():\n    return {'ok': 6 * 7}\n"


def _modules() -> list[tuple[str, str]]:
    """Our inside modules that need nothing of the operating system, parents first."""
    parts = _PACKAGE.split(".")
    found = [(".".join(parts[:end]), "") for end in range(1, len(parts) + 1)]
    return found + [
        (f"{_PACKAGE}.{name}", (_HERE / "inside" / f"{name}.py").read_text())
        for name in ("values", "harness")
    ]


class _Runner:
    """One process that runs one job at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> _Runner:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(_HERE / "wasm_runner.py"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            cwd=Path(sys.prefix).anchor,
        )
        return cls(process)

    async def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer to a job; IncompleteReadError or ConnectionError when the process ends before it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        data = json.dumps(job).encode()
        self._process.stdin.write(_LENGTH.pack(len(data)) + data)
        await self._process.stdin.drain()
        (size,) = _LENGTH.unpack(await self._process.stdout.readexactly(_LENGTH.size))
        answer: dict[str, Any] = json.loads(await self._process.stdout.readexactly(size))
        return answer

    def kill(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        self.kill()
        await self._process.wait()


class Wasm:
    """Runs code in CPython compiled to WebAssembly; packages and network are not to be had there."""

    name = "wasm"

    def __init__(self) -> None:
        self._idle: list[_Runner] = []
        self._busy: set[_Runner] = set()

    async def check(self) -> None:
        """Run a real piece of code. Raises EngineUnavailable."""
        if importlib.util.find_spec("eryx") is None:
            raise EngineUnavailable(
                "the package pyeryx is not installed", "run on Python >= 3.12 and install pyeryx==0.11.0"
            )
        try:
            result = await self.run(_SELF_TEST, b"{}", limits=Limits(seconds=30), packages=(), network=False)
        except (CodeError, NodeTimeout) as error:
            raise EngineUnavailable(
                f"the WASM self-test failed: {error}", "reinstall pyeryx==0.11.0"
            ) from error
        if result.value != {"ok": 42}:
            raise EngineUnavailable(f"the WASM self-test gave {result.value!r}", "reinstall pyeryx==0.11.0")

    async def run(
        self, code: str, inputs: bytes, *, limits: Limits, packages: tuple[str, ...], network: bool
    ) -> CodeResult:
        """Run once. Raises CodeError, NodeTimeout."""
        if packages or network:
            what = f"the packages {', '.join(packages)}" if packages else "network access"
            raise CodeError(
                f"the WASM engine has no {what}; use a host where the bwrap engine works",
                kind="not_supported",
            )
        job = {
            "modules": _modules(),
            "code": code,
            "inputs": inputs.decode(),
            "seconds": limits.seconds,
            "memory_mb": limits.memory_mb,
            "output_bytes": limits.output_bytes,
            "stdout_bytes": limits.stdout_kb * 1000,
        }
        return _judge(await self._ask(job, limits), limits)

    async def _ask(self, job: dict[str, Any], limits: Limits) -> dict[str, Any]:
        runner = self._idle.pop() if self._idle else await _Runner.start()
        self._busy.add(runner)
        keep = False
        try:
            async with asyncio.timeout(limits.seconds + _GRACE):
                answer = await runner.ask(job)
            keep = not answer["fault"] and len(self._idle) < _IDLE
        except TimeoutError:
            return {"fault": "timeout", "stdout": "", "stderr": ""}
        except (asyncio.IncompleteReadError, ConnectionError):
            return {"fault": "the runner process ended", "stdout": "", "stderr": ""}
        else:
            return answer
        finally:
            self._busy.discard(runner)
            if keep:
                self._idle.append(runner)
            else:
                runner.kill()

    async def close(self) -> None:
        """End every runner process."""
        runners, self._idle = [*self._idle, *self._busy], []
        for runner in runners:
            await runner.close()


def _judge(answer: dict[str, Any], limits: Limits) -> CodeResult:
    stdout, stderr, meta = answer["stdout"], answer["stderr"], answer.get("meta")
    fault = answer["fault"]
    if fault == "timeout":
        raise NodeTimeout(
            f"the code ran longer than {limits.seconds:g} s and was stopped; make it faster or raise the limit"
        )
    if fault == "memory" or "rust_oom" in fault:
        text = f"the code needed more memory than its limit of {limits.memory_mb} MB; use less, or raise the limit"
        raise CodeError(text, kind="memory_limit", stdout=stdout, stderr=stderr)
    if not isinstance(meta, dict):
        reason = fault.splitlines()[0] if fault else "it left no result"
        text = f"the interpreter of the code ended before main() returned: {reason}"
        raise CodeError(text, kind="killed", stdout=stdout, stderr=stderr)
    if "kind" in meta:
        raise failure(meta, stdout=stdout, stderr=stderr)
    value = read_value(str(answer["body"]).encode(), wide=meta.get("wide") is True)
    if value is None:
        raise CodeError(
            "the result that came back is no JSON object", kind="bad_result", stdout=stdout, stderr=stderr
        )
    return CodeResult(value=value, stdout=stdout, stderr=stderr, cpu_seconds=answer["cpu"])
