"""Everything that touches Prefect: the embedded server, the mirror, the host.

Importing this package does not import Prefect, which takes seconds; what needs it imports it when it starts.
"""

from __future__ import annotations

from interlace.flows.prefect.connection import (
    PrefectApi,
    PrefectConnection,
    PrefectError,
    PrefectRefused,
    PrefectUnavailable,
)
from interlace.flows.prefect.deployments import Deployment, Deployments
from interlace.flows.prefect.host import Host
from interlace.flows.prefect.mirror import Mirror, MirrorRates
from interlace.flows.prefect.outcome import Outcome, Runs
from interlace.flows.prefect.recorder import TaskRecorder
from interlace.flows.prefect.records import LogLine, Mark, NodeRecord, RunRecord, RunSource
from interlace.flows.prefect.server import EmbeddedPrefect

__all__ = [
    "Deployment",
    "Deployments",
    "EmbeddedPrefect",
    "Host",
    "LogLine",
    "Mark",
    "Mirror",
    "MirrorRates",
    "NodeRecord",
    "Outcome",
    "PrefectApi",
    "PrefectConnection",
    "PrefectError",
    "PrefectRefused",
    "PrefectUnavailable",
    "RunRecord",
    "RunSource",
    "Runs",
    "TaskRecorder",
]
