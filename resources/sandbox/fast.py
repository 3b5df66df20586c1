"""The engine for short snippets: a subset of Python in a worker process that starts in microseconds."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pydantic_monty

from interlace.engine.errors import NodeTimeout
from interlace.resources.sandbox.contract import CodeError, CodeResult, JsonValue, Limits, Setting
from interlace.resources.sandbox.inside.values import NotJson, to_json
from interlace.resources.sandbox.verdict import read_value

Function = Callable[..., Awaitable[Any]]
FILE = "main.py"
_SOURCE_BYTES = 32_000
_GRACE = 2.0
_FEED = "<python-input-0>"
_GIVEN = "interlace_inputs"
_ADVICE = "`sandbox: fast` knows a subset of Python; `sandbox: full` has all of it"


class _Printed:
    """What the snippet prints, up to a cap for each stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._text = {"stdout": "", "stderr": ""}
        self._cut: set[str] = set()

    def __call__(self, stream: str, text: str) -> None:
        room = self._cap - len(self._text[stream])
        self._text[stream] += text[: max(room, 0)]
        if len(text) > room:
            self._cut.add(stream)

    def of(self, stream: str) -> str:
        text = self._text[stream]
        return f"{text}\n… cut after {self._cap} characters" if stream in self._cut else text


class _Watch:
    """Ends busy workers when this process dies without warning; their own clock would let them go on until their limit."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> _Watch:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(Path(__file__).with_name("watchdog.py")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )
        return cls(process)

    @contextlib.contextmanager
    def over(self, pid: int | None) -> Iterator[None]:
        if pid is not None:
            self._say(f"+{pid}\n")
        try:
            yield
        finally:
            if pid is not None:
                self._say(f"-{pid}\n")

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        if self._process.returncode is None and not self._process.stdin.is_closing():
            self._process.stdin.write(line.encode())

    async def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()


class Snippets:
    """Runs short snippets in a pool of worker processes.

    Args:
        max_processes: how many workers there may be.
    """

    def __init__(self, *, max_processes: int) -> None:
        self._max_processes = max_processes
        self._pool: pydantic_monty.AsyncMonty | None = None
        self._watch: _Watch | None = None
        self._starting = asyncio.Lock()  # holds back a second pool

    async def run(self, code: str, inputs: Mapping[str, JsonValue], *, limits: Limits) -> CodeResult:
        """Run once. Raises CodeError, NodeTimeout."""
        if len(code) > _SOURCE_BYTES:
            text = (
                f"the code has {len(code)} characters, more than the {_SOURCE_BYTES} of a snippet; {_ADVICE}"
            )
            raise CodeError(text, kind="not_supported")
        call, given = _call(code, inputs)
        printed = _Printed(limits.stdout_kb * 1000)
        began = time.monotonic()
        try:
            async with asyncio.timeout(limits.seconds + _GRACE):
                value = await self._feed(code, call, given, limits, printed)
        except TimeoutError:
            raise NodeTimeout(_late(limits)) from None
        except pydantic_monty.MontyCrashedError as error:
            raise _error(f"the worker of the snippet ended: {error}", "killed", printed) from None
        except (pydantic_monty.MontyRuntimeError, pydantic_monty.MontySyntaxError) as error:
            raise _describe(error, limits, printed) from None
        except pydantic_monty.MontyError as error:
            raise _error(f"{error}; {_ADVICE}", "not_supported", printed) from None
        return _result(value, limits, printed, time.monotonic() - began)

    async def _feed(
        self, code: str, call: str, given: dict[str, JsonValue], limits: Limits, printed: _Printed
    ) -> object:
        pool = await self._workers()
        session = pool.checkout(
            script_name=FILE,
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_turn_duration_secs": limits.seconds,
                "max_memory": limits.memory_mb << 20,
                "max_recursion_depth": 1000,
                "max_suspensions": 1000,
                "max_total_sleep_secs": 0.0,
            },
            os_policy={"sleep": "zero"},
        )
        async with session as worker:
            with self._watch.over(worker.worker_pid) if self._watch is not None else contextlib.nullcontext():
                await worker.feed_run(code, print_callback=printed)
                return await worker.feed_run(call, inputs={_GIVEN: given}, print_callback=printed)

    async def program(
        self, code: str, functions: Mapping[str, Function], *, limits: Limits, setting: Setting
    ) -> CodeResult:
        """Run a program from its first line to its last; its value is that of a last line that is an expression.

        Args:
            code: the program; it awaits the functions.
            functions: what it may call, by name, with keyword arguments; they run in this process.
            limits: `seconds` are of its own work between two calls.
            setting: its time altogether, its clock and its chance.

        Raises:
            NodeTimeout, CodeError.
        """
        if len(code) > _SOURCE_BYTES:
            text = f"the program has {len(code)} characters; {_SOURCE_BYTES} are allowed"
            raise CodeError(text, kind="not_supported")
        printed = _Printed(limits.stdout_kb * 1000)
        began = time.monotonic()
        try:
            async with asyncio.timeout(setting.total + _GRACE):
                value = await self._feed_program(code, functions, limits, setting, printed)
        except TimeoutError:
            raise NodeTimeout(f"the program took longer than {setting.total:g} s and was stopped") from None
        except pydantic_monty.MontyCrashedError as error:
            raise _error(f"the worker of the program ended: {error}", "killed", printed) from None
        except (pydantic_monty.MontyRuntimeError, pydantic_monty.MontySyntaxError) as error:
            raise _describe(error, limits, printed) from None
        except pydantic_monty.MontyError as error:
            raise _error(str(error), "not_supported", printed) from None
        return _result({"value": value}, limits, printed, time.monotonic() - began)

    async def _feed_program(
        self,
        code: str,
        functions: Mapping[str, Function],
        limits: Limits,
        setting: Setting,
        printed: _Printed,
    ) -> object:
        pool = await self._workers()
        session = pool.checkout(
            script_name=FILE,
            limits={
                "max_feed_duration_secs": setting.total,
                "max_turn_duration_secs": limits.seconds,
                "max_memory": limits.memory_mb << 20,
                "max_recursion_depth": 1000,
                "max_suspensions": 10_000,
                "max_total_sleep_secs": 0.0,
            },
            os_policy={
                "sleep": "zero",
                "datetime": datetime.fromtimestamp(setting.now, UTC),
                "random_start": {"seed": setting.seed},
            },
        )
        async with session as worker:
            with self._watch.over(worker.worker_pid) if self._watch is not None else contextlib.nullcontext():
                return await worker.feed_run(code, external_lookup=dict(functions), print_callback=printed)

    async def _workers(self) -> pydantic_monty.AsyncMonty:
        async with self._starting:
            if self._pool is None:
                # A worker serves one run: nothing of a run is left for the next.
                pool = pydantic_monty.AsyncMonty(
                    min_processes=1,
                    max_processes=self._max_processes,
                    max_checkouts_per_worker=1,
                    request_timeout=24 * 3600.0,
                    feed_duration_limit_grace=_GRACE,
                    turn_duration_limit_grace=_GRACE,
                )
                await pool.__aenter__()
                self._pool = pool
                if hasattr(os, "pidfd_open"):
                    self._watch = await _Watch.start()
            return self._pool

    async def close(self) -> None:
        """End every worker."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.__aexit__(None, None, None)
        watch, self._watch = self._watch, None
        if watch is not None:
            await watch.close()


def _call(code: str, inputs: Mapping[str, JsonValue]) -> tuple[str, dict[str, JsonValue]]:
    """How to call `main`, and the inputs that it takes. The code is read, not run."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []  # the engine's own parser says what is wrong
    found = [n for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == "main"]
    if not found:
        return f"main(**{_GIVEN})", dict(inputs)
    main = found[-1]
    names = [a.arg for a in (*main.args.posonlyargs, *main.args.args, *main.args.kwonlyargs)]
    _require(main.args, inputs)
    given = dict(inputs) if main.args.kwarg else {name: inputs[name] for name in names if name in inputs}
    wait = "await " if isinstance(main, ast.AsyncFunctionDef) else ""
    return f"{wait}main(**{_GIVEN})", given


def _require(arguments: ast.arguments, inputs: Mapping[str, JsonValue]) -> None:
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    needed = positional[: len(positional) - len(arguments.defaults)]
    needed += [
        a.arg
        for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    for name in needed:
        if name not in inputs:
            listed = ", ".join(sorted(map(repr, inputs))) or "none"
            text = f"main() needs {name!r}, which is not among the inputs (given: {listed}); add it to the node's inputs or give the parameter a default"
            raise CodeError(text, kind="missing_input")


def _result(value: object, limits: Limits, printed: _Printed, seconds: float) -> CodeResult:
    if not isinstance(value, dict):
        text = f"main() returned a value of type {type(value).__name__}, but the outputs of a node are a dict; return something like {{'value': …}}"
        raise _error(text, "bad_result", printed)
    try:
        body, wide = to_json(value)
    except NotJson as error:
        raise _error(str(error), "bad_result", printed) from None
    if len(body) > limits.output_bytes:
        text = f"the result has {len(body)} bytes as JSON, more than the limit of {limits.output_bytes}; return less, or raise the output limit of the node"
        raise _error(text, "output_limit", printed)
    return CodeResult(
        value=read_value(body, wide=wide),
        stdout=printed.of("stdout"),
        stderr=printed.of("stderr"),
        cpu_seconds=seconds,
    )


def _describe(
    error: pydantic_monty.MontyRuntimeError | pydantic_monty.MontySyntaxError,
    limits: Limits,
    printed: _Printed,
) -> NodeTimeout | CodeError:
    inner = error.exception()
    frames = [frame for frame in error.traceback() if frame.filename == _FEED]
    kind, text = type(inner).__name__, str(inner)
    if isinstance(inner, TimeoutError) and not error.traceback():
        return NodeTimeout(_late(limits))
    if isinstance(inner, MemoryError):
        kind, text = "memory_limit", f"the code needed more memory than its limit of {limits.memory_mb} MB"
    elif isinstance(inner, NameError) and not frames and "'main'" in text:
        return _error(
            "the code defines no function `main`; write `def main(...)` that returns a dict",
            "missing_main",
            printed,
        )
    else:
        text = f"{kind}: {text}" if text else kind
    if isinstance(inner, (ModuleNotFoundError, SyntaxError, NotImplementedError)):
        text = f"{text}; {_ADVICE}"
    line = frames[-1].line if frames else None
    if line:
        text = f"{text} (line {line}: `{(frames[-1].source_line or '').strip()[:200]}`)"
    return CodeError(
        text,
        kind=kind,
        line=line,
        traceback=_trace(frames, f"{type(inner).__name__}: {inner}"),
        stdout=printed.of("stdout"),
        stderr=printed.of("stderr"),
    )


def _trace(frames: list[Any], last: str) -> str:
    lines = ["Traceback (most recent call last):"]
    for frame in frames[-60:]:
        lines.append(f'  File "{FILE}", line {frame.line}, in {frame.function_name or "<module>"}')
        if frame.source_line:
            lines.append(f"    {frame.source_line.strip()}")
    return "\n".join([*lines, last])


def _late(limits: Limits) -> str:
    return f"the code ran longer than {limits.seconds:g} s and was stopped; make it faster or raise the time limit"


def _error(message: str, kind: str, printed: _Printed) -> CodeError:
    return CodeError(message, kind=kind, stdout=printed.of("stdout"), stderr=printed.of("stderr"))
