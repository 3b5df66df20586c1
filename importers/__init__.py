"""Converters from other products' files: text in, a document and a report out. Nothing runs, connects or is looked up."""

from __future__ import annotations

from interlace.importers.importing import FORMATS, import_text
from interlace.importers.report import LEVELS, Entry, Imported, Level, NotImported

__all__ = ["FORMATS", "LEVELS", "Entry", "Imported", "Level", "NotImported", "import_text"]
