"""What a call brought."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorResult:
    """The answer of an API.

    `headers` have lower-case names; `body` is JSON, text, a file value or null, after the action's extraction;
    `elapsed_ms` covers retries and pages. Where it was cut for an agent, `truncated` is set and `ref` names the file
    that holds the whole body.
    """

    status_code: int
    headers: dict[str, str | list[str]] = field(default_factory=dict)
    body: Any = None
    url: str = ""
    elapsed_ms: float = 0.0
    truncated: bool = False
    ref: str | None = None
    pages: int = 1
    has_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """What is kept of a call for the audit: never a secret, never a body."""

    connector: str
    connector_id: str
    org_id: str | None
    action: str
    method: str
    url: str
    status: int | None
    error: str | None
    attempts: int
    elapsed_ms: float
