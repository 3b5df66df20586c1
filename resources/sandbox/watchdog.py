"""A process that outlives the service by a moment, to end workers that do not notice its death; started by path.

It reads `+pid` and `-pid` lines. When the input ends, it kills the processes that were not taken back.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Watch until the input ends."""
    watched: dict[int, int] = {}  # a pidfd cannot come to mean another process, as a number can
    for line in sys.stdin:
        pid = int(line[1:])
        if line[0] == "+":
            with contextlib.suppress(OSError):
                watched[pid] = os.pidfd_open(pid)
        elif pid in watched:
            os.close(watched.pop(pid))
    for descriptor in watched.values():
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)


if __name__ == "__main__":
    main()
