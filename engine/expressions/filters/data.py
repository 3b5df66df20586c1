"""Filters that read and write data: JSON, regular expressions in linear time, JMESPath."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import jmespath
import jmespath.exceptions
import jmespath.visitor
import orjson
import re2

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import (
    charge,
    check_size,
    checked_text,
    reserve_items,
    reserve_text,
    too_large,
)
from interlace.engine.expressions.filters.text import count_of, text_of
from interlace.engine.expressions.values import described, to_json
from interlace.engine.json_text import read_json

_MAX_PATTERN: Final = 1000
_MAX_QUERY: Final = 2000
_REGEX_COST: Final = 2
_MATCH_COST: Final = 768
_GROUP: Final = re.compile(r"\\(?:([0-9]{1,2})|g<(\w{1,40})>|(\\))")


def tojson(value: Any, indent: Any = None, sort_keys: Any = False) -> str:
    """The value as JSON; `indent` spreads it over lines."""
    return checked_text(to_json(value, indent=bool(indent), sort=bool(sort_keys)))


def fromjson(value: Any) -> Any:
    """The value that JSON text stands for."""
    text = text_of(value, "fromjson")
    charge(len(text) * 2)
    try:
        return read_json(text)
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise ExpressionError(f"{described(value)} is not JSON: {error}", kind="bad_json") from error


@lru_cache(maxsize=512)
def _pattern(pattern: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ExpressionError(
            f"the regular expression {pattern!r} is not valid: {shown}", kind="bad_regex"
        ) from error


def regex(pattern: Any, *, ignore_case: Any = False) -> Any:
    """Give a compiled RE2 pattern, from a cache.

    Raises:
        ExpressionError: a pattern that is too long, or that RE2 refuses (back references, look-around).
    """
    source = text_of(pattern, "regex")
    if len(source) > _MAX_PATTERN:
        raise too_large(f"a regular expression has at most {_MAX_PATTERN} characters")
    return _pattern(source, bool(ignore_case))


def _subject(value: Any, name: str) -> str:
    text = text_of(value, name)
    charge(len(text) * _REGEX_COST + _MATCH_COST)
    return text


def regex_match(value: Any, pattern: Any, ignore_case: Any = False) -> bool:
    """Whether the whole text matches."""
    return regex(pattern, ignore_case=ignore_case).fullmatch(_subject(value, "regex_match")) is not None


def regex_search(value: Any, pattern: Any, group: Any = None, ignore_case: Any = False) -> Any:
    """The first match (its group where the pattern has one), or null."""
    match = regex(pattern, ignore_case=ignore_case).search(_subject(value, "regex_search"))
    if match is None:
        return None
    chosen: Any = group if group is not None else (1 if match.re.groups else 0)
    try:
        return match.group(chosen)
    except (IndexError, KeyError):
        raise ExpressionError(
            f"the regular expression {pattern!r} has no group {chosen!r}", kind="bad_regex"
        ) from None


def regex_findall(value: Any, pattern: Any, ignore_case: Any = False) -> list[Any]:
    """All matches; lists of groups where the pattern has several."""
    compiled = regex(pattern, ignore_case=ignore_case)
    found: list[Any] = []
    for match in _matches(compiled, _subject(value, "regex_findall")):
        groups = match.groups()
        found.append(match.group(0) if not groups else groups[0] if len(groups) == 1 else list(groups))
    return found


def regex_replace(
    value: Any, pattern: Any, replacement: Any = "", count: Any = 0, ignore_case: Any = False
) -> str:
    r"""With every match (or the first `count`) replaced; `\1` stands for a group."""
    compiled = regex(pattern, ignore_case=ignore_case)
    text, template = _subject(value, "regex_replace"), text_of(replacement, "regex_replace")
    limit = count_of(count, "regex_replace")
    parts = _replacement_parts(template)
    pieces: list[str] = []
    position = 0
    for done, match in enumerate(_matches(compiled, text)):
        if 0 < limit <= done:
            break
        pieces.append(text[position : match.start()])
        try:
            pieces.extend(part if isinstance(part, str) else match.group(part[0]) or "" for part in parts)
        except (IndexError, KeyError):
            raise ExpressionError(
                f"the replacement {template!r} names a group that {pattern!r} lacks", kind="bad_regex"
            ) from None
        charge(len(pieces[-1]) if parts else 0)
        position = match.end()
    pieces.append(text[position:])
    reserve_text(sum(map(len, pieces)))
    return "".join(pieces)


def _matches(compiled: Any, text: str) -> Iterator[Any]:
    """Go through the matches, each paid for: a match costs microseconds, whatever its size."""
    for match in compiled.finditer(text):
        charge(_MATCH_COST)
        yield match


@lru_cache(maxsize=512)
def _replacement_parts(template: str) -> tuple[str | tuple[int | str], ...]:
    """Split a replacement into plain texts and group references (each in a tuple of one)."""
    parts: list[str | tuple[int | str]] = []
    position = 0
    for reference in _GROUP.finditer(template):
        parts.append(template[position : reference.start()])
        number, name, escaped = reference.groups()
        group: int | str = int(number or name) if (number or name or "").isdecimal() else name
        parts.append(escaped or (group,))
        position = reference.end()
    parts.append(template[position:])
    return tuple(part for part in parts if part)


class _BoundedInterpreter(jmespath.visitor.TreeInterpreter):
    """JMESPath whose intermediate results are bounded: `[@,@][]|[@,@][]|…` doubles at each step."""

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        result = super().visit(node, *args, **kwargs)
        if result.__class__ is list:
            reserve_items(len(result))
        elif result.__class__ is str:
            checked_text(result)
        if node["type"] in ("multi_select_list", "multi_select_dict"):
            check_size(result)
        return result


@lru_cache(maxsize=512)
def _query(expression: str) -> Any:
    try:
        return jmespath.compile(expression)
    except (jmespath.exceptions.JMESPathError, RecursionError) as error:
        raise ExpressionError(
            f"the JMESPath {expression!r} is not valid: {error}", kind="bad_jmespath"
        ) from error


def search(value: Any, expression: Any) -> Any:
    """What a JMESPath expression finds in a value; null where nothing is."""
    source = text_of(expression, "jmespath")
    if len(source) > _MAX_QUERY:
        raise too_large(f"a JMESPath expression has at most {_MAX_QUERY} characters")
    check_size(value)
    try:
        return _BoundedInterpreter().visit(_query(source).parsed, value)
    except (jmespath.exceptions.JMESPathError, TypeError, ValueError, RecursionError) as error:
        raise ExpressionError(
            f"the JMESPath {source!r} failed: {_reason(error)}", kind="bad_jmespath"
        ) from error


def _reason(error: Exception) -> str:
    """Say why JMESPath failed; its own message would repeat the value."""
    if isinstance(error, jmespath.exceptions.JMESPathTypeError):
        return f"{error.function_name}() takes {', '.join(error.expected_types)}, not {error.actual_type}"
    return type(error).__name__
