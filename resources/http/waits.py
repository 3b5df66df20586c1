"""How long the other side asks us to wait."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

LONGEST = 7 * 86_400.0


def retry_after(value: str | None, *, now: float | None = None) -> float | None:
    """Seconds to wait by a Retry-After header: a number of seconds or an HTTP date.

    None where the header is absent or neither; a date in the past gives 0, and no wait is longer than a week.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return min(float(text), LONGEST)
    try:
        when = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, when - (time.time() if now is None else now)), LONGEST)
