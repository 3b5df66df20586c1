"""`name=JSON` and `name=@file`: values that are given on the command line as they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.source.reading import Unreadable, read


def given_values(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Values by name.

    Raises:
        InvalidDocument: one is not of that form, or its file cannot be read.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise _invalid(option, f"{text!r} names no value; write {option} name=JSON or name=@file")
        found[name] = value_of(value, f"{option} {name}")
    return found


def value_of(text: str, option: str) -> Any:
    """A value given as JSON, or as @file with JSON or YAML in it."""
    if text.startswith("@"):
        return _from_file(Path(text[1:]), option)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _invalid(option, f"{text!r} is not JSON ({error}); a text needs its quotes") from None


def given_pins(texts: Iterable[str], file: Path | None) -> dict[str, Any]:
    """Pins of a file and single ones, which win."""
    found = {} if file is None else _from_file(file, "--pins")
    if not isinstance(found, dict):
        raise _invalid("--pins", f"{str(file)!r} is no object of outputs by node")
    return {**found, **given_values(texts, "--pin")}


def _from_file(path: Path, option: str) -> Any:
    try:
        return read(path.read_text("utf-8"))
    except OSError as error:
        raise _invalid(option, f"cannot read {str(path)!r}: {error.strerror}") from None
    except (Unreadable, UnicodeDecodeError) as error:
        raise _invalid(option, f"{str(path)!r} is neither JSON nor YAML: {error}") from None


def _invalid(option: str, message: str) -> InvalidDocument:
    return InvalidDocument([Problem(code="option", field=option, message=message)])
