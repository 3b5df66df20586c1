"""Filters on the metadata of documents: equal, in, range, contains; numbers and dates compare as what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from interlace.engine.errors import NodeError
from interlace.store.knowledge_rows import KbDocument

OPERATORS: Final = ("eq", "ne", "in", "not_in", "gt", "gte", "lt", "lte", "contains", "exists")
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": lambda a, b: bool(a > b), "gte": lambda a, b: bool(a >= b),
    "lt": lambda a, b: bool(a < b), "lte": lambda a, b: bool(a <= b),
}  # fmt: skip


def metadata_of(document: KbDocument) -> dict[str, Any]:
    """What filters read and results carry: what was found in the document, and over it what was said of it."""
    return {**document.properties, **document.metadata, "source": document.source, "name": document.name}


def compile_filter(wanted: Mapping[str, Any] | None) -> Callable[[KbDocument], bool] | None:
    """Whether a document passes `{field: value}` or `{field: {operator: value}}`, all fields together.

    Raises:
        NodeError: `knowledge_filter`.
    """
    if not wanted:
        return None
    tests = [
        (name, operator, value) for name, test in wanted.items() for operator, value in _tests(name, test)
    ]

    def passes(document: KbDocument) -> bool:
        found = metadata_of(document)
        return all(_passes(found.get(name), operator, value) for name, operator, value in tests)

    return passes


def _tests(name: str, test: Any) -> list[tuple[str, Any]]:
    if not isinstance(test, Mapping):
        return [("in", test)] if isinstance(test, list) else [("eq", test)]
    for operator, value in test.items():
        if operator not in OPERATORS:
            raise _bad(f"{name}: {operator!r} is no operator; there are {', '.join(OPERATORS)}")
        if operator in ("in", "not_in") and not isinstance(value, list):
            raise _bad(f"{name}: {operator!r} takes a list, not {value!r}")
        if operator in _ORDER and (isinstance(value, bool) or not isinstance(value, int | float | str)):
            raise _bad(f"{name}: {operator!r} takes a number, a date or a text, not {value!r}")
    return list(test.items())


def _passes(found: Any, operator: str, value: Any) -> bool:
    if operator == "exists":
        return (found is not None) == bool(value)
    if operator in ("ne", "not_in"):
        return not _passes(found, {"ne": "eq", "not_in": "in"}[operator], value)
    if found is None:
        return operator == "eq" and value is None
    if operator in ("eq", "in"):
        return any(_equal(found, one) for one in (value if operator == "in" else [value]))
    return _contains(found, value) if operator == "contains" else _compares(found, operator, value)


def _equal(found: Any, value: Any) -> bool:
    if isinstance(found, list) and not isinstance(value, list):
        return any(_equal(one, value) for one in found)
    if isinstance(found, bool) or isinstance(value, bool):
        return found is value
    if isinstance(found, str) and isinstance(value, str):
        return found == value or (_moment(found) is not None and _moment(found) == _moment(value))
    return bool(found == value)


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, list):
        return any(_equal(one, value) for one in found)
    return isinstance(found, str) and isinstance(value, str) and value.casefold() in found.casefold()


def _compares(found: Any, operator: str, value: Any) -> bool:
    compare = _ORDER[operator]
    if isinstance(found, bool):
        return False
    if isinstance(found, int | float) and isinstance(value, int | float):
        return compare(found, value)
    if not isinstance(found, str) or not isinstance(value, str):
        return False
    first, second = _moment(found), _moment(value)
    if first is not None and second is not None:
        return compare(first, second)
    return compare(found, value)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _bad(message: str) -> NodeError:
    return NodeError(f"filter: {message}", kind="knowledge_filter", retryable=False)
