"""The types that filters take and give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from interlace.engine.expressions.syntax import Filter
from interlace.engine.schema import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    UNKNOWN,
    Absent,
    Schema,
    field,
    kinds,
    union,
)

_TEXT: Final = frozenset({"string", "number", "integer", "boolean"})
_LIST: Final = frozenset({"array", "object", "string"})
_MAPPING: Final = frozenset({"object"})
_NUMERIC: Final = frozenset({"number", "integer", "string"})
_DATE: Final = frozenset({"number", "integer", "string"})

INPUTS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            "upper", "lower", "trim", "replace", "split", "truncate", "center", "slugify", "wordcount", "b64decode",
            "fromjson", "regex_match", "regex_search", "regex_findall", "regex_replace",
        ),
        _TEXT,
    ),
    **dict.fromkeys(
        (
            "first", "last", "list", "reverse", "join", "sum", "avg", "min", "max", "sort", "unique", "groupby",
            "flatten", "map", "select", "reject", "selectattr", "rejectattr", "compact", "index_of", "length",
        ),
        _LIST,
    ),
    **dict.fromkeys(("items", "keys", "values", "combine"), _MAPPING),
    **dict.fromkeys(("abs", "round", "floor", "ceil", "number_format"), _NUMERIC),
    **dict.fromkeys(
        ("to_datetime", "date", "format_date", "to_tz", "timestamp", "add_time", "date_diff"), _DATE
    ),
}  # fmt: skip

RESULTS: Final[dict[str, Schema]] = {
    **dict.fromkeys(
        (
            "upper", "lower", "trim", "string", "replace", "truncate", "center", "slugify", "escape", "safe",
            "urlencode", "hash", "b64encode", "b64decode", "join", "to_datetime", "date", "format_date", "to_tz",
            "add_time", "tojson", "regex_replace", "number_format", "capitalize", "title", "indent", "wordwrap",
            "striptags", "filesizeformat", "pluralize",
        ),
        STRING,
    ),
    **dict.fromkeys(("length", "wordcount", "floor", "ceil"), INTEGER),
    **dict.fromkeys(("timestamp", "date_diff", "sum"), NUMBER),
    **dict.fromkeys(("bool", "regex_match"), BOOLEAN),
    "split": {"type": "array", "items": STRING},
    "keys": {"type": "array", "items": STRING},
    **dict.fromkeys(
        ("items", "groupby", "regex_findall", "batch", "slice", "lines", "dictsort", "zip", "chain", "flatten"), ARRAY
    ),
    "regex_search": {"type": ["string", "null"]},
    "index_of": {"type": ["integer", "null"]},
    "avg": {"type": ["number", "null"]},
}  # fmt: skip

# At which position the name of a field of the items may stand; it may always be given as attribute=….
FIELD_ARGUMENTS: Final = {
    "selectattr": 0,
    "rejectattr": 0,
    "groupby": 0,
    "sum": 0,
    "avg": 0,
    "min": 0,
    "max": 0,
    "join": 1,
    "sort": 2,
    "unique": 1,
}


def _same_list(operand: Schema, _node: Filter, _arguments: list[Schema]) -> Schema:
    return operand if kinds(operand) == {"array"} else ARRAY


def _reverse(operand: Schema, _node: Filter, _arguments: list[Schema]) -> Schema:
    return operand if kinds(operand) == {"array"} else STRING if kinds(operand) == {"string"} else UNKNOWN


def _one_item(operand: Schema, _node: Filter, _arguments: list[Schema]) -> Schema:
    if kinds(operand) != {"array"}:
        return UNKNOWN
    found = field(operand, None)
    return UNKNOWN if isinstance(found, Absent) else found


def _item_or_null(operand: Schema, node: Filter, arguments: list[Schema]) -> Schema:
    found = _one_item(operand, node, arguments)
    return union([found, {"type": "null"}]) if found else UNKNOWN


def _number(_operand: Schema, node: Filter, arguments: list[Schema]) -> Schema:
    result = INTEGER if node.name == "int" else NUMBER
    if arguments:
        return union([result, arguments[0]])
    return UNKNOWN if node.options else result


def _same_number(operand: Schema, _node: Filter, _arguments: list[Schema]) -> Schema:
    return INTEGER if kinds(operand) == {"integer"} else NUMBER


def _any(_operand: Schema, _node: Filter, _arguments: list[Schema]) -> Schema:
    return UNKNOWN


RESULTS_BY_INPUT: Final[dict[str, Callable[[Schema, Filter, list[Schema]], Schema]]] = {
    **dict.fromkeys(
        ("sort", "unique", "select", "reject", "selectattr", "rejectattr", "list", "compact"), _same_list
    ),
    **dict.fromkeys(("first", "last"), _one_item),
    **dict.fromkeys(("min", "max"), _item_or_null),
    **dict.fromkeys(("number", "int", "float"), _number),
    **dict.fromkeys(("round", "abs"), _same_number),
    "reverse": _reverse,
    **dict.fromkeys(("combine", "fromjson", "jmespath", "attr", "values"), _any),
}
