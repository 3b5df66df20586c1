"""The process that waits inside the sandbox with the standard library loaded, and forks one child for each run.

Control channel (packets of JSON): the host sends `{"id"}` with three descriptors (job channel, stdout, stderr); back
come `{"id", "pid"}` with a pidfd once the child waits for its job, and `{"id", "exit", "cpu"}` when it ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import select
import socket
import struct
import sys
import types
from pathlib import Path
from typing import Any

from interlace.resources.sandbox.inside import confine
from interlace.resources.sandbox.inside.harness import execute

JOB = struct.Struct(">III")
BEGUN = b"\x01"
OUTCOME = struct.Struct(">IQ")
PACKET = 4096
CHANNEL = 3

ENVIRONMENT = {
    "PATH": "/usr/bin",
    "HOME": confine.HOME,
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - inside
    "PYTHONHASHSEED": "0",
}

WARM = """
abc array ast asyncio base64 binascii bisect calendar collections configparser contextlib copy csv ctypes
dataclasses datetime decimal difflib email.message enum fractions functools gzip hashlib heapq hmac html
html.parser io itertools json logging math operator os pathlib pprint queue random re secrets shutil sqlite3
statistics string struct tempfile textwrap threading time traceback types typing unicodedata urllib.parse uuid
xml.etree.ElementTree zipfile zlib zoneinfo
"""


def _warm_up() -> None:
    for name in WARM.split():
        try:
            importlib.import_module(name)
        except ImportError as error:
            # A distribution may be built without a C part (`_sqlite3`); anything else means that files are hidden.
            if not (error.name or "").startswith("_"):
                raise
    json.loads(json.dumps({"warm": [1, "two", None]}))
    gc.collect()
    gc.freeze()


def _address_space() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123 - one read at start
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


# Bound before any user code can replace parts of the module.
_encode = json.JSONEncoder().encode


class Zygote:
    """Forks a confined child for each request of the host."""

    def __init__(self, control: socket.socket, *, network: bool, paths: list[str]) -> None:
        self._control = control
        self._filter = confine.call_filter(network=network)
        self._paths = paths
        self._base = 0
        self._children: dict[int, tuple[int, int]] = {}  # pidfd: (id, pid)

    def serve(self) -> None:
        """Answer requests until the host closes the control channel."""
        _warm_up()
        self._base = _address_space()
        self._send({"ready": True})
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor != self._control.fileno():
                    poll.unregister(descriptor)
                    self._bury(descriptor)
                    continue
                packet, descriptors, _, _ = socket.recv_fds(self._control, PACKET, 3)
                if not packet:
                    os._exit(0)
                run = json.loads(packet)["id"]
                try:
                    pidfd = self._spawn(run, descriptors)
                except OSError as error:  # no process or descriptor to be had now; others still run
                    self._send({"id": run, "fault": str(error)})
                    continue
                poll.register(pidfd, select.POLLIN)

    def _send(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)

    def _bury(self, pidfd: int) -> None:
        run, pid = self._children.pop(pidfd)
        _, status, usage = os.wait4(pid, 0)
        os.close(pidfd)
        cpu = usage.ru_utime + usage.ru_stime
        self._send({"id": run, "exit": os.waitstatus_to_exitcode(status), "cpu": cpu})

    def _spawn(self, run: int, descriptors: list[int]) -> int:
        """Fork twice: the first child makes the namespaces, the second is process 1 in them. Raises OSError."""
        news, tell = os.pipe()
        first = os.fork()
        if first == 0:
            os.close(news)
            self._between(tell, descriptors)
        os.close(tell)
        for descriptor in descriptors:
            os.close(descriptor)
        with os.fdopen(news, "rb") as file:
            answer = json.loads(file.read() or b'{"fault": "the child ended at once"}')
        os.waitpid(first, 0)
        if "fault" in answer:
            raise OSError(answer["fault"])
        pidfd = os.pidfd_open(answer["pid"])
        self._children[pidfd] = (run, answer["pid"])
        self._send({"id": run, **answer}, (pidfd,))
        return pidfd

    def _between(self, tell: int, descriptors: list[int]) -> None:
        try:
            confine.enter_namespaces()
            pid = os.fork()
        except OSError as error:
            os.write(tell, json.dumps({"fault": str(error)}).encode())
            os._exit(1)
        if pid == 0:
            os.close(tell)
            self._child(descriptors)
        os.write(tell, json.dumps({"pid": pid}).encode())
        os._exit(0)

    def _child(self, descriptors: list[int]) -> None:
        """Be one run, from confinement to the outcome; never returns."""
        status = 70
        try:
            channel = self._settle(descriptors)
            confine.hide_files()
            confine.drop_rights()
            confine.limit_resources()
            confine.filter_calls(self._filter)
            self._run(channel)
            status = 0
        except BaseException as error:  # noqa: BLE001 - the user's code may have broken what this process runs on
            # Standard error is the run's own pipe: the host shows it beside the exit status.
            os.write(2, f"the run could not be finished: {error!r}\n".encode())
        finally:
            os._exit(status)

    def _settle(self, descriptors: list[int]) -> socket.socket:
        """Leave open only the null device as stdin, the run's own pipes, and its job channel as descriptor 3."""
        high = os.sysconf("SC_OPEN_MAX")
        job, out, err = (
            fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, confine.FILES) for descriptor in descriptors
        )
        os.dup2(job, CHANNEL, inheritable=False)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(CHANNEL + 1, high)
        self._control.detach()
        return socket.socket(fileno=CHANNEL)

    def _run(self, channel: socket.socket) -> None:
        head, code, inputs = _receive(channel)
        job = json.loads(head)
        confine.limit_run(address_space=self._base + job["memory_bytes"], cpu_seconds=job["cpu_seconds"])
        os.environ.clear()
        os.environ.update(ENVIRONMENT)
        sys.argv[:] = ["main.py"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        sys.path[:] = [*self._paths, *sys.path]
        # The standard streams of this process are text files over the run's pipes; line by line,
        # what was printed is known when the run is killed.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)
        channel.sendall(BEGUN)
        outcome, body = execute(
            code.decode("utf-8", "surrogatepass"),
            inputs,
            memory_mb=job["memory_mb"],
            output_bytes=job["output_bytes"],
        )
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            # The user may have closed or replaced them; what cannot be written is lost.
            with contextlib.suppress(Exception):
                stream.flush()  # type: ignore[union-attr]  # None without a stream is one of the failures
        meta = _encode(outcome).encode()
        channel.sendall(OUTCOME.pack(len(meta), len(body)) + meta)
        channel.sendall(body)


def _receive(channel: socket.socket) -> tuple[bytes, bytes, bytearray]:
    sizes = JOB.unpack(_read(channel, JOB.size))
    head, code, inputs = (_read(channel, size) for size in sizes)
    return bytes(head), bytes(code), inputs


def _read(channel: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = channel.recv_into(view)
        if not got:
            os._exit(0)  # the host gave the run up before it began
        view = view[got:]
    return data


def main() -> None:
    """Start from the settings on the command line: `{"uid", "network", "paths", "control", "home"}` as JSON."""
    settings = json.loads(sys.argv[1])
    if settings["uid"] is not None:
        confine.become(settings["uid"])
    confine.adopt_orphans()
    os.umask(0o022)
    with contextlib.suppress(OSError):  # a courtesy to the service: when memory ends, this goes first
        Path("/proc/self/oom_score_adj").write_text("500")
    sys.path.remove(settings["home"])
    control = socket.socket(fileno=settings["control"])
    Zygote(control, network=settings["network"], paths=settings["paths"]).serve()
