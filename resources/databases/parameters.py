"""Named parameters become bound values; the text they stand in is never changed by a value."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from interlace.engine.errors import NodeError
from interlace.engine.problems import nearest
from interlace.resources.databases.text import Piece, blanked, line_and_column, pieces
from interlace.resources.databases.url import Dialect

MAX_LIST = 10_000
_MAX_INT = 2**63

_IN_BEFORE = re.compile(r"(?P<not>\bNOT\s+)?\bIN\s*\(\s*\Z", re.IGNORECASE)
_IN_LIST = re.compile(r"\bIN\s*\([^()]*\Z", re.IGNORECASE)
_ARRAY_BEFORE = re.compile(r"\b(?:ANY|ALL|SOME)\s*\(\s*\Z", re.IGNORECASE)
_DOLLAR = frozenset({"postgresql", "duckdb"})
"""Dialects that number their binds `$1`."""
_CLOSE = re.compile(r"\s*\)")


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement in the driver's own form, with its values in order and a way back to the source text."""

    sql: str
    values: tuple[object, ...]
    source: str
    _starts: tuple[tuple[int, int], ...]

    def position(self, offset: int) -> str:
        """Where an offset of `sql` stands in the text the author wrote: `line 2, column 8`."""
        index = bisect_right(self._starts, (offset, len(self.source))) - 1
        rendered, original = self._starts[max(index, 0)] if self._starts else (0, 0)
        return line_and_column(self.source, min(original + offset - rendered, len(self.source)))


def bind(dialect: Dialect, sql: str, values: Mapping[str, object]) -> Bound:
    """The statement with `:name` parameters as binds of the dialect (`$1`, `?1`, `%s`).

    str, int, float, bool and null are bound as they are (dates and decimals travel as text), objects and lists as
    JSON text; a list that stands alone in `IN (:ids)` becomes one bind an item, none of them a predicate that is
    false (true for NOT IN).

    Raises:
        NodeError: kind `parameters`, naming the parameter that is missing, not used or not bindable.
    """
    found = pieces(dialect, sql)
    names = list(dict.fromkeys(piece.name for piece in found if piece.kind == "parameter"))
    _compare(names, values)
    if not any(isinstance(values[name], (list, tuple)) for name in names):
        text, order, starts = _scalars(dialect, sql)
        return Bound(text, tuple(scalar(name, values[name]) for name in order), sql, starts)
    return _Rendering(dialect, sql, values).bound()


def insert(
    dialect: Dialect, head: str, columns: Sequence[str], rows: Sequence[Mapping[str, object]]
) -> Bound:
    """One INSERT of many rows: `head` up to VALUES, then a bind for each value."""
    values = tuple(scalar(column, row[column]) for row in rows for column in columns)
    width = len(columns)
    if dialect in _DOLLAR:
        groups = [
            "(" + ", ".join(f"${number}" for number in range(start + 1, start + width + 1)) + ")"
            for start in range(0, len(values), width)
        ]
        return Bound(head + ", ".join(groups), values, head, ())
    group = "(" + ", ".join(["%s" if dialect == "mysql" else "?"] * width) + ")"
    start = _percent(head) if dialect == "mysql" else head
    return Bound(start + ", ".join([group] * len(rows)), values, head, ())


@lru_cache(maxsize=256)
def _scalars(dialect: Dialect, sql: str) -> tuple[str, tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The rendering that does not depend on the values, kept because a node's text stays the same."""
    names = {piece.name: piece.name for piece in pieces(dialect, sql) if piece.kind == "parameter"}
    bound = _Rendering(dialect, sql, names).bound()
    return bound.sql, tuple(str(name) for name in bound.values), bound._starts  # noqa: SLF001 - its own module


class _Rendering:
    def __init__(self, dialect: Dialect, sql: str, values: Mapping[str, object]) -> None:
        self.dialect, self.sql, self.given = dialect, sql, values
        self.parts: list[str] = []
        self.length = 0
        self.values: list[object] = []
        self.numbers: dict[str, int] = {}
        self.starts: list[tuple[int, int]] = []
        self.escape: Callable[[str], str] = _percent if dialect == "mysql" else _same

    def bound(self) -> Bound:
        found = pieces(self.dialect, self.sql)
        plain = blanked(self.dialect, self.sql)
        for piece in found:
            if piece.kind == "parameter":
                self._parameter(piece, plain)
            else:
                self._add(self.escape(plain[piece.start : piece.start + len(piece.text)]), piece.start)
        return Bound("".join(self.parts), tuple(self.values), self.sql, tuple(self.starts))

    def _add(self, text: str, original: int) -> None:
        self.starts.append((self.length, original))
        self.parts.append(text)
        self.length += len(text)

    def _parameter(self, piece: Piece, plain: str) -> None:
        value = self.given[piece.name]
        before = plain[max(0, piece.start - 10_000) : piece.start]
        alone = _CLOSE.match(plain, piece.start + len(piece.text)) is not None
        if isinstance(value, (list, tuple)):
            if alone and (found := _IN_BEFORE.search(before)):
                self._in_list(piece, value, negative=found["not"] is not None)
                return
            if _IN_LIST.search(before):
                raise _wrong(f"the list {piece.name!r} must stand alone: IN (:{piece.name})")
            if self.dialect == "postgresql" and alone and _ARRAY_BEFORE.search(before):
                items = [scalar(piece.name, item) for item in _checked(piece.name, value)]
                self._add(self._placeholder(items, piece.name), piece.start)
                return
        self._add(self._placeholder(scalar(piece.name, value), piece.name), piece.start)

    def _in_list(self, piece: Piece, value: Sequence[object], *, negative: bool) -> None:
        items = [scalar(piece.name, item) for item in _checked(piece.name, value)]
        if items:
            self._add(", ".join(self._placeholder(item) for item in items), piece.start)
        elif self.dialect == "postgresql":
            # `x IN ()` is no syntax here, and a subquery would fix the type; an empty array takes the type of x.
            self._replace_in("<> ALL ('{}'" if negative else "= ANY ('{}'", piece.start)
        else:
            self._add("SELECT NULL FROM (SELECT 1) AS none_given WHERE 1 = 0", piece.start)

    def _replace_in(self, text: str, original: int) -> None:
        before = "".join(self.parts)
        found = _IN_BEFORE.search(before)
        assert found is not None
        self.parts = [before[: found.start()]]
        self.length = found.start()
        self._add(text, original)

    def _placeholder(self, value: object, name: str = "") -> str:
        if self.dialect == "mysql":
            self.values.append(value)
            return "%s"
        number = self.numbers.get(name, 0) if name else 0
        if not number:
            self.values.append(value)
            number = len(self.values)
            if name:
                self.numbers[name] = number
        return f"${number}" if self.dialect in _DOLLAR else f"?{number}"


def _compare(names: Sequence[str], values: Mapping[str, object]) -> None:
    for name in names:
        if name not in values:
            raise _wrong(f"no value for :{name}; given: {', '.join(map(repr, values)) or 'none'}")
    for name in values:
        if name not in names:
            near = nearest(name, names)
            hint = f" Did you mean {near!r}?" if near else ""
            known = ", ".join(f":{name}" for name in names) or "none"
            raise _wrong(f"{name!r} is given but the SQL has no :{name}; it has {known}.{hint}")


def _checked(name: str, items: Sequence[object]) -> Sequence[object]:
    if len(items) > MAX_LIST:
        raise _wrong(f"the list {name!r} has {len(items):,} items; the limit is {MAX_LIST:,}")
    if any(isinstance(item, (list, tuple, dict)) for item in items):
        raise _wrong(f"the list {name!r} for IN must hold plain values only")
    return items


def scalar(name: str, value: object) -> object:
    """The value as it is bound; objects and lists as JSON text.

    Raises:
        NodeError: kind `parameters`, for what no database holds (NaN, integers beyond 64 bits, half characters).
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise _wrong(f"the text of {name!r} holds half of a surrogate pair and is no Unicode text")
        return value
    if isinstance(value, int):
        if not -_MAX_INT <= value < _MAX_INT:
            raise _wrong(f"{name!r} is {value}, which does not fit into 64 bits; pass it as text")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _wrong(f"{name!r} is {value}, which is no JSON number")
        return value
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    raise _wrong(
        f"{name!r} is a {type(value).__name__}; give text, a number, a boolean, null, a list or an object"
    )


def _wrong(why: str) -> NodeError:
    return NodeError(f"The SQL parameters do not fit: {why}", kind="parameters", retryable=False)


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _same(text: str) -> str:
    return text
