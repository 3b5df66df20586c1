"""Everything that touches Prefect: the embedded server, the mirror, the host.

Importing this package does not import Prefect, which takes about a second; what needs it imports it when it starts.
"""

from __future__ import annotations

from interlace.flows.prefect.connection import (
    PrefectApi,
    PrefectConnection,
    PrefectError,
    PrefectRefused,
    PrefectUnavailable,
)
from interlace.flows.prefect.server import EmbeddedPrefect

__all__ = [
    "EmbeddedPrefect",
    "PrefectApi",
    "PrefectConnection",
    "PrefectError",
    "PrefectRefused",
    "PrefectUnavailable",
]
