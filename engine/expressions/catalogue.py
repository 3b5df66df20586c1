"""Checks the names and arguments of filters, tests and functions while parsing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from interlace.engine.expressions.filters.registry import ALIASES, FILTERS, FUNCTIONS, Spec
from interlace.engine.expressions.predicates import ALIASES as TEST_ALIASES
from interlace.engine.expressions.predicates import PREDICATES
from interlace.engine.expressions.syntax import Literal, SyntaxProblem
from interlace.engine.problems import nearest

_METHODS: Final = {
    "strip": "trim",
    "format": "~ to join texts",
    "get": "['key'] | default(…)",
    "append": "+ [item]",
}


class UnknownName(SyntaxProblem):
    """A filter, test or function that the language does not have; `kind` says which."""

    def __init__(self, what: str, name: str, known: Iterable[str], source: str, position: int) -> None:
        close = nearest(name, known)
        super().__init__(
            f"no {what} {name!r}" + (f"; did you mean {close!r}?" if close else ""), source, position
        )
        self.kind = f"unknown_{what}"
        self.name = name


def check_filter(name: str, source: str, position: int) -> str:
    """Give the filter's own name, or raise `UnknownName`."""
    if name in FILTERS:
        return name
    if name in ALIASES:
        return ALIASES[name]
    raise UnknownName("filter", name, (*FILTERS, *ALIASES), source, position)


def check_test(name: str, source: str, position: int) -> str:
    """Give the test's own name, or raise `UnknownName`."""
    if name in PREDICATES:
        return name
    if name in TEST_ALIASES:
        return TEST_ALIASES[name]
    raise UnknownName("test", name, (*PREDICATES, *TEST_ALIASES), source, position)


def check_function(name: str, source: str, position: int) -> None:
    """Raise `UnknownName` for a function that does not exist."""
    if name not in FUNCTIONS:
        if name in FILTERS or name in ALIASES:
            raise SyntaxProblem(f"{name!r} is a filter; write `x | {name}`", source, position)
        raise UnknownName("function", name, FUNCTIONS, source, position)


def method_hint(method: object) -> str:
    """Say what stands for a method call such as `x.strip()`."""
    instead = _METHODS.get(str(method))
    if instead is None:
        instead = (
            f"| {ALIASES.get(str(method), method)}" if method in FILTERS or method in ALIASES else "| filter"
        )
    elif instead in FILTERS:
        instead = f"| {instead}"
    return f"values have no methods such as {method!r}; write `x {instead}`"


def check_arguments(  # noqa: PLR0917 - one check for filters and functions
    what: str,
    spec: Spec,
    arguments: tuple[Any, ...],
    options: tuple[tuple[str, Any], ...],
    source: str,
    position: int,
) -> None:
    """Raise where a filter or function does not take these arguments."""
    if not arguments and not options and not spec.least:
        return
    if len(arguments) > spec.most:
        raise SyntaxProblem(
            f"{what} takes at most {spec.most} argument(s), not {len(arguments)}", source, position
        )
    if spec.names != ("*",):
        for name, _ in options:
            if name not in spec.names:
                close = nearest(name, spec.names)
                hint = (
                    f"; did you mean {close!r}?" if close else f"; it has {', '.join(spec.names) or 'none'}"
                )
                raise SyntaxProblem(f"{what} has no argument {name!r}{hint}", source, position)
            if name in spec.names[: len(arguments)]:
                raise SyntaxProblem(f"{what} gets its argument {name!r} twice", source, position)
    if len(arguments) + len(options) < spec.least:
        raise SyntaxProblem(f"{what} needs {spec.least} argument(s)", source, position)


# Filters whose argument names another filter or a test, and where it stands.
_NAMING: Final[dict[str, tuple[int, Callable[[str, str, int], str]]]] = {
    "map": (0, check_filter),
    "select": (0, check_test),
    "reject": (0, check_test),
    "selectattr": (1, check_test),
    "rejectattr": (1, check_test),
}


def check_filter_arguments(
    name: str, arguments: tuple[Any, ...], options: tuple[tuple[str, Any], ...], source: str, position: int
) -> None:
    """Raise where a filter does not take these arguments; `map('x')` and the like name filters and tests."""
    check_arguments(f"the filter {name!r}", FILTERS[name], arguments, options, source, position)
    if name in _NAMING:
        index, check = _NAMING[name]
        inner = arguments[index] if index < len(arguments) else None
        if isinstance(inner, Literal) and isinstance(inner.value, str):
            check(inner.value, source, inner.start)


def check_call_arguments(
    name: str, arguments: tuple[Any, ...], options: tuple[tuple[str, Any], ...], source: str, position: int
) -> None:
    """Raise where a function does not take these arguments."""
    check_arguments(f"{name}()", FUNCTIONS[name], arguments, options, source, position)
