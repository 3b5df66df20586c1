"""One run seen from the host: hand the job over, read what comes back, hold it to its limits."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from interlace.resources.sandbox.contract import JsonValue, Limits
from interlace.resources.sandbox.inside.values import to_json
from interlace.resources.sandbox.zygote import Child, End

JOB = struct.Struct(">III")
OUTCOME = struct.Struct(">IQ")
_BEGUN = 1  # the byte that comes before the outcome, when the code begins
_HEAD = _BEGUN + OUTCOME.size
_META_BYTES = 64_000
_CHUNK = 1 << 18
# After its cap a stream is read only so often and thrown away: the writer is slowed, not this process.
_PAUSE = 0.005
_GRACE = 10.0  # a killed process is gone at once; on a starved machine the news may take longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """How a run ended. `meta` is None when the process ended without an outcome of its own.

    `begun` is False when the process ended before the user's code began.
    """

    begun: bool
    meta: dict[str, Any] | None
    body: bytes
    stdout: str
    stderr: str
    end: End
    timed_out: bool = False
    overflow: bool = False


def encode(inputs: Mapping[str, JsonValue]) -> bytes:
    """The inputs as a JSON object. Raises ValueError with the path of what has no JSON form."""
    with contextlib.suppress(TypeError):
        data = orjson.dumps(inputs)
        # It writes NaN as null; without a null there was none.
        if b"null" not in data:
            return data
    return to_json(dict(inputs))[0]


class _Stream:
    """Reads one output stream up to a cap."""

    def __init__(self, descriptor: int, cap: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._cap = cap
        self._data = bytearray()
        self._cut = False
        self._again: asyncio.TimerHandle | None = None
        self._loop.add_reader(descriptor, self._readable)

    def _readable(self) -> None:
        if not self._take():
            self._loop.remove_reader(self._descriptor)
        elif self._cut:
            self._loop.remove_reader(self._descriptor)
            self._again = self._loop.call_later(_PAUSE, self._resume)

    def _resume(self) -> None:
        self._again = None
        self._loop.add_reader(self._descriptor, self._readable)

    def _take(self) -> bool:
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return True
        room = self._cap - len(self._data)
        self._data += chunk[:room]
        self._cut = self._cut or len(chunk) > room
        return bool(chunk)

    def finish(self) -> str:
        """Take what is left without waiting, and stop."""
        if self._again is not None:
            self._again.cancel()
        self._loop.remove_reader(self._descriptor)
        while not self._cut:
            before = len(self._data)
            if not self._take() or len(self._data) == before:
                break
        text = self._data.decode("utf-8", "replace")
        return f"{text}\n… cut after {self._cap} bytes" if self._cut else text


class _Answer:
    """Collects the outcome frame; anything the user's code writes instead is just a broken answer of its own run."""

    def __init__(self, child: Child, body_cap: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = child.job
        self._cap = body_cap
        self._data = bytearray()
        self._wanted = _HEAD
        self._sizes: tuple[int, int] | None = None
        self.overflow = False
        self.done: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(child.job.fileno(), self._readable)

    def _readable(self) -> None:
        try:
            chunk = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._data += chunk
        if self._sizes is None and len(self._data) >= _HEAD:
            meta, body = OUTCOME.unpack_from(self._data, _BEGUN)
            self._sizes = (meta, body)
            self._wanted = _HEAD + meta + body
            self.overflow = meta > _META_BYTES or body > self._cap
        if not chunk or self.overflow or len(self._data) >= self._wanted:
            self.stop()

    def stop(self) -> None:
        self._loop.remove_reader(self._socket.fileno())
        if not self.done.done():
            self.done.set_result(None)

    @property
    def begun(self) -> bool:
        return bool(self._data)

    def read(self) -> tuple[dict[str, Any] | None, bytes]:
        """The outcome and the result's bytes; None when no whole, well-formed outcome came."""
        if self._sizes is None or self.overflow or len(self._data) < self._wanted:
            return None, b""
        meta_end = _HEAD + self._sizes[0]
        try:
            meta = orjson.loads(self._data[_HEAD:meta_end])
        except orjson.JSONDecodeError:
            return None, b""
        return (meta, bytes(self._data[meta_end : self._wanted])) if isinstance(meta, dict) else (None, b"")


async def fly(child: Child, code: str, inputs: bytes, limits: Limits) -> Landing:
    """Run the job in the child and end the child, whatever happens, also when this task is cancelled."""
    cap = limits.stdout_kb * 1000
    answer = _Answer(child, limits.output_bytes)
    out, err = _Stream(child.out, cap), _Stream(child.err, cap)
    timed_out = False
    try:
        try:
            async with asyncio.timeout(limits.seconds):
                # A child that dies early breaks the hand-over; its end says why.
                with contextlib.suppress(OSError):
                    await _hand_over(child, code, inputs, limits)
                await answer.done
        except TimeoutError:
            timed_out = True
        child.kill()
        await asyncio.wait({child.ended}, timeout=_GRACE)
        end = child.ended.result() if child.ended.done() else End(-signal.SIGKILL, 0.0)
        meta, body = answer.read()
        return Landing(
            begun=answer.begun,
            meta=meta,
            body=body,
            stdout=out.finish(),
            stderr=err.finish(),
            end=end,
            timed_out=timed_out,
            overflow=answer.overflow,
        )
    finally:
        child.kill()
        answer.stop()
        out.finish()
        err.finish()
        child.close()


async def _hand_over(child: Child, code: str, inputs: bytes, limits: Limits) -> None:
    job = {
        "memory_mb": limits.memory_mb,
        "memory_bytes": limits.memory_mb << 20,
        "output_bytes": limits.output_bytes,
        "cpu_seconds": int(limits.seconds * (os.cpu_count() or 1)) + 5,
    }
    head, text = orjson.dumps(job), code.encode("utf-8", "surrogatepass")
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(child.job, JOB.pack(len(head), len(text), len(inputs)) + head + text)
    await loop.sock_sendall(child.job, inputs)
