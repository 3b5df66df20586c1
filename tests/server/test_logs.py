"""What the log shows of an error."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest
import structlog

from interlace.server.logs import configure


class _Stream(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def _fail(token: str) -> None:
    raise ValueError(len(token))


@pytest.mark.parametrize("terminal", [False, True])
def test_a_traceback_shows_no_values(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    stream = _Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    configure()
    try:
        _fail("very-secret"[::-1])
    except ValueError:
        structlog.get_logger("test").exception("it failed")
    shown = stream.getvalue()
    assert "it failed" in shown
    assert "ValueError" in shown
    assert "very-secret"[::-1] not in shown
