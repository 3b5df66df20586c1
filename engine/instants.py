"""Instants of time given as text."""

from __future__ import annotations

from datetime import UTC, datetime

from interlace.engine.errors import ExpressionError


def instant(value: object) -> float:
    """Unix time of an ISO 8601 date-time; without a zone it is UTC. A number is Unix time already.

    Raises:
        ExpressionError: the value is neither.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    raise ExpressionError(
        f"{value!r} is no instant; write an ISO date-time such as 2026-12-01T09:00:00+01:00"
    )
