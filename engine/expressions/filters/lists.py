"""Filters that work on lists and mappings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import arithmetic
from interlace.engine.expressions.access import member
from interlace.engine.expressions.budget import charge_steps, reserve_items, reserve_text
from interlace.engine.expressions.comparison import OPERATORS, equal, sort_key
from interlace.engine.expressions.filters.number import number
from interlace.engine.expressions.filters.text import count_of, text_of
from interlace.engine.expressions.values import Missing, described, missing_error, to_text

_LARGE: Final = 512
_ABSENT: Final = object()


def items_of(value: object, name: str) -> list[Any]:
    """Give the items that a filter goes through: a list's, a text's characters, a mapping's keys.

    Raises:
        ExpressionError: any other value.
    """
    if isinstance(value, list | tuple | str):
        found = value if isinstance(value, list) else list(value)
    elif isinstance(value, Mapping):
        found = list(value)
    else:
        raise ExpressionError(f"the filter '{name}' takes a list, not {described(value)}", kind="wrong_type")
    if len(found) > _LARGE:
        charge_steps(len(found) // 8)
    return found


def field_getter(attribute: Any) -> Callable[[Any], Any]:
    """Give a function that reads a field by a key or a dotted path; what is not there is `Missing`."""
    if isinstance(attribute, int) and not isinstance(attribute, bool):
        return lambda item: member(item, attribute)
    if not isinstance(attribute, str):
        raise ExpressionError(
            f"an attribute is a field's name, not {described(attribute)}", kind="wrong_type"
        )
    if "." not in attribute:
        return lambda item: member(item, attribute)
    keys = [int(part) if part.isdecimal() else part for part in attribute.split(".")]

    def walk(item: Any) -> Any:
        for key in keys:
            item = member(item, key)
        return item

    return walk


def required(value: Any, index: int, name: str) -> Any:
    """Give an item's field back, or say which item lacks it."""
    if isinstance(value, Missing):
        raise missing_error(Missing(value.reason, f"item {index}"), f"in the filter '{name}'")
    return value


def _read(value: Any, attribute: Any, name: str) -> list[Any]:
    items = items_of(value, name)
    if attribute is None:
        return items
    get = field_getter(attribute)
    return [required(get(item), index, name) for index, item in enumerate(items)]


def length(value: Any) -> int:
    """How many items, characters or keys."""
    if isinstance(value, str | list | tuple | Mapping):
        return len(value)
    raise ExpressionError(
        f"the filter 'length' takes a list, a text or a mapping, not {described(value)}", kind="wrong_type"
    )


def first(value: Any) -> Any:
    """The first item; missing where there is none."""
    items = items_of(value, "first")
    return items[0] if items else Missing("the list is empty, it has no first item")


def last(value: Any) -> Any:
    """The last item; missing where there is none."""
    items = items_of(value, "last")
    return items[-1] if items else Missing("the list is empty, it has no last item")


def as_list(value: Any) -> list[Any]:
    """A new list of the items."""
    return list(items_of(value, "list"))


def reverse(value: Any) -> Any:
    """In reverse order; a text stays a text."""
    return value[::-1] if isinstance(value, str) else items_of(value, "reverse")[::-1]


def join(value: Any, separator: Any = "", attribute: Any = None) -> str:
    """One text of all items, with a separator between them."""
    between = text_of(separator, "join")
    texts = [to_text(item) for item in _read(value, attribute, "join")]
    reserve_text(sum(map(len, texts)) + len(between) * max(len(texts) - 1, 0))
    return between.join(texts)


def total(value: Any, attribute: Any = None, start: Any = 0) -> Any:
    """The sum of numbers and numeric texts."""
    result = number(start)
    for item in _read(value, attribute, "sum"):
        result = arithmetic.add(result, number(item))
    return result


def average(value: Any, attribute: Any = None) -> Any:
    """The mean; null for an empty list."""
    items = _read(value, attribute, "avg")
    return arithmetic.divide(total(items), len(items)) if items else None


def _extreme(value: Any, attribute: Any, name: str, symbol: str) -> Any:
    better = OPERATORS[symbol]
    items = items_of(value, name)
    keys = _read(items, attribute, name)
    best = 0
    for index in range(1, len(items)):
        if better(keys[index], keys[best]):
            best = index
    return items[best] if items else None


def smallest(value: Any, attribute: Any = None) -> Any:
    """The smallest item, by a field where `attribute` names one; null for an empty list."""
    return _extreme(value, attribute, "min", "<")


def largest(value: Any, attribute: Any = None) -> Any:
    """The largest item, by a field where `attribute` names one; null for an empty list."""
    return _extreme(value, attribute, "max", ">")


def in_order(
    value: Any, reverse: Any = False, case_sensitive: Any = False, attribute: Any = None
) -> list[Any]:
    """In order; null first, numbers before texts; equal items keep their order."""
    items = items_of(value, "sort")
    charge_steps(len(items) // 4)
    keys = _read(items, attribute, "sort")
    if not case_sensitive:
        keys = [key.lower() if isinstance(key, str) else key for key in keys]
    ranks = [sort_key(key) for key in keys]
    if all(isinstance(key, str) for key in keys) and any(rank[0] == 3 for rank in ranks):  # noqa: PLR2004 - a text's rank
        ranks = [(3, key) for key in keys]
    order = sorted(range(len(items)), key=ranks.__getitem__, reverse=bool(reverse))
    return [items[index] for index in order]


def unique(value: Any, case_sensitive: Any = True, attribute: Any = None) -> list[Any]:
    """Without repetitions; the first of equal items stays."""
    items = items_of(value, "unique")
    kept: list[Any] = []
    seen: set[tuple[str, Any]] = set()
    for item, key in zip(items, _read(items, attribute, "unique"), strict=True):
        folded = key.lower() if isinstance(key, str) and not case_sensitive else key
        mark = (
            type(folded).__name__,
            folded if isinstance(folded, str | int | float | None) else to_text(folded),
        )
        if mark not in seen:
            seen.add(mark)
            kept.append(item)
    return kept


def grouped(value: Any, attribute: Any, default: Any = _ABSENT) -> list[Any]:
    """Pairs `[key, items]`, in the order of the keys."""
    get = field_getter(attribute)
    groups: dict[str, tuple[Any, list[Any]]] = {}
    for index, item in enumerate(items_of(value, "groupby")):
        key = get(item)
        if isinstance(key, Missing) and default is not _ABSENT:
            key = default
        key = required(key, index, "groupby")
        groups.setdefault(f"{type(key).__name__}{to_text(key)}", (key, []))[1].append(item)
    return [[key, members] for key, members in sorted(groups.values(), key=lambda group: sort_key(group[0]))]


def flatten(value: Any, depth: Any = 1) -> list[Any]:
    """With the items of inner lists in their place, `depth` levels deep."""
    items = items_of(value, "flatten")
    for _ in range(min(count_of(depth, "flatten"), 64)):
        reserve_items(sum(len(item) if isinstance(item, list) else 1 for item in items))
        if not any(isinstance(item, list) for item in items):
            break
        items = [part for item in items for part in (item if isinstance(item, list) else (item,))]
    return list(items)


def pairs(value: Any) -> list[Any]:
    """A mapping as a list of `[key, value]`."""
    return [[key, part] for key, part in _mapping(value, "items").items()]


def keys_of(value: Any) -> list[Any]:
    """The keys of a mapping."""
    return list(_mapping(value, "keys"))


def values_of(value: Any) -> list[Any]:
    """The values of a mapping."""
    return list(_mapping(value, "values").values())


def combine(value: Any, *others: Any) -> dict[str, Any]:
    """A new mapping; later mappings win."""
    merged = dict(_mapping(value, "combine"))
    for other in others:
        merged.update(_mapping(other, "combine"))
    return merged


def attribute_of(value: Any, name: Any) -> Any:
    """The field of that name; missing where there is none."""
    return member(value, name if isinstance(name, int) else text_of(name, "attr"))


def _mapping(value: Any, name: str) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    raise ExpressionError(f"the filter '{name}' takes a mapping, not {described(value)}", kind="wrong_type")


def compact(value: Any) -> list[Any]:
    """Without null items and empty texts."""
    return [item for item in items_of(value, "compact") if not (item is None or item == "")]


def index_of(value: Any, item: Any) -> int | None:
    """The position of the first equal item, or null."""
    return next(
        (index for index, other in enumerate(items_of(value, "index_of")) if equal(other, item)), None
    )
