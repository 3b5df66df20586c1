"""JavaScript programs as Python: what cannot be translated for certain is refused, never guessed."""

from __future__ import annotations

from interlace.importers.javascript.python.writing import Host, NotPython, read, translated, with_main

__all__ = ["Host", "NotPython", "read", "translated", "with_main"]
