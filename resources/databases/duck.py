"""DuckDB through processes of its own, each doing one job at a time: they are killed when the time is over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson

from interlace.engine.errors import NodeError
from interlace.resources.databases.duck_worker import MAX_FRAME, PROCESS_MB
from interlace.resources.databases.faults import duckdb_fault, unknown_outcome
from interlace.resources.databases.flight import Flight
from interlace.resources.databases.parameters import Bound
from interlace.resources.databases.pool import Pool
from interlace.resources.databases.result import Collector, WriteResult

T = TypeVar("T")
Mode = Literal["ro", "rw", "rwc"]

_MODULE = "interlace.resources.databases.duck_worker"
_BUSY_S = 5.0
_WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE_INTO")
_DDL = (*_WRITES, "CREATE", "ALTER", "DROP")
_LARGE = 2 * MAX_FRAME


class Worker:
    """One process. `idle` says whether its last job is over."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._end: asyncio.Task[None] | None = None
        self.idle = True

    @classmethod
    async def start(cls) -> Worker:
        """Start a process and wait until it has loaded DuckDB.

        Raises:
            NodeError: kind `connection`: it does not start.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", _MODULE, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=_environment(), start_new_session=True,
        )  # fmt: skip
        worker = cls(process)
        try:
            await worker._receive()
        except NodeError:
            await worker.end()
            raise NodeError(
                "DuckDB does not start on this machine.", kind="connection", retryable=False
            ) from None
        except BaseException:
            await worker.end()
            raise
        return worker

    @property
    def alive(self) -> bool:
        """Whether the process can take another job."""
        return self.idle and self._end is None and self._process.returncode is None

    async def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a frame and wait for the next one.

        Raises:
            NodeError: what went wrong with the job; the process ended.
        """
        assert self._process.stdin is not None
        self.idle = False
        content = orjson.dumps(message)
        with contextlib.suppress(ConnectionError):  # said by the answer that does not come
            self._process.stdin.write(struct.pack(">I", len(content)) + content)
            await self._process.stdin.drain()
        return await self._receive()

    async def read(self, path: Path, bound: Bound, collector: Collector, flight: Flight) -> None:
        """Fill the collector from one SELECT on a file that is opened for reading only."""
        with _named(path):
            opened = await self.ask(_job("read", path, "ro", [bound], flight.seconds))
            columns = opened["columns"]
            kinds = [kind for _, kind in columns]
            collector.describe([name for name, _ in columns], kinds, frozenset(kinds))
            while wanted := collector.wanted():
                frame = await self.ask({"more": wanted})
                rows = frame["rows"]
                await flight.deliver(collector.take(rows, len(rows) + bool(frame["done"])))
                if frame["cut"]:
                    collector.truncated = collector.done = True
            await self.ask({"more": 0})

    async def write(
        self, path: Path, statements: Sequence[Bound], collector: Collector, flight: Flight, *,
        mode: Mode, returns: bool,
    ) -> WriteResult:  # fmt: skip
        """Do the statements in one transaction; rows of RETURNING go to the collector."""
        job = _job("write", path, mode, statements, flight.seconds)
        allowed = _DDL if mode == "rwc" else _WRITES
        with _named(path):
            made = await self.ask(
                job | {"allowed": allowed, "returns": returns, "max_rows": collector.max_rows}
            )
            flight.enter_commit()
            try:
                await self.ask({"commit": True})
            except NodeError as error:
                raise (unknown_outcome(error) if error.kind == "memory_limit" else error) from None
        if made["columns"]:
            kinds = [kind for _, kind in made["columns"]]
            collector.describe([name for name, _ in made["columns"]], kinds, frozenset(kinds))
            collector.take(made["rows"], len(made["rows"]) + 1)
            collector.truncated |= bool(made["cut"])
        return WriteResult(
            row_count=made["count"],
            rows=collector.rows,
            columns=collector.columns,
            truncated=collector.truncated,
        )

    async def look_up(self, path: Path, sql: str, values: Sequence[object]) -> list[dict[str, object]]:
        """Rows of the platform's own question about the schema."""
        with _named(path):
            made = await self.ask(_job("look", path, "ro", [Bound(sql, tuple(values), sql, ())], _BUSY_S))
            await self._receive()
        found: list[dict[str, object]] = made["found"]
        return found

    def end(self) -> asyncio.Task[None]:
        """End the process at once, whatever it does; the task is over when nothing of it is left."""
        if self._end is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            self._end = asyncio.get_running_loop().create_task(self._bury())
        return self._end

    async def _bury(self) -> None:
        await self._process.wait()
        self._process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - its pipes have no other end

    async def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            (length,) = struct.unpack(">I", await self._process.stdout.readexactly(4))
            content = await self._process.stdout.readexactly(min(length, _LARGE))
        except asyncio.IncompleteReadError:
            raise NodeError(
                f"The statement ended DuckDB's process: it needs more memory than {PROCESS_MB:,} MB.",
                kind="memory_limit", retryable=False,
            ) from None  # fmt: skip
        found: dict[str, Any] = orjson.loads(content)
        self.idle = bool(found.get("over") or found.get("error") or found.get("ready"))
        if "error" in found:
            raise duckdb_fault(str(found["error"]), str(found["message"]))
        return found


class Workers:
    """The processes: at most `size` at work, those that rest are kept for a while."""

    def __init__(self, size: int) -> None:
        self._pool: Pool[Worker] = Pool(size, self._let_go)
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self, work: Callable[[Worker], Awaitable[T]]) -> T:
        """Do a job with a process; one whose job did not come to its end is killed."""
        async with self._pool:
            worker = await self._take()
            try:
                return await work(worker)
            finally:
                if worker.alive:
                    self._pool.put(worker)
                else:
                    self._let_go(worker)

    async def close(self) -> None:
        """End the processes that rest; those at work end when their job does."""
        self._pool.close()
        await asyncio.gather(*self._ending)

    async def _take(self) -> Worker:
        while (resting := self._pool.take()) is not None:
            if resting.alive:
                return resting
            self._let_go(resting)
        return await Worker.start()

    def _let_go(self, worker: Worker) -> None:
        task = worker.end()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _job(kind: str, path: Path, mode: Mode, statements: Sequence[Bound], seconds: float) -> dict[str, Any]:
    return {
        "kind": kind, "path": str(path), "mode": mode, "busy": min(_BUSY_S, seconds),
        "statements": [[bound.sql, list(bound.values)] for bound in statements],
    }  # fmt: skip


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file, and not where it is."""
    try:
        yield
    except NodeError as error:
        if str(path) in error.message:
            error.message = error.message.replace(str(path), path.name)
            error.args = (error.message,)
        raise


def _environment() -> dict[str, str]:
    """No setting and no secret of this process."""
    kept = {
        name: os.environ[name] for name in ("SYSTEMROOT", "PYTHONDONTWRITEBYTECODE") if name in os.environ
    }
    return {
        **kept,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "TZ": "UTC",
    }
