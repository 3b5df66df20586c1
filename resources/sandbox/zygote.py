"""The host's side of one zygote: start it inside bubblewrap, ask it for children, hear of their end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlace.resources.sandbox.profile import HOME, boot, source_files

# Owns nothing on any usual system, and lies inside the range that user namespaces of containers map.
RUN_UID = 65533
START_SECONDS = 20.0
_PACKET = 4096
_PIPE_BYTES = 1 << 18


class ZygoteFault(Exception):  # noqa: N818 - says what it is
    """The zygote could not be started or has ended."""


@dataclass(frozen=True, slots=True)
class End:
    """How a child ended: its exit code (negative for a signal) and its processor seconds."""

    exit: int
    cpu: float


@dataclass(slots=True)
class Child:
    """A confined process that waits for its job, with the host's ends of its channels."""

    job: socket.socket
    out: int
    err: int
    pidfd: int = -1
    ended: asyncio.Future[End] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def kill(self) -> None:
        """End the process and all it started, at once; harmless when it is gone."""
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Give the descriptors back."""
        self.job.close()
        for descriptor in (self.out, self.err, self.pidfd):
            if descriptor >= 0:
                os.close(descriptor)
        self.out = self.err = self.pidfd = -1


class Zygote:
    """A running zygote, bound to the event loop that started it."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._init = -1  # pidfd of process 1 inside: when it dies, the kernel ends all the others first
        self._control = control
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._waiting: dict[int, tuple[Child, asyncio.Future[None]]] = {}
        self._running: dict[int, Child] = {}
        self.alive = True
        self._loop.add_reader(control.fileno(), self.notice)

    @classmethod
    async def start(
        cls, line: list[str], *, as_root: bool, network: bool, packages: Mapping[str, Path]
    ) -> Zygote:
        """Start the process and wait until its libraries are loaded.

        Raises:
            ZygoteFault: with what bubblewrap or the interpreter said.
        """
        settings: dict[str, object] = {
            "uid": RUN_UID if as_root else None,
            "network": network,
            "paths": [f"/packages/{name}" for name in packages],
            "home": HOME,
        }
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        here.setblocking(False)
        info, far_info = os.pipe()
        try:
            process = await _launch(line, {**settings, "control": there.fileno()}, info=far_info)
        except BaseException:
            here.close()
            os.close(info)
            raise
        finally:
            there.close()
            os.close(far_info)
        zygote = cls(process, here)
        try:
            await asyncio.wait_for(asyncio.shield(zygote._ready), START_SECONDS)
            zygote._init = os.pidfd_open(json.loads(os.read(info, _PACKET))["child-pid"])
        except (ZygoteFault, TimeoutError, OSError) as error:
            said = await zygote._last_words()
            await zygote.close()
            raise ZygoteFault(said or str(error) or f"not ready after {START_SECONDS:g} s") from None
        except asyncio.CancelledError:
            zygote.stop()
            raise
        finally:
            os.close(info)
        return zygote

    async def child(self) -> Child:
        """A fresh confined process that waits for its job. Raises ZygoteFault."""
        if self._loop is not asyncio.get_running_loop():
            raise RuntimeError("this sandbox belongs to another event loop; make one for each loop")
        self.notice()
        if not self.alive:
            raise ZygoteFault("the zygote has ended")
        number = next(self._numbers)
        started: asyncio.Future[None] = self._loop.create_future()
        try:
            child, far = _channels()
        except OSError as error:
            raise ZygoteFault(f"no channel for the run: {error}") from error
        try:
            socket.send_fds(self._control, [json.dumps({"id": number}).encode()], far)
        except OSError as error:
            child.close()
            raise ZygoteFault(f"the zygote does not take requests: {error}") from error
        finally:
            for descriptor in far:
                os.close(descriptor)
        self._waiting[number] = (child, started)
        try:
            await started
        except BaseException:
            # A cancelled wait leaves a child that is still to come: `_meet` ends it.
            self._waiting.pop(number, None)
            child.kill()
            child.close()
            raise
        return child

    def stop(self) -> None:
        """End the zygote and every child of it, now."""
        if self._init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self._lost("the sandbox was closed")

    async def close(self) -> None:
        """End it and wait until no process of it is left."""
        self.stop()
        await self._process.wait()
        if self._init >= 0:
            init, self._init = self._init, -1
            gone = asyncio.Event()
            self._loop.add_reader(init, gone.set)
            await gone.wait()
            self._loop.remove_reader(init)
            os.close(init)

    def _lost(self, reason: str) -> None:
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        fault = ZygoteFault(reason)
        if not self._ready.done():
            self._ready.set_exception(fault)
            self._ready.exception()  # seen, also when nobody waits any more
        for _, started in self._waiting.values():
            if not started.done():
                started.set_exception(fault)
        for child in self._running.values():
            child.kill()
            if not child.ended.done():
                child.ended.set_result(End(-signal.SIGKILL, 0.0))
        self._waiting.clear()
        self._running.clear()

    def notice(self) -> None:
        """Take all packets that wait on the control channel, and see whether the zygote has ended."""
        while self.alive:
            try:
                packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, 1)
            except BlockingIOError:
                return
            except OSError as error:
                self._lost(f"the zygote's channel broke: {error}")
                return
            if not packet:
                self._lost("the zygote ended unexpectedly")
                return
            self._take(json.loads(packet), descriptors)

    def _take(self, message: dict[str, object], descriptors: list[int]) -> None:
        number = message.get("id")
        if "ready" in message and not self._ready.done():
            self._ready.set_result(None)
        elif isinstance(number, int) and "exit" in message:
            child = self._running.pop(number, None)
            if child is not None and not child.ended.done():
                child.ended.set_result(End(int(str(message["exit"])), float(str(message["cpu"]))))
        elif isinstance(number, int):
            self._meet(number, message, descriptors)

    def _meet(self, number: int, message: dict[str, object], descriptors: list[int]) -> None:
        child, started = self._waiting.pop(number, (None, None))
        if child is None or started is None or started.done():
            for descriptor in descriptors:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                os.close(descriptor)
        elif not descriptors:
            started.set_exception(ZygoteFault(f"no process for the run: {message.get('fault')}"))
        elif not _may_end(descriptors[0]):
            os.close(descriptors[0])
            started.set_exception(ZygoteFault("this process may not end the run's process; give it CAP_KILL"))
        else:
            child.pidfd = descriptors[0]
            self._running[number] = child
            started.set_result(None)

    async def _last_words(self) -> str:
        assert self._process.stderr is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        said = b""
        with contextlib.suppress(TimeoutError):  # somebody else may hold its end open
            async with asyncio.timeout(2):
                said = await self._process.stderr.read(4000)
        return said.decode("utf-8", "replace").strip()


def _channels() -> tuple[Child, list[int]]:
    """A child's job channel, stdout and stderr: our ends, and the descriptors of the other ends. Raises OSError."""
    import fcntl  # noqa: PLC0415 - not on Windows, where only this engine is missing

    with contextlib.ExitStack() as undo:
        job, far_job = (
            undo.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        )
        pipes: list[int] = []
        for _ in range(2):
            for descriptor in os.pipe():
                pipes.append(descriptor)
                undo.callback(os.close, descriptor)
        out, far_out, err, far_err = pipes
        job.setblocking(False)
        os.set_blocking(out, False)
        os.set_blocking(err, False)
        with contextlib.suppress(OSError):  # the user's share of pipe memory may be used up
            fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        undo.pop_all()
    return Child(job, out, err), [far_job.detach(), far_out, far_err]


def _may_end(pidfd: int) -> bool:
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except PermissionError:
        return False
    except ProcessLookupError:
        return True
    return True


async def _launch(line: list[str], settings: dict[str, object], *, info: int) -> asyncio.subprocess.Process:
    """Start bubblewrap with the zygote in it; `info` is where it tells its process 1. Raises ZygoteFault."""
    files: list[int] = []
    # Root that cannot set up mounts as root lets another user do it in a user namespace: no run is ever root's.
    demote = os.getuid() == 0 and settings["uid"] is None
    demotion: dict[str, Any] = {"user": RUN_UID, "group": RUN_UID, "extra_groups": []} if demote else {}
    try:
        line = [*line, "--info-fd", str(info), *source_files(files), "--remount-ro", "/", "--"]
        return await asyncio.create_subprocess_exec(
            *line,
            *boot(json.dumps(settings)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=[int(str(settings["control"])), info, *files],
            env={},
            cwd="/",
            start_new_session=True,
            **demotion,
        )
    except OSError as error:
        raise ZygoteFault(f"{line[0]} cannot be started: {error}") from error
    finally:
        for descriptor in files:
            os.close(descriptor)
