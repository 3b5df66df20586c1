"""How a connection can fail.

WireError
├── ConnectError     nobody answers, or not as asked (TLS)
├── SilenceError     nothing happened for too long
├── MalformedError   the request cannot be put on the wire
└── BrokenError      the other side left, or does not speak HTTP
    └── SendError    it takes no more
"""

from __future__ import annotations


class WireError(Exception):
    """The connection failed."""


class ConnectError(WireError):
    """Nobody answers there, or not as asked."""


class SilenceError(WireError):
    """Nothing happened for too long."""


class MalformedError(WireError):
    """The request cannot be put on the wire."""


class BrokenError(WireError):
    """The other side left, or does not speak HTTP."""


class SendError(BrokenError):
    """The other side takes no more."""
