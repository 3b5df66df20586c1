"""Values: what is missing, truth, text, number, equality, fields."""

import math
import re
from typing import Any


class Undefined:
    """JavaScript's undefined."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "undefined"


undefined = Undefined()


class Error(Exception):
    """What the program throws."""


def js_missing(value: Any) -> bool:
    return value is None or value is undefined


def js_truthy(value: Any) -> bool:
    if isinstance(value, float):
        return value != 0 and not math.isnan(value)
    return isinstance(value, list | dict) or bool(value)


def js_either(*values: Any) -> Any:
    for value in values:
        if js_truthy(value):
            return value
    return values[-1]


def js_present(*values: Any) -> Any:
    for value in values:
        if not js_missing(value):
            return value
    return values[-1]


def js_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return js_digits(value)
    if isinstance(value, list):
        return ",".join("" if js_missing(entry) else js_text(entry) for entry in value)
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, Exception):
        return f"Error: {value}"
    return str(value)


def js_digits(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return re.sub(r"e([+-])0+(\d)", r"e\1\2", repr(value))


def js_template(*parts: Any) -> str:
    return "".join(js_text(part) for part in parts)


def js_whole(value: Any) -> float:
    made: float = (
        int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
    )
    return made


def js_number(value: Any) -> float:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if value is None:
        return 0
    if isinstance(value, str):
        return js_read_number(value.strip())
    if isinstance(value, list):
        return js_number(js_text(value))
    return js_ms(value) if hasattr(value, "ms") else math.nan


def js_ms(date: Any) -> float:
    made: float = date.ms
    return made


def js_read_number(written: str) -> float:
    if not written:
        return 0
    if re.fullmatch("0[xX][0-9a-fA-F]+", written):
        return int(written, 16)
    plain = re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", written)
    return js_whole(float(written)) if plain else math.nan


def js_add(left: Any, right: Any) -> Any:
    plain = (bool, int, float, type(None), Undefined)
    if isinstance(left, plain) and isinstance(right, plain):
        return js_number(left) + js_number(right)
    return js_text(left) + js_text(right)


def js_divide(left: Any, right: Any) -> float:
    above, below = js_number(left), js_number(right)
    if below == 0:
        return math.nan if above == 0 or math.isnan(above) else math.copysign(math.inf, above)
    return js_whole(above / below)


def js_remainder(left: Any, right: Any) -> float:
    above, below = js_number(left), js_number(right)
    return math.nan if below == 0 or math.isinf(above) else js_whole(math.fmod(above, below))


def js_same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return left == right if isinstance(left, str) and isinstance(right, str) else left is right


def js_equal(left: Any, right: Any) -> bool:
    if js_missing(left) or js_missing(right):
        return js_missing(left) and js_missing(right)
    if type(left) is type(right) or (isinstance(left, list | dict) and isinstance(right, list | dict)):
        return js_same(left, right)
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return js_text(left) == js_text(right)
    return js_number(left) == js_number(right)


def js_compare(left: Any, operator: str, right: Any) -> bool:
    if not (isinstance(left, str) and isinstance(right, str)):
        left, right = js_number(left), js_number(right)
    if operator == "<":
        return bool(left < right)
    if operator == ">":
        return bool(left > right)
    return bool(left <= right if operator == "<=" else left >= right)


def js_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if value is undefined:
        return "undefined"
    return "string" if isinstance(value, str) else "function" if callable(value) else "object"


def js_get(owner: Any, *names: Any) -> Any:
    """A field of a field …, by names and places."""
    for name in names:
        if js_missing(owner):
            raise TypeError(
                f"Cannot read properties of {'null' if owner is None else 'undefined'} (reading '{name}')"
            )
        if isinstance(owner, dict):
            owner = owner.get(str(name), undefined)
        elif isinstance(name, int) and isinstance(owner, list | str):
            owner = owner[name] if name < len(owner) else undefined
        elif isinstance(owner, Exception):
            owner = {"message": str(owner), "name": "Error", "stack": str(owner)}.get(name, undefined)
        else:
            owner = (
                len(owner)
                if name == "length" and isinstance(owner, list | str)
                else getattr(owner, name, undefined)
                if name == "size"
                else undefined
            )
    return owner


def js_maybe(owner: Any, *names: Any) -> Any:
    return undefined if js_missing(owner) else js_get(owner, *names)


def js_field(owner: Any, key: Any) -> Any:
    """A field whose name was computed."""
    if isinstance(owner, list | str) and key != "length":
        place = js_number(key)
        return owner[int(place)] if place >= 0 and place % 1 == 0 and place < len(owner) else undefined
    return js_get(owner, js_text(key))


def js_put(owner: Any, key: Any, value: Any) -> Any:
    if isinstance(owner, list):
        place = int(key)
        owner.extend([undefined] * (place + 1 - len(owner)))
        owner[place] = value
    elif isinstance(owner, dict):
        owner[js_text(key)] = value
    else:
        raise TypeError(f"Cannot set properties of {js_text(owner)} (setting '{js_text(key)}')")
    return value


def js_delete(owner: Any, key: Any) -> bool:
    if isinstance(owner, dict):
        owner.pop(js_text(key), None)
    return True


def js_apply(function: Any, *arguments: Any) -> Any:
    code = getattr(function, "__code__", None)
    if code is None:
        raise TypeError(f"{js_text(function)} is not a function")
    given = list(arguments)
    if not code.co_flags & 4:  # no *arguments
        most = code.co_argcount
        least = most - len(function.__defaults__ or ())
        given = given[:most] + [undefined] * (least - len(given))
    return function(*given)


def js_in(key: Any, owner: Any) -> bool:
    if isinstance(owner, list):
        return 0 <= js_number(key) < len(owner)
    return js_text(key) in owner


def js_plain(value: Any) -> Any:
    """The value as JSON has it: without what is undefined, with whole numbers, dates as text."""
    if isinstance(value, dict):
        return {
            key: js_plain(inner)
            for key, inner in value.items()
            if inner is not undefined and not callable(inner)
        }
    if isinstance(value, list):
        return [js_plain(inner) for inner in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else value if math.isfinite(value) else None
    if hasattr(value, "iso"):
        return value.iso()
    return value if value is None or isinstance(value, str | int) else None if value is undefined else {}
