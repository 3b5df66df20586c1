"""Switching a SQLite file to write-ahead logging, while other processes may do the same."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any

BUSY_MILLISECONDS = 60_000
_PAUSE = 0.01


def log_ahead(execute: Callable[[str], Any]) -> None:
    """Set the journal mode; SQLite does not wait for others here by itself, whatever the time-out says.

    Raises:
        sqlite3.OperationalError: the file stays locked.
    """
    until = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return
