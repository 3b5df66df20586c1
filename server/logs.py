"""Structured logs on standard error: lines for people at a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(*, quiet: bool = False) -> None:
    """Set the log up once for the process; `quiet` shows warnings and worse only."""
    terminal = sys.stderr.isatty()
    renderer = structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info
            if not terminal
            else structlog.processors.StackInfoRenderer(),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING if quiet else logging.INFO),
        logger_factory=_to_stderr,
        cache_logger_on_first_use=False,
    )


def _to_stderr(*_arguments: object) -> structlog.PrintLogger:
    """Standard error as it is when something is logged, not as it was when the log was set up."""
    return structlog.PrintLogger(sys.stderr)
