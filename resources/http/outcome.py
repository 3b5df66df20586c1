"""Which statuses are errors, and what the error says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus

from interlace.engine.errors import NodeError
from interlace.resources.http.message import HttpResponse
from interlace.resources.http.waits import retry_after

_ENTRY = re.compile(r"([1-5])xx|([1-5]\d\d)(?:\s*-\s*([1-5]\d\d))?", re.IGNORECASE)
_FIRST_ERROR = 400
_KNOWN = frozenset(map(int, HTTPStatus))


def statuses(entry: int | str) -> range:
    """The statuses that `404`, `2xx` or `400-404` stands for.

    Raises:
        ValueError: it is none of these.
    """
    found = _ENTRY.fullmatch(str(entry).strip())
    if found is None:
        raise ValueError(f"{entry!r} is no status; write 404, '2xx' or '400-404'")
    if found.group(1):
        return range(int(found.group(1)) * 100, int(found.group(1)) * 100 + 100)
    first = int(found.group(2))
    last = int(found.group(3) or first)
    if last < first:
        raise ValueError(f"{entry!r} counts backwards")
    return range(first, last + 1)


def accepts(ok: Sequence[int | str], status: int) -> bool:
    """Whether a status is no error. A list that names only statuses from 400 on adds to those below 400."""
    listed = [statuses(entry) for entry in ok]
    if any(status in entry for entry in listed):
        return True
    return status < _FIRST_ERROR and all(entry.start >= _FIRST_ERROR for entry in listed)


def check_status(response: HttpResponse, method: str, ok: Sequence[int | str] = ()) -> None:
    """Accept the status.

    Raises:
        NodeError: `http_<status>` with the beginning of the body, and with the wait that a Retry-After asks for.
    """
    status = response.status
    if status < _FIRST_ERROR and not ok:
        return
    if accepts(ok, status):
        return
    phrase = HTTPStatus(status).phrase if status in _KNOWN else ""
    said = response.excerpt()
    place = response.url.partition("?")[0]
    raise NodeError(
        f"{method} {place} answered {status} {phrase}".rstrip() + (f": {said}" if said else "."),
        kind=f"http_{status}",
        retry_after=retry_after(response.header("retry-after")),
    )
