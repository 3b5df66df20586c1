"""Text to data and back (JSON, CSV, XML, YAML, dates, Markdown tables), and casts between simple types."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import orjson

from interlace.engine.errors import ExpressionError, NodeError
from interlace.engine.expressions.comparison import number_of
from interlace.engine.expressions.filters.dates import to_datetime
from interlace.engine.expressions.values import described, kind_of, to_text
from interlace.engine.json_text import read_json
from interlace.engine.markup import parse_xml, parse_yaml

ParseFormat = Literal["json", "csv", "xml", "yaml", "date"]
TextFormat = Literal["json", "csv", "markdown"]
CastType = Literal["string", "number", "integer", "boolean", "date"]
_NEAR = 40
_MAX_CELL = 16 * 1024 * 1024
_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}

# the reader's own limit of 128 KB is process-wide and too small for cells that hold documents
csv.field_size_limit(_MAX_CELL)


def text_of(value: Any, what: str) -> str:
    """The value, which must be a text.

    Raises:
        NodeError: it is none.
    """
    if not isinstance(value, str):
        raise NodeError(f"{what} takes a text, got {described(value)}", kind="type")
    return value


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        NodeError: it is no JSON; the message shows the place.
    """
    try:
        return read_json(text.removeprefix("\ufeff"))
    except orjson.JSONDecodeError as error:
        near = text[max(0, error.pos - _NEAR // 2) : error.pos + _NEAR // 2]
        raise NodeError(
            f"the text is no JSON: line {error.lineno}, column {error.colno}: {error.msg.partition(':')[0]} near {near!r}",
            kind="parse",
        ) from None


def parse_csv(text: str, *, delimiter: str = ",", header: bool = True) -> list[Any]:
    """The rows: objects by the names of the first line, or lists when there is no header. Cells are texts.

    Raises:
        NodeError: a row has another number of cells than the header, a name is empty or comes twice, or quoting is broken.
    """
    reader = csv.reader(
        io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True
    )
    try:
        if not header:
            return [row for row in reader if row]
        names = next((row for row in reader if row), None)
        if names is None:
            return []
        _check_names(names)
        rows = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise NodeError(
                    f"line {reader.line_num} of the CSV has {len(row)} cells, the header has {len(names)}",
                    kind="parse",
                )
            rows.append(dict(zip(names, row, strict=True)))
    except csv.Error as error:
        raise NodeError(f"the text is no CSV: line {reader.line_num}: {error}", kind="parse") from None
    return rows


def _check_names(names: Sequence[str]) -> None:
    for index, name in enumerate(names):
        if not name.strip():
            raise NodeError(
                f"column {index + 1} of the CSV has no name in the header; set header: false for rows as lists",
                kind="parse",
            )
        if name in names[:index]:
            raise NodeError(f"the header of the CSV has the column {name!r} twice", kind="parse")


def parse_date(value: Any, *, pattern: str | None = None, time_zone: str = "UTC") -> str:
    """A date or date-time as ISO 8601 text with its offset; `time_zone` is that of a text that names none.

    Raises:
        NodeError: the value is no date.
    """
    try:
        return to_datetime(value, pattern, time_zone)
    except ExpressionError as error:
        raise NodeError(error.message.partition("; give its pattern")[0], kind="parse") from None


def parse(
    value: Any,
    form: ParseFormat,
    *,
    delimiter: str = ",",
    header: bool = True,
    pattern: str | None = None,
    time_zone: str = "UTC",
) -> Any:
    """Parse a text of a format.

    Raises:
        NodeError: the value is no text, or not of that format.
    """
    if form == "date":
        return parse_date(value, pattern=pattern, time_zone=time_zone)
    text = text_of(value, f"parse {form}")
    if form == "csv":
        return parse_csv(text, delimiter=delimiter, header=header)
    return {"json": parse_json, "xml": parse_xml, "yaml": parse_yaml}[form](text)


# -- data to text ------------------------------------------------------------------------------------------------------


def format_json(value: Any, *, indent: bool = False) -> str:
    """The value as JSON text."""
    try:
        return orjson.dumps(
            value, option=orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
        ).decode()
    except orjson.JSONEncodeError as error:
        raise NodeError(f"the value cannot be written as JSON: {error}", kind="format") from None


def format_csv(
    value: Any, *, delimiter: str = ",", columns: Sequence[str] | None = None, header: bool = True
) -> str:
    """A list of objects as CSV with a header line, or a list of lists without one. Lines end with a line feed.

    Raises:
        NodeError: the value is no such list.
    """
    names, rows = _table(value, columns, "format csv")
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if header and names:
        writer.writerow(names)
    writer.writerows([to_text(cell) for cell in row] for row in rows)
    return text.getvalue()


def format_markdown(value: Any, *, columns: Sequence[str] | None = None) -> str:
    """A list of objects as a Markdown table; of a list of lists the first one is the header.

    Raises:
        NodeError: the value is no such list.
    """
    names, rows = _table(value, columns, "format markdown")
    lines = iter(rows)
    head = list(names if names is not None else next(lines, []))
    if not head:
        return ""
    table = [_line(head), _line(["---"] * len(head), escape=False), *map(_line, lines)]
    return "\n".join(table) + "\n"


def _line(cells: Iterable[Any], *, escape: bool = True) -> str:
    return f"| {' | '.join(_cell(cell) if escape else cell for cell in cells)} |"


def _cell(value: Any) -> str:
    text = to_text(value).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("\r\n", "<br>").replace("\n", "<br>").replace("\r", "<br>")


def _table(
    value: Any, columns: Sequence[str] | None, what: str
) -> tuple[list[str] | None, Iterable[Iterable[Any]]]:
    """Column names and rows; no names for a list of lists."""
    if not isinstance(value, list):
        raise NodeError(f"{what} takes a list of objects or of lists, got {described(value)}", kind="type")
    kinds = {kind_of(row) for row in value}
    if kinds <= {"mapping"}:
        names = (
            list(columns)
            if columns is not None
            else list(dict.fromkeys(str(key) for row in value for key in row))
        )
        return names, ([row.get(name) for name in names] for row in value)
    if kinds == {"list"}:
        return None, value
    index = next(
        i
        for i, row in enumerate(value)
        if kind_of(row) not in ("mapping", "list") or kind_of(row) != kind_of(value[0])
    )
    raise NodeError(
        f"{what} takes a list of objects or of lists; entry {index} is {described(value[index])}", kind="type"
    )


def format_text(
    value: Any,
    form: TextFormat,
    *,
    delimiter: str = ",",
    header: bool = True,
    columns: Sequence[str] | None = None,
    indent: bool = False,
) -> str:
    """Write a value in a format.

    Raises:
        NodeError: the value has no such form.
    """
    if form == "json":
        return format_json(value, indent=indent)
    if form == "csv":
        return format_csv(value, delimiter=delimiter, columns=columns, header=header)
    return format_markdown(value, columns=columns)


# -- casts -------------------------------------------------------------------------------------------------------------


def cast(value: Any, kind: CastType) -> Any:
    """The value as another type. Null stays null; an empty text is null as number, integer, boolean and date.

    Raises:
        NodeError: the value has no form of that type.
    """
    if value is None:
        return None
    if kind == "string":
        return to_text(value)
    if isinstance(value, str) and not value.strip():
        return None
    converted = _CASTS[kind](value)
    if converted is None:
        raise NodeError(f"{described(value)} cannot be made {_ARTICLES[kind]}", kind="cast")
    return converted


def _to_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return number_of(value)
    return value if isinstance(value, int | float) else None


def _to_integer(value: Any) -> int | None:
    number = _to_number(value)
    return int(number) if number is not None and number == int(number) else None


def _to_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return bool(value) if value in (0, 1) else None


def _to_date(value: Any) -> str | None:
    return None if isinstance(value, bool | list | Mapping) else parse_date(value)


_CASTS: dict[CastType, Callable[[Any], Any]] = {
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
    "date": _to_date,
}
_ARTICLES: dict[CastType, str] = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "date": "a date",
}
