"""Everything about a workflow that can be known before it runs: structure, references, types, variables, calls."""

from __future__ import annotations

from interlace.engine.validate.codes import CODES, Code
from interlace.engine.validate.validation import Validation, check, validate

__all__ = ["CODES", "Code", "Validation", "check", "validate"]
