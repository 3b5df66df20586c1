"""`-i key=value` and `--inputs FILE`: inputs as the workflow's schema types them."""

from __future__ import annotations

import asyncio
import mimetypes
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.inputs import parse_text
from interlace.engine.problems import Problem, nearest
from interlace.engine.protocols import Files
from interlace.engine.source.reading import Unreadable, read
from interlace.engine.validate.names import closed_properties


async def read_inputs(
    schema: dict[str, Any], pairs: list[str], file: Path | None, files: Files
) -> dict[str, Any]:
    """The inputs of a run; the pairs win over the file.

    `key=@path` stores the file and gives a file value; for an input of type string it gives the file's text. A value
    that begins with an at sign is written with two.

    Raises:
        InvalidDocument: a pair is no pair, a file cannot be read, or a text is not of the input's type.
    """
    found = await asyncio.to_thread(_from_file, file) if file is not None else {}
    problems: list[Problem] = []
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name:
            problems.append(_problem(pair, f"{pair!r} is no input; write -i name=value"))
            continue
        try:
            found[name] = await _value(schema, name, text, files)
        except InvalidDocument as error:
            problems.extend(error.problems)
        except OSError as error:
            problems.append(_problem(name, f"cannot read {text[1:]!r}: {error.strerror}"))
    if problems:
        raise InvalidDocument(problems)
    return found


def unknown_inputs(schema: dict[str, Any], given: Iterable[str]) -> list[str]:
    """A hint for each input that the schema neither declares nor expects nor forbids; where it forbids, that is an error."""
    known = closed_properties(schema)
    if known is None or schema.get("additionalProperties") is False:
        return []
    hints = []
    for name in given:
        if name not in known:
            guess = nearest(name, known)
            hints.append(
                f"no input {name!r}; "
                + (f"did you mean {guess!r}?" if guess else f"there is {', '.join(known)}")
            )
    return hints


async def _value(schema: dict[str, Any], name: str, text: str, files: Files) -> Any:
    if not text.startswith("@"):
        return parse_text(schema, name, text)
    if text.startswith("@@"):
        return parse_text(schema, name, text[1:])
    path = Path(text[1:])
    content = await asyncio.to_thread(_content, path)
    declared = schema.get("properties", {}).get(name, {})
    if declared.get("type") == "string":
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"{str(path)!r} is not UTF-8 text (byte {error.start}), and this input is a text"
            raise InvalidDocument([_problem(name, message)]) from None
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return asdict(await files.save(content, name=path.name, media_type=media_type))


def _content(path: Path) -> bytes:
    return path.expanduser().read_bytes()


def _from_file(path: Path) -> dict[str, Any]:
    try:
        data = read(sys.stdin.read() if str(path) == "-" else path.read_text("utf-8-sig"))
    except OSError as error:
        message = f"cannot read the inputs {str(path)!r}: {error.strerror}"
        raise InvalidDocument([_problem(None, message)]) from None
    except UnicodeDecodeError as error:
        message = f"the inputs {str(path)!r} are not UTF-8 (byte {error.start})"
        raise InvalidDocument([_problem(None, message)]) from None
    except Unreadable as error:
        line = f" line {error.line}" if error.line else ""
        message = f"the inputs {str(path)!r}{line}: {error.message}"
        raise InvalidDocument([_problem(None, message)]) from None
    if not isinstance(data, dict):
        raise InvalidDocument([_problem(None, f"{str(path)!r} must hold an object of inputs by name")])
    return data


def _problem(field: str | None, message: str) -> Problem:
    return Problem(code="inputs", field=f"inputs.{field}" if field else "inputs", message=message)
