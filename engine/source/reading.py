"""Text to plain data: JSON, and YAML with the rules of YAML 1.2's core schema.

Only `true` and `false` are booleans; `no`, `on`, `12:30:00` and dates stay text. Tags, repeated keys, keys that are
no text, and numbers that JSON cannot hold are errors. Aliases are copied, up to a bound.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)

MAX_DEPTH = 100
MAX_ALIASED = 100_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_EXPRESSION = re.compile(r"\{\{.*?\}\}")
_LOOSE = re.compile(r"(?:^|[-:,\[]\s)\s*\{\{")
_BLOCK = re.compile(r"\s*(?:-\s+)*(?:[\w-]+:\s+)?")
_FIELD = re.compile(r"(\w+):\s*$")
_CONSTANTS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Unreadable(Exception):  # noqa: N818 - a finding on its way to becoming a problem
    """The text is no data: why, and at which line (from 1)."""

    def __init__(self, code: str, message: str, *, line: int | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.line, self.fix = code, message, line, fix


def read(text: str) -> Any:
    """The data of a JSON or YAML text.

    Raises:
        Unreadable: the text is neither, or holds what a document may not hold.
    """
    if text.lstrip()[:1] != "{":
        return _yaml(text)
    try:
        data = _json(text)
    except json.JSONDecodeError as error:
        if re.match(r'\s*\{\s*"', text) is None:
            return _yaml(text)
        return _json_like(text, error)
    except RecursionError:
        raise _too_deep(None) from None
    return data


def _json_like(text: str, error: json.JSONDecodeError) -> Any:
    """Flow YAML may look like JSON; when it is neither, the JSON message is the one that helps."""
    try:
        return _yaml(text)
    except Unreadable as other:
        if other.code != "syntax":
            raise
        raise Unreadable(
            "syntax", f"The JSON cannot be read: {error.msg} (column {error.colno}).", line=error.lineno
        ) from None


def _json(text: str) -> Any:
    repeated = False

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        made = dict(pairs)
        if len(made) != len(pairs):
            repeated = True
        return made

    try:
        data = json.loads(text, object_pairs_hook=mapping, parse_constant=_not_finite, parse_float=_float)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise Unreadable("syntax", f"A number cannot be read: {error}") from None
    if repeated:
        _report_repeated(text)
    _check_depth(data)
    if _SURROGATE.search(text):
        _check_surrogates(data)
    return data


def _not_finite(text: str) -> NoReturn:
    raise Unreadable(
        "not_finite", f"{text} is no JSON value.", fix="Write a number, or null where there is none."
    )


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise Unreadable("not_finite", f"The number {text[:40]} is too large for a 64-bit float.")
    return value


def _too_deep(line: int | None) -> Unreadable:
    return Unreadable("too_deep", f"The document is nested more than {MAX_DEPTH} levels deep.", line=line)


def _check_depth(data: Any) -> None:
    level = [data]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer if type(outer) is list else ())
            if type(inner) is dict or type(inner) is list
        ]
    raise _too_deep(None)


def _check_surrogates(data: Any) -> None:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unreadable(
            "encoding", "A text holds half of a surrogate pair (\\ud800 to \\udfff), which is no character."
        ) from None


def _yaml(text: str) -> Any:
    try:
        return _Builder(text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        if error.problem and "nesting depth" in error.problem:
            raise _too_deep(line) from None
        parts = [part for part in (error.context, error.problem) if part]
        fix = "Quote texts that hold ': ', ' #' or begin with one of {}[]&*!|>'\"%@`; indent with spaces, never tabs."
        if any(_opens_with_expression(text, at) for at in (error.problem_mark, error.context_mark)):
            fix = 'A text that begins with an expression must be quoted, e.g. template: "{{ inputs.x }}".'
        raise Unreadable(
            "syntax", f"The YAML cannot be read: {', '.join(parts)}.", line=line, fix=fix
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Unreadable(
            "encoding",
            f"The text holds a character that YAML does not allow (code {_code(error.character)}).",
            line=line,
        ) from None
    except yaml.YAMLError as error:
        raise Unreadable("syntax", f"The YAML cannot be read: {error}") from None
    except UnicodeEncodeError:
        raise Unreadable(
            "encoding", "The text holds half of a surrogate pair, which is no character."
        ) from None


def _code(character: object) -> str:
    return f"{character:#x}" if isinstance(character, int) else repr(character)


class _Builder:
    """Builds data out of the parser's events, so that depth, aliases, tags and keys are held on the way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events: Iterator[Event] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, Any] = {}
        self._copied = 0
        self._repeated = False

    def document(self) -> Any:
        next(self._events)
        first = next(self._events)
        if first.__class__.__name__ == "StreamEndEvent":
            return None
        data = self._value(next(self._events), 1)
        for event in self._events:
            if not isinstance(event, DocumentEndEvent):
                if event.__class__.__name__ != "StreamEndEvent":
                    raise Unreadable(
                        "syntax",
                        "The file holds more than one YAML document.",
                        line=_line(event),
                        fix="Keep one workflow a file.",
                    )
                break
        if self._repeated:
            _report_repeated(self._text)
        return data

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, ScalarEvent):
            value: Any = event.value if event.style else _plain(event.value, event)
        elif isinstance(event, AliasEvent):
            return self._alias(event)
        elif depth > MAX_DEPTH:
            raise _too_deep(_line(event))
        elif isinstance(event, MappingStartEvent):
            value = self._mapping(depth)
        else:
            value = self._sequence(depth)
        if event.tag is not None:
            raise Unreadable(
                "yaml_tag", f"The YAML tag {event.tag!r} is not allowed.", line=_line(event), fix="Remove it."
            )
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        events, value_of = self._events, self._value
        while not isinstance(event := next(events), MappingEndEvent):
            if event.__class__ is MappingStartEvent:
                _require_quotes(self._text, event)
            key = value_of(event, depth + 1)
            if not isinstance(key, str):
                raise Unreadable(
                    "bad_key",
                    f"The key {_shown(key)} is no text.",
                    line=_line(event),
                    fix=f"Write {json.dumps(str(key))}:",
                )
            if key in made:
                self._repeated = True
            made[key] = value_of(next(events), depth + 1)
        return made

    def _sequence(self, depth: int) -> list[Any]:
        made: list[Any] = []
        events, value_of = self._events, self._value
        while not isinstance(event := next(events), SequenceEndEvent):
            made.append(value_of(event, depth + 1))
        return made

    def _alias(self, event: AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            raise Unreadable(
                "yaml_alias", f"The alias *{event.anchor} has no finished anchor before it.", line=_line(event),
                fix=f"Define &{event.anchor} earlier; an anchor cannot hold itself.",
            )  # fmt: skip
        return self._copy(self._anchors[event.anchor], event)

    def _copy(self, value: Any, event: AliasEvent) -> Any:
        self._copied += 1
        if self._copied > MAX_ALIASED:
            raise Unreadable(
                "yaml_alias", f"The aliases stand for more than {MAX_ALIASED} values.", line=_line(event),
                fix="Write the values out, or move them into a workflow of their own.",
            )  # fmt: skip
        if isinstance(value, dict):
            return {key: self._copy(inner, event) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._copy(inner, event) for inner in value]
        return value


def _opens_with_expression(text: str, mark: Any) -> bool:
    lines = text.splitlines()
    return mark is not None and mark.line < len(lines) and _LOOSE.search(lines[mark.line]) is not None


def _require_quotes(text: str, event: Any) -> None:
    """Refuse an expression without quotes, which YAML reads as a mapping whose key is a mapping."""
    lines = text.splitlines()
    line, column = event.start_mark.line, event.start_mark.column
    found = _EXPRESSION.match(lines[line], column - 1) if column and line < len(lines) else None
    if found is None:
        return
    before = lines[line][: column - 1]
    value = lines[line][column - 1 :].partition(" #")[0].rstrip() if _BLOCK.fullmatch(before) else found[0]
    name = _FIELD.search(before)
    field = f"{name[1]}: " if name else ""
    quoted = "'" + value.replace("'", "''") + "'" if set('"\\') & set(value) else f'"{value}"'
    raise Unreadable(
        "bad_key", f"The expression {found[0]} stands without quotes, and YAML reads it as a mapping.", line=_line(event),
        fix=f"An expression must be quoted: {field}{quoted}",
    )  # fmt: skip


def _plain(text: str, event: ScalarEvent) -> Any:
    """The value of an unquoted scalar under YAML 1.2's core schema."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "0123456789+-.":
        return text
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return _float(text)
        if _RADIX.fullmatch(text):
            return int(text, 0)
    except Unreadable as error:
        error.line = _line(event)
        raise
    except ValueError as error:
        raise Unreadable("syntax", f"A number cannot be read: {error}", line=_line(event)) from None
    if _NOT_FINITE.fullmatch(text):
        raise Unreadable(
            "not_finite", f"{text} is no JSON value.", line=_line(event), fix="Quote it if it is a text."
        )
    return text


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"  # noqa: PLR2004 - what fits in a line


def _report_repeated(text: str) -> NoReturn:
    from interlace.engine.source.places import repeated_key  # noqa: PLC0415 - only a faulty text needs it

    found = repeated_key(text)
    name, line, before = found or ("?", None, None)
    raise Unreadable(
        "repeated_key", f"The key {name!r} stands twice in one mapping (first at line {before}).", line=line,
        fix="Keep one of them.",
    )  # fmt: skip
