"""Finding tools, actions, tables and skills by what they are for."""

from interlace.agents.search.entries import Entry, entry_of
from interlace.agents.search.ranking import Finder, Found
from interlace.agents.search.vectors import Vectors

__all__ = ["Entry", "Finder", "Found", "Vectors", "entry_of"]
