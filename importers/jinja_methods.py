"""Methods of Python's texts, lists and dicts as our filters and tests, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Write = Callable[[str, list[str]], str | None]


def _filter(name: str, least: int = 0, most: int = 0) -> Write:
    def write(operand: str, arguments: list[str]) -> str | None:
        if not least <= len(arguments) <= most:
            return None
        return f"{operand} | {name}" + (f"({', '.join(arguments)})" if arguments else "")

    return write


def _test(name: str) -> Write:
    def write(operand: str, arguments: list[str]) -> str | None:
        return f"({operand} is {name}({arguments[0]}))" if len(arguments) == 1 else None

    return write


def _join(operand: str, arguments: list[str]) -> str | None:
    return f"{arguments[0]} | join({operand})" if len(arguments) == 1 else None


def _get(operand: str, arguments: list[str]) -> str | None:
    if len(arguments) not in (1, 2):
        return None
    base = f"({operand})" if " " in operand else operand
    return f"{base}[{arguments[0]}] | default({arguments[1] if len(arguments) > 1 else 'none'})"


def _matching(pattern: str) -> Write:
    def write(operand: str, arguments: list[str]) -> str | None:
        return None if arguments else f"({operand} is fullmatching('{pattern}'))"

    return write


METHODS: Final[dict[str, Write]] = {
    "strip": _filter("trim", 0, 1),
    "lower": _filter("lower"),
    "upper": _filter("upper"),
    "title": _filter("title"),
    "capitalize": _filter("capitalize"),
    "split": _filter("split", 0, 1),
    "splitlines": _filter("lines"),
    "replace": _filter("replace", 2, 2),
    "join": _join,
    "startswith": _test("startingwith"),
    "endswith": _test("endingwith"),
    "get": _get,
    "items": _filter("items"),
    "keys": _filter("keys"),
    "values": _filter("values"),
    "index": _filter("index_of", 1, 1),
    "strftime": _filter("format_date", 1, 1),
    "isdigit": _matching("[0-9]+"),
    "isoformat": _filter("string"),
}
