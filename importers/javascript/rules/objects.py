"""Objects and JSON."""

import copy
import json
from typing import Any

from interlace.importers.javascript.rules.lists import Map, Set, js_iterate
from interlace.importers.javascript.rules.texts import Buffer
from interlace.importers.javascript.rules.values import (
    js_missing,
    js_plain,
    js_text,
    undefined,
)


def js_keys(owner: Any) -> list[Any]:
    if isinstance(owner, list | str):
        return [str(place) for place in range(len(owner))]
    if js_missing(owner):
        raise TypeError("Cannot convert undefined or null to object")
    return list(owner) if isinstance(owner, dict) else []


def js_values(owner: Any) -> list[Any]:
    return (
        list(owner)
        if isinstance(owner, list | str)
        else list(owner.values())
        if isinstance(owner, dict)
        else []
    )


def js_entries(owner: Any) -> list[Any]:
    return [list(pair) for pair in zip(js_keys(owner), js_values(owner), strict=True)]


def js_from_entries(entries: Any) -> dict[str, Any]:
    return {js_text(key): value for key, value in js_iterate(entries)}


def js_assign(target: Any, *others: Any) -> Any:
    for other in others:
        target.update(js_spread(other))
    return target


def js_spread(value: Any) -> dict[str, Any]:
    """`{...value}`."""
    if isinstance(value, dict):
        return value
    return {str(place): entry for place, entry in enumerate(value)} if isinstance(value, list | str) else {}


def js_rest(owner: Any, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in owner.items() if key not in keys}


def js_has_own(owner: Any, key: Any) -> bool:
    return js_text(key) in owner if isinstance(owner, dict) else js_text(key) in js_keys(owner)


def js_copy(value: Any) -> Any:
    return copy.deepcopy(value)


def js_to_json(value: Any, replacer: Any = None, indent: Any = None) -> Any:
    if value is undefined:
        return undefined
    if isinstance(replacer, list):
        value = {key: value[key] for key in replacer if key in value}
    space = (
        int(indent)
        if isinstance(indent, int) and indent
        else indent
        if isinstance(indent, str) and indent
        else None
    )
    separators = (",", ":") if space is None else (",", ": ")
    return json.dumps(js_json_ready(value), ensure_ascii=False, indent=space, separators=separators)


def js_json_ready(value: Any) -> Any:
    if isinstance(value, list):
        return [None if entry is undefined else js_json_ready(entry) for entry in value]
    if isinstance(value, dict):
        return {
            key: js_json_ready(inner)
            for key, inner in value.items()
            if inner is not undefined and not callable(inner)
        }
    return js_plain(value)


def js_from_json(words: Any) -> Any:
    try:
        return json.loads(js_text(words))
    except ValueError as error:
        raise SyntaxError(f"{error} in JSON") from None


def js_to_text(value: Any, how: Any = undefined) -> str:
    """`value.toString(…)`."""
    if isinstance(value, Buffer):
        return value.text("utf8" if how is undefined else how)
    if js_missing(value):
        raise TypeError(f"Cannot read properties of {js_text(value)} (reading 'toString')")
    if isinstance(value, int) and how is not undefined and how != 10:
        return js_in_base(value, int(how))
    return js_text(value)


def js_in_base(value: int, base: int) -> str:
    digits, rest = "", abs(value)
    while rest:
        rest, digit = divmod(rest, base)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return ("-" if value < 0 else "") + (digits or "0")


def js_method_keys(owner: Any) -> list[Any]:
    return [key for key, _ in owner.pairs()] if isinstance(owner, Set | Map) else list(range(len(owner)))


def js_method_values(owner: Any) -> list[Any]:
    return [value for _, value in owner.pairs()] if isinstance(owner, Set | Map) else list(owner)


def js_method_entries(owner: Any) -> list[Any]:
    return (
        [list(pair) for pair in owner.pairs()]
        if isinstance(owner, Set | Map)
        else [list(pair) for pair in enumerate(owner)]
    )


def js_has(owner: Any, key: Any) -> bool:
    return bool(owner.has(key))


def js_method_get(owner: Any, key: Any) -> Any:
    return owner.get(key)


def js_method_set(owner: Any, key: Any, value: Any) -> Any:
    return owner.set(key, value)


def js_method_add(owner: Any, value: Any) -> Any:
    return owner.add(value)


def js_method_delete(owner: Any, key: Any) -> bool:
    return bool(owner.delete(key))
