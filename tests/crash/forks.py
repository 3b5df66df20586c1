"""The fork server of `child`, as a test talks to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.crash.child import Case, as_line

_ROOT = Path(__file__).parents[2]
_SERVE = "from tests.crash.child import serve; serve()"


class Forks:
    """Runs one case after another, each in a process of its own."""

    def __init__(self, log: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INTERLACE_")}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", _SERVE], cwd=log.parent, text=True, start_new_session=True,
                env={**kept, "PYTHONPATH": str(_ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip

    @property
    def session(self) -> int:
        """The session of all its processes."""
        return self._process.pid

    def start(self, case: Case) -> int:
        """Begin a case; gives the number of its process."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{as_line(case)}\n")
        self._process.stdin.flush()
        return int(self._line())

    def end(self) -> int:
        """Wait until the case is over; gives its exit code, -9 when it was killed."""
        return int(self._line())

    def run(self, case: Case) -> int:
        """Do a whole case."""
        self.start(case)
        return self.end()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the fork server is gone"
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def result_of(case: Case) -> dict[str, Any]:
    """What a process that ended by itself has told."""
    failed = Path(f"{case.result}.failed")
    assert not failed.exists(), failed.read_text()
    result: dict[str, Any] = json.loads(Path(case.result).read_text())
    return result
