"""UUID version 7 as text: ids that sort by the time they were made, so that a listing needs no second index."""

from __future__ import annotations

import os
import threading
import time

_lock = threading.Lock()  # guards _last
_last = {True: 0, False: 0}


def uuid7(at: float | None = None) -> str:
    """A new id; later ones of this process sort after earlier ones, also within a millisecond.

    Args:
        at: Unix time by a clock that several machines share, so that their ids sort together; by default this machine's.
    """
    given = at is not None
    nanoseconds = time.time_ns() if at is None else int(at * 1e9)
    with _lock:
        # 48 bits of milliseconds and 12 bits of their fraction, as RFC 9562 section 6.2 method 3 has it.
        ticks = _last[given] = max(nanoseconds * 4096 // 1_000_000, _last[given] + 1)
    value = (ticks >> 12) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64 | 0x2 << 62
    text = f"{value | int.from_bytes(os.urandom(8), 'big') >> 2:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
