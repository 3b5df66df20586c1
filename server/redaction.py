"""Lines of the log without what must not stand in them: by the name of a field, and by the shape of a text.

A net for accidents: nothing that is known to be secret is logged in the first place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from interlace.engine import origin

MASK: Final = "•••"
_NAMES: Final = re.compile(
    r"(?i)(^|[_-])(authorization|cookie|password|passwd|secret|token|api[_-]?key|credential|private[_-]?key)s?($|[_-])"
)
_SHAPES: Final = re.compile(
    r"il_[a-z0-9]{10}_[\w-]{20,}"  # our own keys
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}|(?<=[Bb]asic )[\w+/=]{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r"|\bsk-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abposr]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bwhsec_[\w+/=]{16,}|\bAIza[\w-]{30,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # user and password in an address
    r"|(?<=[?&]token=)[\w-]{16,}|(?<=/invitations/)[\w-]{32,}|(?<=/hooks/)[\w-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----",
    re.DOTALL,
)
_DEPTH: Final = 6


def redacted(value: Any, depth: int = 0) -> Any:
    """A value with what looks secret masked, in lists and objects too."""
    if isinstance(value, str):
        return _SHAPES.sub(MASK, value)
    if depth >= _DEPTH:
        return _SHAPES.sub(MASK, str(value))
    if isinstance(value, Mapping):
        return {k: MASK if _is_secret(k, v) else redacted(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redacted(item, depth + 1) for item in value]
    return value


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A processor of structlog: the line with secrets masked."""
    for name, value in event.items():
        event[name] = MASK if _is_secret(name, value) else redacted(value)
    return event


def add_origin(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A processor of structlog: run, node and attempt that the line belongs to, and its place in a trace."""
    found = origin.current.get()
    if found is None:
        return event
    event.setdefault("run_id", found.run_id)
    if found.path:
        event.setdefault("node", found.path)
        event.setdefault("attempt", found.attempt)
    if found.span is not None:
        event.setdefault("trace_id", found.span.trace_id)
        event.setdefault("span_id", found.span.span_id)
    return event


def _is_secret(name: Any, value: Any) -> bool:
    """Whether a field's name says that its value is secret; numbers, as of tokens used, are none."""
    return (
        isinstance(name, str)
        and isinstance(value, (str, bytes))
        and bool(value)
        and _NAMES.search(name) is not None
    )
