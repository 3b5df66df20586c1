"""Structured logs on standard error: lines for people at a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(*, quiet: bool = False) -> None:
    """Set the log up once for the process; `quiet` shows warnings and worse only."""
    terminal = sys.stderr.isatty()
    renderer = _for_people() if terminal else structlog.processors.JSONRenderer()
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


def _for_people() -> structlog.dev.ConsoleRenderer:
    """Lines whose tracebacks show no values: the default prints the locals of frames, secrets among them."""
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def _to_stderr(*_arguments: object) -> structlog.PrintLogger:
    """Standard error as it is when something is logged, not as it was when the log was set up."""
    return structlog.PrintLogger(sys.stderr)
