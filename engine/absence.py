"""Values that may be missing, wherever in the expression the missing part stands."""

from __future__ import annotations

from typing import Any

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import Compiled, Missing, Names


def value_or_missing(compiled: Compiled, names: Names) -> Any | Missing:
    """The value; `Missing` also where only a part of it is missing (`Hello {{ ask.form.name }}`).

    Raises:
        ExpressionError: the expression failed for another reason.
    """
    try:
        return compiled.evaluate_or_missing(names)
    except ExpressionError as error:
        if error.kind == "missing":
            return Missing(error.message)
        raise


def value_or_null(compiled: Compiled, names: Names) -> Any:
    """The value, null where it or a part of it is missing."""
    value = value_or_missing(compiled, names)
    return None if isinstance(value, Missing) else value
