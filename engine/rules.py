"""The operators of rules, by the comparison rules of expressions, and why a condition does not hold in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal, get_args

import re2

from interlace.engine.errors import NodeError
from interlace.engine.expressions import (
    Missing,
    Names,
    comparable,
    compile_value,
    described,
    equal,
    missing_error,
    ordering,
    to_text,
)
from interlace.engine.expressions import contains as contained

Operator = Literal[
    "==", "!=", "<", "<=", ">", ">=", "contains", "not contains", "starts with", "ends with", "matches", "in", "not in",
    "is empty", "is not empty", "exists", "between", "is true", "is false",
]  # fmt: skip
NO_RIGHT: Final = frozenset({"is empty", "is not empty", "exists", "is true", "is false"})
SEES_MISSING: Final = frozenset({"is empty", "is not empty", "exists"})
"""Operators for which a missing value is an answer, not an error."""
_SHOWN = 60
_PAIR = 2
