"""Markdown with front matter: YAML between two lines of `---`, and the text after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.errors import NodeError
from interlace.engine.source.reading import Unreadable, read
from interlace.engine.source.writing import dump_data

MAX_FRONT = 64_000
_LINE = "---"


def split(text: str, *, kind: str) -> tuple[dict[str, Any], str]:
    """The front matter's data, and the text after it without the empty lines around it.

    Raises:
        NodeError: of this kind: there is no front matter, it cannot be read, or it is no mapping.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != _LINE:
        raise _wrong(
            "the text does not begin with front matter: `---`, then `name:` and `description:`", kind
        )
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _LINE), None)
    if end is None:
        raise _wrong("the front matter has no end: a line of `---`", kind)
    front = "\n".join(lines[1:end])
    if len(front) > MAX_FRONT:
        raise _wrong(f"the front matter has {len(front):,} characters; {MAX_FRONT:,} are allowed", kind)
    return read_mapping(front, kind=kind, first_line=2), "\n".join(lines[end + 1 :]).strip("\n")


def read_mapping(text: str, *, kind: str, first_line: int = 1) -> dict[str, Any]:
    """The mapping that a YAML or JSON text stands for.

    Raises:
        NodeError: of this kind: it cannot be read, or it is no mapping.
    """
    data = read_data(text, kind=kind, first_line=first_line)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise _wrong("the text is no mapping of names to values", kind)
    return data


def read_data(text: str, *, kind: str, first_line: int = 1) -> Any:
    """What a YAML or JSON text stands for.

    Raises:
        NodeError: of this kind: it cannot be read.
    """
    try:
        return read(text)
    except Unreadable as error:
        where = f"line {error.line + first_line - 1}: " if error.line else ""
        raise _wrong(f"{where}{error.message}{f' {error.fix}' if error.fix else ''}", kind) from None


def join(front: Mapping[str, Any], body: str) -> str:
    """The text of front matter and what follows it; `split` gives both again."""
    return f"{_LINE}\n{dump_data(dict(front))}{_LINE}\n\n{body}\n"


def _wrong(message: str, kind: str) -> NodeError:
    return NodeError(message, kind=kind, retryable=False)
