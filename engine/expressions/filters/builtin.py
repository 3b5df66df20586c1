"""Filters that minijinja itself provides, run in an environment with limited fuel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import minijinja

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import MAX_RANGE, charge, check_size
from interlace.engine.expressions.values import described

FUEL: Final = 1_000_000
_CALL_COST: Final = 2000
NAMES: Final = {
    # name: (least arguments, most, names of arguments)
    "capitalize": (0, 0, ()),
    "title": (0, 0, ()),
    "indent": (0, 3, ("width", "first", "blank")),
    "wordwrap": (0, 3, ("width", "break_long_words", "wrapstring")),
    "lines": (0, 0, ()),
    "striptags": (0, 0, ()),
    "batch": (1, 2, ()),
    "slice": (1, 2, ()),
    "dictsort": (0, 0, ("by", "reverse", "case_sensitive")),
    "zip": (1, 8, ()),
    "chain": (1, 8, ()),
    "filesizeformat": (0, 1, ()),
    "pluralize": (0, 2, ()),
}
_BY_NAME_ONLY: Final = frozenset({"wordwrap"})
"""Filters that take their arguments by name only; we take them by position too."""
_environment: Final = minijinja.Environment(pycompat=False, undefined_behavior="strict", fuel=FUEL)
_evaluate: Final = _environment.eval_expr


def builtin(name: str) -> Callable[..., Any]:
    """Give one of minijinja's own filters as a function."""

    def run(value: Any, *arguments: Any, **options: Any) -> Any:
        if name in _BY_NAME_ONLY:
            options.update(zip(NAMES[name][2], arguments, strict=False))
            arguments = ()
        variables = {f"a{index}": argument for index, argument in enumerate(arguments)}
        variables.update(options)
        for argument in variables.values():
            if isinstance(argument, int) and abs(argument) > MAX_RANGE:
                raise ExpressionError(
                    f"the filter {name!r} takes at most {MAX_RANGE:,}", kind="expression_limit"
                )
        check_size(value)
        charge(_CALL_COST)
        if isinstance(value, str):
            charge(len(value) * 4)
        written = ", ".join([*(f"a{i}" for i in range(len(arguments))), *(f"{key}={key}" for key in options)])
        try:
            result = _evaluate(f"v|{name}({written})", v=value, **variables)
        except minijinja.TemplateError as error:
            raise ExpressionError(
                f"the filter {name!r} failed on {described(value)}: {error.detail or error.message}"
            ) from error
        return (
            [list(part) if isinstance(part, tuple) else part for part in result]
            if isinstance(result, list)
            else result
        )

    run.__name__ = name
    run.__doc__ = f"minijinja's {name}."
    return run
