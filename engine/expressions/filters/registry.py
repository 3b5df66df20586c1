"""All filters and functions by name, with the arguments each takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import MAX_RANGE, too_large
from interlace.engine.expressions.filters import builtin, data, dates, lists, number, select, text
from interlace.engine.problems import nearest


class Spec(NamedTuple):
    """A filter or function: what runs it, how many arguments it takes by position, and their names."""

    function: Callable[..., Any]
    least: int
    most: int
    names: tuple[str, ...]


_UNLIMITED: Final = 1000


def _spec(function: Callable[..., Any], *, skip: int) -> Spec:
    """Read the arguments of a Python function; the first `skip` are the filter's input."""
    least = most = 0
    names: list[str] = []
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = _UNLIMITED
        elif parameter.kind is parameter.KEYWORD_ONLY:
            names.append(parameter.name)
        else:
            most += 1
            least += parameter.default is parameter.empty
            names.append(parameter.name)
    return Spec(function, least, most, tuple(names))


def default(value: Any, default: Any = "", boolean: Any = False) -> Any:
    """`default` where the value is missing or null; with `boolean=true` also where it counts as false."""
    return default if value is None or (boolean and not value) else value


def _find(name: str) -> Callable[..., Any]:
    found = FILTERS.get(ALIASES.get(name, name))
    if found is None:
        close = nearest(name, (*FILTERS, *ALIASES))
        raise ExpressionError(
            f"no filter {name!r}" + (f"; did you mean {close!r}?" if close else ""), kind="unknown_filter"
        )
    return found.function


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "default": default,
    "upper": text.upper, "lower": text.lower, "trim": text.trim, "string": text.string, "replace": text.replace,
    "split": text.split, "truncate": text.truncate, "center": text.center, "slugify": text.slugify,
    "wordcount": text.wordcount, "escape": text.escape, "safe": text.safe, "urlencode": text.url_encoded,
    "hash": text.digest, "b64encode": text.b64encode, "b64decode": text.b64decode,
    "number": number.number, "int": number.integer, "float": number.real, "abs": number.absolute,
    "round": number.rounded, "bool": number.truth, "floor": number.floor_of, "ceil": number.ceiling_of,
    "number_format": number.number_format,
    "length": lists.length, "first": lists.first, "last": lists.last, "list": lists.as_list, "reverse": lists.reverse,
    "join": lists.join, "sum": lists.total, "avg": lists.average, "min": lists.smallest, "max": lists.largest,
    "sort": lists.in_order, "unique": lists.unique, "groupby": lists.grouped, "flatten": lists.flatten,
    "items": lists.pairs, "keys": lists.keys_of, "values": lists.values_of, "combine": lists.combine,
    "attr": lists.attribute_of, "compact": lists.compact, "index_of": lists.index_of,
    "map": select.mapped(_find), "select": select.select, "reject": select.reject,
    "selectattr": select.selectattr, "rejectattr": select.rejectattr,
    "to_datetime": dates.to_datetime, "date": dates.to_date, "format_date": dates.format_date, "to_tz": dates.to_tz,
    "timestamp": dates.timestamp, "add_time": dates.add_time, "date_diff": dates.date_diff,
    "tojson": data.tojson, "fromjson": data.fromjson, "regex_match": data.regex_match,
    "regex_search": data.regex_search, "regex_findall": data.regex_findall, "regex_replace": data.regex_replace,
    "jmespath": data.search,
}  # fmt: skip
FILTERS: Final[dict[str, Spec]] = {
    **{name: _spec(function, skip=1) for name, function in _FUNCTIONS.items()},
    **{name: Spec(builtin.builtin(name), *shape) for name, shape in builtin.NAMES.items()},
}
ALIASES: Final = {
    "d": "default", "e": "escape", "count": "length", "size": "length", "average": "avg", "mean": "avg",
    "datetime": "to_datetime", "strftime": "format_date", "date_format": "format_date", "in_tz": "to_tz",
    "integer": "int", "strip": "trim", "json": "tojson", "from_json": "fromjson", "to_json": "tojson",
    "b64_encode": "b64encode", "b64_decode": "b64decode", "base64encode": "b64encode", "base64decode": "b64decode",
    "text": "string", "merge": "combine", "group_by": "groupby",
}  # fmt: skip


def spread(*bounds: Any) -> list[int]:
    """The whole numbers from `start` (0) up to before `stop`, by `step`."""
    numbers = [text.count_of(bound, "range") for bound in bounds]
    if len(numbers) == 3 and numbers[2] == 0:  # noqa: PLR2004 - the step
        raise ExpressionError("the step of range() cannot be 0", kind="wrong_type")
    found = range(*numbers)
    # len() of a range beyond the machine's word raises; its bounds tell enough.
    if any(abs(number) > 2**53 for number in numbers) or len(found) > MAX_RANGE:
        raise too_large(f"range() gives at most {MAX_RANGE:,} numbers")
    return list(found)


def record(**fields: Any) -> dict[str, Any]:
    """A mapping of the given fields."""
    return fields


class Namespace(dict[str, Any]):
    """What `namespace(…)` gives: a mapping whose fields a template may set from inside a loop."""

    __slots__ = ()


FUNCTIONS: Final[dict[str, Spec]] = {
    "range": Spec(spread, 1, 3, ()),
    "dict": Spec(record, 0, 0, ("*",)),
    "namespace": Spec(lambda **fields: Namespace(fields), 0, 0, ("*",)),
    "now": _spec(dates.now, skip=0),
}
