"""The steps of work on lists: each is compiled once into a function of the list and the names around it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from interlace.engine.errors import ExpressionError, NodeError
from interlace.engine.expressions import Names, compile_expression, compile_value
from interlace.engine.lists import ItemNames, Nulls, as_list, identity, number, order_keys, ordered

SLICE = 256
"""Entries handled between two points where the work may give way."""

Work: TypeAlias = Generator[None, None, Any]
"""Work that gives way now and then; its return value is the result."""
Apply: TypeAlias = Callable[[list[Any], Names], Work]


def evaluated(source: str, where: str) -> Apply:
    """The values of a bare expression for all entries.

    The work raises NodeError with the number of the entry for which the expression failed.
    """
    compiled = compile_expression(source)

    def apply(items: list[Any], names: Names) -> Work:
        scope = ItemNames(names)
        evaluate = compiled.evaluate
        values: list[Any] = []
        add = values.append
        index = 0
        try:
            for start in range(0, len(items), SLICE):
                for item in items[start : start + SLICE]:
                    scope.item, scope.index = item, index
                    add(evaluate(scope))
                    index += 1
                yield
        except ExpressionError as error:
            raise NodeError(f"{where}, entry {index}: {error.message}", kind=error.kind) from None
        return values

    return apply


def keys(by: str | None, where: str) -> Apply:
    """What entries are compared by: the values of an expression, or the entries themselves."""
    return quick(lambda items: items) if by is None else evaluated(by, f"{where}.by")


def quick(function: Callable[[list[Any]], Any]) -> Apply:
    """A step that is one quick pass over the list."""

    def apply(items: list[Any], names: Names) -> Work:
        del names
        yield
        return function(items)

    return apply


def keep(source: str, where: str) -> Apply:
    """The entries for which an expression holds."""
    holds = evaluated(source, where)

    def apply(items: list[Any], names: Names) -> Work:
        kept = yield from holds(items, names)
        return [item for item, keep in zip(items, kept, strict=True) if keep]

    return apply


def sort(by: str | None, where: str, *, descending: bool = False, nulls: Nulls = "last") -> Apply:
    """The entries in order; equal ones keep theirs."""
    keys_of = keys(by, where)

    def apply(items: list[Any], names: Names) -> Work:
        found = yield from keys_of(items, names)
        return [items[index] for index in ordered(found, where, descending=descending, nulls=nulls)]

    return apply


def unique(by: str | None, where: str) -> Apply:
    """The first entry of each key."""
    keys_of = keys(by, where)

    def apply(items: list[Any], names: Names) -> Work:
        found: dict[Any, Any] = {}
        for key, item in zip((yield from keys_of(items, names)), items, strict=True):
            found.setdefault(identity(key), item)
        return list(found.values())

    return apply


def group(by: str, where: str) -> Apply:
    """[{key, items}] in the order in which the keys first appear."""
    keys_of = keys(by, where)

    def apply(items: list[Any], names: Names) -> Work:
        groups: dict[Any, dict[str, Any]] = {}
        for key, item in zip((yield from keys_of(items, names)), items, strict=True):
            groups.setdefault(identity(key), {"key": key, "items": []})["items"].append(item)
        return list(groups.values())

    return apply


def flatten(depth: int) -> Apply:
    """The entries of inner lists in their place, so many levels deep."""

    def apply(items: list[Any], names: Names) -> Work:
        del names
        for _ in range(depth):
            if not any(isinstance(item, list) for item in items):
                break
            items = list(chain.from_iterable(item if isinstance(item, list) else (item,) for item in items))
            yield
        return items

    return apply


def zipped(value: Any, where: str) -> Apply:
    """Pairs with the entries of another list of the same length."""
    other = compile_value(value)

    def apply(items: list[Any], names: Names) -> Work:
        partners = as_list(other.evaluate(names), where)
        if len(partners) != len(items):
            raise NodeError(
                f"{where}: the lists have {len(items)} and {len(partners)} entries; slice the longer one first",
                kind="length",
            )
        yield
        return [[item, partner] for item, partner in zip(items, partners, strict=True)]

    return apply


def concat(value: Any, where: str) -> Apply:
    """The entries, then those of another list."""
    other = compile_value(value)

    def apply(items: list[Any], names: Names) -> Work:
        more = as_list(other.evaluate(names), where)
        yield
        return [*items, *more]

    return apply


def aggregate(function: Callable[[Sequence[Any], str], Any], by: str | None, where: str) -> Apply:
    """One value out of all entries."""
    keys_of = keys(by, where)

    def apply(items: list[Any], names: Names) -> Work:
        return function((yield from keys_of(items, names)), where)

    return apply


def total(values: Sequence[Any], where: str) -> int | float:
    """The sum, 0 of nothing."""
    return sum(number(value, f"{where}, entry {index}:") for index, value in enumerate(values))


def mean(values: Sequence[Any], where: str) -> float | None:
    """The arithmetic mean, null of nothing."""
    return total(values, where) / len(values) if values else None


def least(values: Sequence[Any], where: str) -> Any:
    """The least value, null of nothing; the first of equal ones."""
    order = _order(values, where)
    return values[min(range(len(order)), key=order.__getitem__)] if order else None


def greatest(values: Sequence[Any], where: str) -> Any:
    """The greatest value, null of nothing; the first of equal ones."""
    order = _order(values, where)
    return values[max(range(len(order)), key=order.__getitem__)] if order else None


def _order(values: Sequence[Any], where: str) -> list[Any]:
    for index, value in enumerate(values):
        if value is None:
            raise NodeError(
                f"{where}, entry {index}: null has no order; filter such entries out first", kind="type"
            )
    return order_keys(values, where)
