"""One server a home: a file lock that ends with its process, however that ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from interlace.engine.errors import InterlaceError
from interlace.store.home import make_home

LOCK_FILE = "serve.lock"


class Taken(InterlaceError):  # noqa: N818 - the name says what it is
    """Another process holds the lock."""


class HomeLock:
    """Held while the block runs.

    Raises:
        Taken: another process holds it.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / LOCK_FILE
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        make_home(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            raise Taken(f"another process holds {str(self._path)!r}") from None
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_held(home: Path) -> bool:
    """Whether a process serves this home now."""
    if not (home / LOCK_FILE).exists():
        return False
    try:
        with HomeLock(home):
            return False
    except Taken:
        return True


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - only there

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415 - only there

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
