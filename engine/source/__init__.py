"""Workflow documents as text: `load` reads YAML and JSON, `dump` writes them."""

from __future__ import annotations

from interlace.engine.source.loading import Source, load, load_file
from interlace.engine.source.writing import dump

__all__ = ["Source", "dump", "load", "load_file"]
