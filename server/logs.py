"""Structured logs on standard error: lines for people at a terminal, JSON elsewhere; those of libraries as well."""

from __future__ import annotations

import logging
import sys
from typing import Any, Final, Literal

import structlog

from interlace.server.redaction import add_origin, redact

Format = Literal["auto", "json", "text"]
Level = Literal["debug", "info", "warning", "error"]
_MARK: Final = "interlace"
_QUIET: Final = {"httpx2": logging.WARNING, "asyncio": logging.WARNING}


def configure(*, quiet: bool = False, style: Format = "auto", level: Level = "info") -> None:
    """Set the log up once for the process; `quiet` shows warnings and worse only."""
    people = sys.stderr.isatty() if style == "auto" else style == "text"
    least = logging.WARNING if quiet else getattr(logging, level.upper())
    renderer: Any = _for_people() if people else structlog.processors.JSONRenderer(default=str)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        add_origin,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,  # its tracebacks show no values of variables
        redact,
    ]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=_to_stderr,
        cache_logger_on_first_use=False,
    )
    _take_over(shared, renderer, max(least, logging.WARNING) if quiet else least)


def _take_over(shared: list[Any], renderer: Any, least: int) -> None:
    """Write what libraries log in the same way."""
    root = logging.getLogger()
    for handler in [found for found in root.handlers if found.get_name() == _MARK]:
        root.removeHandler(handler)
    handler = _Stderr()
    handler.set_name(_MARK)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, renderer],
        )
    )
    root.addHandler(handler)
    root.setLevel(max(least, logging.WARNING) if least >= logging.INFO else least)
    for name, at_least in _QUIET.items():
        logging.getLogger(name).setLevel(at_least)


class _Stderr(logging.StreamHandler[Any]):
    """Standard error as it is when something is logged, not as it was when the log was set up."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        """Where lines go."""
        return sys.stderr

    @stream.setter
    def stream(self, _value: Any) -> None:
        return


def _for_people() -> structlog.dev.ConsoleRenderer:
    """Lines whose tracebacks show no values: the default prints the locals of frames, secrets among them."""
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def _to_stderr(*_arguments: object) -> structlog.PrintLogger:
    """Standard error as it is when something is logged, not as it was when the log was set up."""
    return structlog.PrintLogger(sys.stderr)
