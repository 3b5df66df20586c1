"""Turn how a run ended into a result or the right error."""

from __future__ import annotations

import gc
import json
import signal
from typing import Any

import orjson

from interlace.engine.errors import NodeTimeout
from interlace.resources.sandbox.contract import CodeError, CodeResult, Limits
from interlace.resources.sandbox.flight import Landing

_TEXT = 4_000
_TRACE = 16_000
_KIND = 100
_LARGE = 1_000_000


def judge(landing: Landing, limits: Limits) -> CodeResult:
    """The result of a run. Nothing of what the run says about itself is trusted beyond its type and size.

    Raises:
        NodeTimeout: when the wall time ran out.
        CodeError: for every other failure.
    """
    if landing.timed_out:
        raise NodeTimeout(f"the code ran longer than {limits.seconds:g} s and was stopped; {_tail(landing)}")
    if landing.overflow:
        raise _error(
            landing,
            "output_limit",
            f"the result is larger than the limit of {limits.output_mb:g} MB; return less, or raise the output limit",
        )
    if landing.meta is None:
        raise _error(landing, "killed", _death(landing, limits))
    if "kind" in landing.meta:
        raise failure(landing.meta, stdout=landing.stdout, stderr=landing.stderr)
    value = read_value(landing.body, wide=landing.meta.get("wide") is True)
    if value is None:
        raise _error(
            landing, "bad_result", "the result that came back is no JSON object; the code wrote over it"
        )
    return CodeResult(value=value, stdout=landing.stdout, stderr=landing.stderr, cpu_seconds=landing.end.cpu)


def read_value(body: bytes, *, wide: bool) -> dict[str, Any] | None:
    """The JSON object in `body`, None when there is none; `wide` keeps integers beyond 64 bits exact."""
    pause = len(body) > _LARGE and gc.isenabled()
    if pause:  # to collect while a million small objects come into being costs more than to make them
        gc.disable()
    try:
        value = json.loads(body) if wide else orjson.loads(body)
    except (ValueError, RecursionError):
        return None
    finally:
        if pause:
            gc.enable()
    return value if isinstance(value, dict) else None


def failure(meta: dict[str, Any], *, stdout: str, stderr: str) -> CodeError:
    """The error that the outcome of a run describes."""
    line = meta.get("line")
    kind = str(meta.get("kind"))[:_KIND]
    return CodeError(
        str(meta.get("message"))[:_TEXT],
        kind=kind if kind.isidentifier() else "Exception",
        line=line if isinstance(line, int) else None,
        traceback=str(meta.get("traceback", ""))[:_TRACE],
        stdout=stdout,
        stderr=stderr,
    )


def _error(landing: Landing, kind: str, message: str) -> CodeError:
    return CodeError(message, kind=kind, stdout=landing.stdout, stderr=landing.stderr)


def _death(landing: Landing, limits: Limits) -> str:
    code = landing.end.exit
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        what = f"the process of the code died of {name} before main() returned"
        if landing.end.cpu > limits.seconds:
            what = "the code used more processor time than its limit"
    else:
        what = f"the process of the code ended (exit status {code}) before main() returned"
    said = landing.stderr.strip().splitlines()
    return (
        f"{what}; {said[-1][:300]}"
        if said
        else f"{what}; look for os._exit, crashes in C code, or too much memory"
    )


def _tail(landing: Landing) -> str:
    lines = landing.stdout.strip().splitlines()
    last = f"the last line it printed: {lines[-1][:200]!r}" if lines else "it had printed nothing"
    return f"{last}; make it faster or raise the time limit"
