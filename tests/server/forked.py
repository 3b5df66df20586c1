"""The `interlace` command in a process of its own that was forked from one which has loaded the modules already.

Loading them is most of what a short command does, and most of what a suite of hundreds of commands would do.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, TextIO

PRELOADED = (
    "interlace.server.cli.main",
    "interlace.server.cli.execute",
    "interlace.server.app",
    "tests.server.forked",
)

_ROOT = str(Path(__file__).parents[2])
if (
    _ROOT not in sys.path
):  # the forked process imports `tests` itself, which pytest's own importing does not need
    sys.path.append(_ROOT)

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(list(PRELOADED))


class Forked:
    """A running command, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> None:
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        self._process = _context.Process(
            target=_run,
            args=(list(arguments), str(folder), dict(environment), DupFd(out_end), DupFd(err_end)),
        )
        self._process.start()
        os.close(out_end)
        os.close(err_end)
        self.stdout: TextIO = os.fdopen(out, encoding="utf-8")
        self.stderr: TextIO = os.fdopen(err, encoding="utf-8")

    @property
    def pid(self) -> int:
        """Number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Exit code; negative the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("interlace", timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read all that it says, and wait for the end."""
        with ThreadPoolExecutor(2) as readers:
            texts = [readers.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                out, err = (text.result(timeout) for text in texts)
            except TimeoutError:
                self.kill()
                said = [text.result() for text in texts]
                raise subprocess.TimeoutExpired("interlace", timeout or 0.0, said[0], said[1]) from None
        self.wait(timeout)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal to the command alone."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _run(arguments: list[str], folder: str, environment: dict[str, str], out: Any, err: Any) -> None:
    """The command, in the forked process."""
    os.setsid()
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, end in ((1, out), (2, err)):
        descriptor = end.detach()
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(n, mode, encoding="utf-8") for n, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["interlace", *arguments]
    from interlace.server.cli.main import main

    main()
