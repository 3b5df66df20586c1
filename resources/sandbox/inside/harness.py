"""Runs one piece of user code: finds `main`, gives it its inputs, and describes the outcome as plain data."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import linecache
import sys
import traceback
import types
from collections.abc import Callable, Coroutine
from typing import Any

from interlace.resources.sandbox.inside.values import NotJson, to_json

FILE = "main.py"
_TEXT = 2_000
_TRACE = 16_000
_FRAMES = 60
_RESERVE = 8 << 20


class Refusal(Exception):  # noqa: N818 - an outcome, not an error of this program
    """The code cannot be run or its result cannot be taken."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def execute(
    code: str, inputs: bytes | bytearray, *, memory_mb: int, output_bytes: int
) -> tuple[dict[str, Any], bytes]:
    """Run the code once in this process; see `perform`."""
    work = perform(code, inputs, memory_mb=memory_mb, output_bytes=output_bytes, wait=_run_loop)
    try:
        work.send(None)
    except StopIteration as finished:
        outcome: tuple[dict[str, Any], bytes] = finished.value
        return outcome
    raise AssertionError("nothing in here waits")


async def perform(
    code: str,
    inputs: bytes | bytearray,
    *,
    memory_mb: int,
    output_bytes: int,
    wait: Callable[[Any], Coroutine[Any, Any, Any]],
) -> tuple[dict[str, Any], bytes]:
    """Run the code once.

    Args:
        code: the source text with its `main`.
        inputs: a JSON object.
        memory_mb: what to name when memory runs out.
        output_bytes: how long the result may be as JSON.
        wait: how to wait for what an `async def main` returns.

    Returns:
        The outcome (`{"wide": bool}`, or kind, message, line and traceback of the failure) and the result as JSON.
    """
    reserve = bytes(_RESERVE)  # zeroed pages that are never touched: address space, no memory
    try:
        result = _call(code, _load(inputs))
        if inspect.isawaitable(result):
            result = await wait(result)
        return _take(result, output_bytes)
    except MemoryError as error:
        del reserve
        return _memory(error, memory_mb), b""
    except Refusal as refusal:
        return _outcome(refusal.kind, refusal.message), b""
    except NotJson as error:
        return _outcome("bad_result", str(error)), b""
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises is the outcome
        return _describe(error), b""


async def wait_here(awaitable: Any) -> Any:
    """Wait inside a loop that runs already."""
    return await awaitable


async def _run_loop(awaitable: Any) -> Any:
    return asyncio.run(wait_here(awaitable))


def _load(inputs: bytes | bytearray) -> dict[str, Any]:
    # Collecting while a million small objects come into being costs more than making them.
    gc.disable()
    value: dict[str, Any] = json.loads(inputs)
    gc.enable()
    return value


def _call(code: str, inputs: dict[str, Any]) -> Any:
    linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)
    # Not `__main__`: what a script does only when it is started itself has no place in a node.
    module = types.ModuleType("main")
    module.__file__ = FILE
    sys.modules["main"] = module
    exec(compile(code, FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what the sandbox is for
    main = module.__dict__.get("main")
    if not callable(main):
        raise Refusal(
            "missing_main", "the code defines no function `main`; write `def main(...)` that returns a dict"
        )
    positional, named = _arguments(main, inputs)
    return main(*positional, **named)


def _take(result: Any, output_bytes: int) -> tuple[dict[str, Any], bytes]:
    if not isinstance(result, dict):
        raise Refusal(
            "bad_result",
            f"main() returned {_article(type(result).__name__)}, but the outputs of a node are a dict; "
            "return something like {'value': …}",
        )
    body, wide = to_json(result)
    if len(body) > output_bytes:
        raise Refusal(
            "output_limit",
            f"the result has {len(body)} bytes as JSON, more than the limit of {output_bytes}; "
            "return less, or raise the output limit of the node",
        )
    return {"wide": wide}, body


def _arguments(main: Any, inputs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = inspect.signature(main).parameters.values()
    except (TypeError, ValueError):
        return [], dict(inputs)
    left = dict(inputs)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            named.update(left)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.name in left:
            value = left.pop(parameter.name)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[parameter.name] = value
        elif parameter.default is parameter.empty:
            given = ", ".join(sorted(map(repr, inputs))) or "none"
            raise Refusal(
                "missing_input",
                f"main() needs {parameter.name!r}, which is not among the inputs (given: {given}); "
                "add it to the node's inputs or give the parameter a default",
            )
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(parameter.default)
    return positional, named


def _article(name: str) -> str:
    return "nothing (None)" if name == "NoneType" else f"a value of type {name}"


def _outcome(kind: str, message: str, line: int | None = None, trace: str = "") -> dict[str, Any]:
    return {"kind": kind, "message": message[:_TEXT], "line": line, "traceback": trace[:_TRACE]}


def _memory(error: MemoryError, memory_mb: int) -> dict[str, Any]:
    line = _last_line(error)
    # The frames hold whatever filled the memory: let go of it before writing the report.
    if error.__traceback__ is not None:
        traceback.clear_frames(error.__traceback__)
    where = f" ({_place(line)})" if line else ""
    message = (
        f"the code needed more memory than its limit of {memory_mb} MB{where}; use less, or raise the limit"
    )
    return _outcome("memory_limit", message, line)


def _last_line(error: BaseException) -> int | None:
    line: int | None = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE:
            line = step.tb_lineno
        step = step.tb_next
    return line


def _place(line: int) -> str:
    source = linecache.getline(FILE, line).strip()
    return f"line {line}: `{source[:200]}`" if source else f"line {line}"


def _describe(error: BaseException) -> dict[str, Any]:
    kind = type(error).__name__
    text = _text(error)
    line = _last_line(error)
    if isinstance(error, SyntaxError) and error.filename == FILE:
        line = error.lineno
        text = str(error.msg)
    if isinstance(error, SystemExit):
        text = f"the code called sys.exit({text}); return a dict from main() instead"
    message = f"{kind}: {text}" if text else kind
    if line:
        message = f"{message[: _TEXT - 300]} ({_place(line)})"
    return _outcome(kind, message, line, _trace(error))


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - __str__ is the user's code as well
        text = "(its text cannot be read)"
    return text[:_TEXT].encode("utf-8", "replace").decode()


def _trace(error: BaseException) -> str:
    """The traceback with the user's frames only, causes and groups included."""
    try:
        summary = traceback.TracebackException.from_exception(error, limit=-_FRAMES, compact=True)
        _keep_user_frames(summary, 0)
        return "".join(summary.format()).rstrip("\n").encode("utf-8", "replace").decode()
    except BaseException:  # noqa: BLE001 - formatting calls into the user's exception
        return type(error).__name__


def _keep_user_frames(summary: traceback.TracebackException, depth: int) -> None:
    kept = [frame for frame in summary.stack if frame.filename == FILE]
    summary.stack = traceback.StackSummary.from_list(kept)
    if depth > _FRAMES:
        return
    others = [summary.__cause__, summary.__context__, *(getattr(summary, "exceptions", None) or [])]
    for other in others:
        if other is not None:
            _keep_user_frames(other, depth + 1)
