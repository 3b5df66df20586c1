"""JavaScript expressions, as n8n's fields hold them: a tokenizer and a parser to a small tree."""

from __future__ import annotations

from interlace.importers.javascript.parser import parse, parse_program
from interlace.importers.javascript.syntax import NotJavaScript

__all__ = ["NotJavaScript", "parse", "parse_program"]
