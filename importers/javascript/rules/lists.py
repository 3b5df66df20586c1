"""Lists, and what texts have in common with them."""

import functools
import math
from typing import Any

from interlace.importers.javascript.rules.values import (
    js_apply,
    js_get,
    js_missing,
    js_number,
    js_same,
    js_text,
    js_truthy,
    undefined,
)


def js_iterate(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return list(value)
    if hasattr(value, "entries"):
        made: list[Any] = value.entries()
        return made
    raise TypeError(f"{js_text(value)} is not iterable")


def js_length(value: Any) -> Any:
    return len(value) if isinstance(value, list | str) else js_get(value, "length")


def js_map(owner: Any, function: Any) -> list[Any]:
    return [js_apply(function, value, place, owner) for place, value in enumerate(owner)]


def js_filter(owner: Any, function: Any) -> list[Any]:
    return [value for place, value in enumerate(owner) if js_truthy(js_apply(function, value, place, owner))]


def js_for_each(owner: Any, function: Any) -> Any:
    if isinstance(owner, list):
        for place, value in enumerate(owner):
            js_apply(function, value, place, owner)
    else:
        for key, value in owner.pairs():
            js_apply(function, value, key, owner)
    return undefined


def js_find(owner: Any, function: Any) -> Any:
    return next(
        (value for place, value in enumerate(owner) if js_truthy(js_apply(function, value, place, owner))),
        undefined,
    )


def js_find_last(owner: Any, function: Any) -> Any:
    found = js_filter(owner, function)
    return found[-1] if found else undefined


def js_find_index(owner: Any, function: Any) -> int:
    return next(
        (place for place, value in enumerate(owner) if js_truthy(js_apply(function, value, place, owner))), -1
    )


def js_some(owner: Any, function: Any) -> bool:
    return any(js_truthy(js_apply(function, value, place, owner)) for place, value in enumerate(owner))


def js_every(owner: Any, function: Any) -> bool:
    return all(js_truthy(js_apply(function, value, place, owner)) for place, value in enumerate(owner))


def js_reduce(owner: Any, function: Any, *first: Any) -> Any:
    if not first and not owner:
        raise TypeError("Reduce of empty array with no initial value")
    made = first[0] if first else owner[0]
    for place, value in list(enumerate(owner))[0 if first else 1 :]:
        made = js_apply(function, made, value, place, owner)
    return made


def js_flat(owner: Any, depth: Any = 1) -> list[Any]:
    made: list[Any] = []
    for value in owner:
        made += js_flat(value, depth - 1) if isinstance(value, list) and depth >= 1 else [value]
    return made


def js_flat_map(owner: Any, function: Any) -> list[Any]:
    return js_flat(js_map(owner, function))


def js_includes(owner: Any, value: Any, start: Any = 0) -> bool:
    if isinstance(owner, str):
        return js_text(value) in owner[int(start) :]
    return any(js_same(one, value) for one in owner)


def js_index_of(owner: Any, value: Any, start: Any = 0) -> int:
    if isinstance(owner, str):
        return owner.find(js_text(value), int(start))
    return next((place for place, one in enumerate(owner) if place >= start and js_same(one, value)), -1)


def js_last_index_of(owner: Any, value: Any) -> int:
    if isinstance(owner, str):
        return owner.rfind(js_text(value))
    return next((place for place in range(len(owner) - 1, -1, -1) if js_same(owner[place], value)), -1)


def js_slice(owner: Any, start: Any = 0, end: Any = undefined) -> Any:
    if js_missing(owner):
        raise TypeError(f"Cannot read properties of {js_text(owner)} (reading 'slice')")
    return owner[js_cut(start) : js_cut(end)]


def js_cut(place: Any) -> Any:
    number = js_number(place)
    return None if place is undefined or math.isinf(number) else 0 if math.isnan(number) else int(number)


def js_at(owner: Any, place: Any) -> Any:
    number = int(js_number(place))
    return owner[number] if -len(owner) <= number < len(owner) else undefined


def js_concat(owner: Any, *others: Any) -> Any:
    if isinstance(owner, str):
        return owner + "".join(js_text(other) for other in others)
    made = list(owner)
    for other in others:
        made += other if isinstance(other, list) else [other]
    return made


def js_join(owner: Any, separator: Any = ",") -> str:
    return js_text(separator).join("" if js_missing(value) else js_text(value) for value in owner)


def js_push(owner: Any, *values: Any) -> int:
    owner.extend(values)
    return len(owner)


def js_pop(owner: Any) -> Any:
    return owner.pop() if owner else undefined


def js_shift(owner: Any) -> Any:
    return owner.pop(0) if owner else undefined


def js_unshift(owner: Any, *values: Any) -> int:
    owner[:0] = values
    return len(owner)


def js_splice(owner: Any, start: Any, *more: Any) -> list[Any]:
    place = js_cut(start) or 0
    place = max(len(owner) + place, 0) if place < 0 else min(place, len(owner))
    count = max(int(js_number(more[0])), 0) if more else len(owner)
    taken: list[Any] = owner[place : place + count]
    owner[place : place + count] = more[1:]
    return taken


def js_reverse(owner: Any) -> Any:
    owner.reverse()
    return owner


def js_sign(order: Any) -> int:
    number = js_number(order)
    return (number > 0) - (number < 0)


def js_sort(owner: Any, function: Any = undefined) -> Any:
    if function is undefined:
        owner.sort(key=lambda value: (value is undefined, js_text(value)))
    else:
        owner.sort(key=functools.cmp_to_key(lambda one, other: js_sign(js_apply(function, one, other))))
    return owner


def js_fill(owner: Any, value: Any) -> Any:
    owner[:] = [value] * len(owner)
    return owner


def js_array(*values: Any) -> list[Any]:
    """`new Array(3)`, `Array.of(…)`."""
    if len(values) == 1 and isinstance(values[0], int):
        return [undefined] * values[0]
    return list(values)


def js_array_from(source: Any, function: Any = undefined) -> list[Any]:
    if isinstance(source, dict):
        made = [
            source.get(str(place), undefined) for place in range(int(js_number(js_get(source, "length"))))
        ]
    else:
        made = list(js_iterate(source))
    return (
        made
        if function is undefined
        else [js_apply(function, value, place) for place, value in enumerate(made)]
    )


def js_is_array(value: Any) -> bool:
    return isinstance(value, list)


class Set:
    """JavaScript's Set."""

    def __init__(self, values: list[Any]) -> None:
        self.values: list[Any] = []
        for value in values:
            self.add(value)

    @property
    def size(self) -> int:
        return len(self.values)

    def has(self, value: Any) -> bool:
        return js_includes(self.values, value)

    def add(self, value: Any) -> Any:
        if not self.has(value):
            self.values.append(value)
        return self

    def delete(self, value: Any) -> bool:
        found = self.has(value)
        self.values = [one for one in self.values if not js_same(one, value)]
        return found

    def entries(self) -> list[Any]:
        return list(self.values)

    def pairs(self) -> list[Any]:
        return [(value, value) for value in self.values]


class Map:
    """JavaScript's Map."""

    def __init__(self, entries: list[Any]) -> None:
        self.known: list[list[Any]] = []
        for key, value in entries:
            self.set(key, value)

    @property
    def size(self) -> int:
        return len(self.known)

    def find(self, key: Any) -> Any:
        return next((pair for pair in self.known if js_same(pair[0], key)), None)

    def has(self, key: Any) -> bool:
        return self.find(key) is not None

    def get(self, key: Any) -> Any:
        pair = self.find(key)
        return undefined if pair is None else pair[1]

    def set(self, key: Any, value: Any) -> Any:
        pair = self.find(key)
        if pair is None:
            self.known.append([key, value])
        else:
            pair[1] = value
        return self

    def delete(self, key: Any) -> bool:
        found = self.has(key)
        self.known = [pair for pair in self.known if not js_same(pair[0], key)]
        return found

    def entries(self) -> list[Any]:
        return [list(pair) for pair in self.known]

    def pairs(self) -> list[Any]:
        return [(key, value) for key, value in self.known]


def js_set(values: Any = undefined) -> Set:
    return Set([] if js_missing(values) else js_iterate(values))


def js_new_map(entries: Any = undefined) -> Map:
    return Map([] if js_missing(entries) else js_iterate(entries))
