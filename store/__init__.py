"""SQL: tables, migrations, journal, payloads, repositories. Everything starts at `Store.open`."""

from __future__ import annotations

from interlace.store.store import Store

__all__ = ["Store"]
