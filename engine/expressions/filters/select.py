"""Filters that apply a test or another filter to each item of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.filters.lists import field_getter, items_of, required
from interlace.engine.expressions.predicates import ALIASES, NULL_SAFE, PREDICATES
from interlace.engine.expressions.values import Missing
from interlace.engine.problems import nearest

_ABSENT: Final = object()


def tester(name: Any, arguments: tuple[Any, ...]) -> Callable[[Any], bool]:
    """Give a function that applies a test by name; without a name, whether the value counts as true.

    Raises:
        ExpressionError: no such test, or another number of arguments.
    """
    if name is None:
        return bool
    found = PREDICATES.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        close = nearest(str(name), (*PREDICATES, *ALIASES))
        raise ExpressionError(
            f"no test {name!r}" + (f"; did you mean {close!r}?" if close else ""), kind="unknown_test"
        )
    count, check = found
    if len(arguments) != count:
        raise ExpressionError(
            f"the test {name!r} takes {count} argument(s), not {len(arguments)}", kind="wrong_type"
        )
    return (lambda value: check(value, *arguments)) if arguments else check


def _chosen(
    value: Any, name: str, get: Callable[[Any], Any] | None, test: Any, arguments: tuple[Any, ...]
) -> list[bool]:
    check = tester(test, arguments)
    items = items_of(value, name)
    if get is None:
        return [check(item) for item in items]
    safe = test is None or ALIASES.get(test, test) in NULL_SAFE
    return [
        check(get(item) if safe else required(get(item), index, name)) for index, item in enumerate(items)
    ]


def select(value: Any, test: Any = None, *arguments: Any) -> list[Any]:
    """The items that pass a test."""
    chosen = _chosen(value, "select", None, test, arguments)
    return [item for item, kept in zip(items_of(value, "select"), chosen, strict=True) if kept]


def reject(value: Any, test: Any = None, *arguments: Any) -> list[Any]:
    """The items that do not pass a test."""
    chosen = _chosen(value, "reject", None, test, arguments)
    return [item for item, kept in zip(items_of(value, "reject"), chosen, strict=True) if not kept]


def selectattr(value: Any, attribute: Any, test: Any = None, *arguments: Any) -> list[Any]:
    """The items whose field passes a test."""
    chosen = _chosen(value, "selectattr", field_getter(attribute), test, arguments)
    return [item for item, kept in zip(items_of(value, "selectattr"), chosen, strict=True) if kept]


def rejectattr(value: Any, attribute: Any, test: Any = None, *arguments: Any) -> list[Any]:
    """The items whose field does not pass a test."""
    chosen = _chosen(value, "rejectattr", field_getter(attribute), test, arguments)
    return [item for item, kept in zip(items_of(value, "rejectattr"), chosen, strict=True) if not kept]


def mapped(find: Callable[[str], Callable[..., Any]]) -> Callable[..., list[Any]]:
    """Give the `map` filter; `find` gives another filter by name."""

    def apply(
        value: Any, name: Any = None, *arguments: Any, attribute: Any = None, default: Any = _ABSENT
    ) -> list[Any]:
        """Each item's field (`attribute`, with a `default`), or each item through another filter."""
        items = items_of(value, "map")
        if attribute is None:
            if not isinstance(name, str):
                raise ExpressionError(
                    "the filter 'map' needs attribute='…' or a filter's name", kind="wrong_type"
                )
            function = find(name)
            return [required(function(item, *arguments), index, "map") for index, item in enumerate(items)]
        get = field_getter(attribute)
        if default is _ABSENT:
            return [required(get(item), index, "map") for index, item in enumerate(items)]
        return [
            default if found is None or isinstance(found, Missing) else found for found in map(get, items)
        ]

    return apply
