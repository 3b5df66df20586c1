"""A process of its own that runs code in WebAssembly, one job after the other; started by path, never imported.

Jobs come as frames on standard input, answers go as frames to where standard output was; a frame is four bytes of
length and JSON. The process ends when its input ends, in the middle of a job as well.
"""

from __future__ import annotations

import json
import os
import queue
import struct
import threading
import time
from typing import Any

import eryx

_LENGTH = struct.Struct(">I")
_INTERPRETER_BYTES = 32 << 20
_NAME = "interlace.resources.sandbox.inside"

# Runs inside: put our modules where their imports look, then the user's code under the same harness as elsewhere.
_SCRIPT = """
import sys as _sys, types as _types
for _name, _source in {modules!r}:
    _module = _types.ModuleType(_name)
    _module.__path__ = []
    _sys.modules[_name] = _module
    exec(compile(_source, _name, "exec"), _module.__dict__)
from interlace.resources.sandbox.inside.harness import perform as _perform, wait_here as _wait
_meta, _body = await _perform({code!r}, {inputs!r}, memory_mb={memory_mb}, output_bytes={output_bytes}, wait=_wait)
result = {{"meta": _meta, "body": _body.decode()}}
"""


class _Capped:
    """Keeps the first bytes of a stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._data = bytearray()
        self._cut = False

    def __call__(self, chunk: bytes) -> None:
        room = self._cap - len(self._data)
        self._data += chunk[:room]
        self._cut = self._cut or len(chunk) > room

    def text(self) -> str:
        text = self._data.decode("utf-8", "replace")
        return f"{text}\n… cut after {self._cap} bytes" if self._cut else text


def _run(job: dict[str, Any]) -> dict[str, Any]:
    out, err = _Capped(job["stdout_bytes"]), _Capped(job["stdout_bytes"])
    limits = eryx.ResourceLimits(
        execution_timeout_ms=max(1, int(job["seconds"] * 1000)),
        max_memory_bytes=(job["memory_mb"] << 20) + _INTERPRETER_BYTES,
        max_callback_invocations=0,
    )
    script = _SCRIPT.format(
        **{name: job[name] for name in ("modules", "code", "memory_mb", "output_bytes")}
        | {"inputs": job["inputs"].encode()}
    )
    before = time.process_time()
    answer: dict[str, Any] = {"meta": None, "body": "", "fault": ""}
    try:
        done = eryx.Sandbox(resource_limits=limits, on_stdout=out, on_stderr=err).execute(script)
    except eryx.TimeoutError:
        answer["fault"] = "timeout"
    except MemoryError:
        answer["fault"] = "memory"
    except eryx.EryxError as error:
        # The end of the interpreter: out of memory inside, os._exit, a crash.
        answer["fault"] = str(error)[:2000]
    else:
        if isinstance(done.result, dict):
            answer |= {"meta": done.result.get("meta"), "body": done.result.get("body")}
    return answer | {"stdout": out.text(), "stderr": err.text(), "cpu": time.process_time() - before}


def _read_jobs(source: int, jobs: queue.SimpleQueue[bytes]) -> None:
    with os.fdopen(source, "rb") as file:
        while True:
            head = file.read(_LENGTH.size)
            if len(head) < _LENGTH.size:
                os._exit(0)
            jobs.put(file.read(*_LENGTH.unpack(head)))


def main() -> None:
    """Serve jobs until the input ends."""
    answers = os.dup(1)
    source = os.dup(0)
    # Code in WebAssembly may write to descriptors 1 and 2 directly; they lead nowhere.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(source, jobs), daemon=True).start()
    with os.fdopen(answers, "wb") as file:
        while True:
            answer = json.dumps(_run(json.loads(jobs.get()))).encode()
            file.write(_LENGTH.pack(len(answer)) + answer)
            file.flush()


if __name__ == "__main__":
    main()
