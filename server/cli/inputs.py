"""`-i key=value` and `--inputs FILE`: inputs as the workflow's schema types them."""

from __future__ import annotations

import mimetypes
import sys
from pathlib import Path
from typing import Any

import yaml

from interlace.engine.errors import InvalidDocument
from interlace.engine.inputs import parse_text
from interlace.engine.problems import Problem
from interlace.engine.protocols import Files


async def read_inputs(
    schema: dict[str, Any], pairs: list[str], file: Path | None, files: Files
) -> dict[str, Any]:
    """The inputs of a run; the pairs win over the file.

    `key=@path` stores the file and gives a file value; for an input of type string it gives the file's text.

    Raises:
        InvalidDocument: a pair is no pair, a file cannot be read, or a text is not of the input's type.
    """
    found: dict[str, Any] = _from_file(file) if file is not None else {}
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


async def _value(schema: dict[str, Any], name: str, text: str, files: Files) -> Any:
    if not text.startswith("@"):
        return parse_text(schema, name, text)
    path = Path(text[1:]).expanduser()
    declared = schema.get("properties", {}).get(name, {})
    if declared.get("type") == "string":
        return path.read_text("utf-8")
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    value = await files.save(path.read_bytes(), name=path.name, media_type=media_type)
    return {
        "name": value.name, "media_type": value.media_type, "size": value.size, "sha256": value.sha256, "ref": value.ref,
    }  # fmt: skip


def _from_file(path: Path) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
        data = yaml.safe_load(text)
    except OSError as error:
        raise InvalidDocument([_problem(None, f"cannot read the inputs {str(path)!r}: {error.strerror}")]) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidDocument([_problem(None, f"{str(path)!r} is neither JSON nor YAML: {error}")]) from None
    if not isinstance(data, dict):
        raise InvalidDocument([_problem(None, f"{str(path)!r} must hold an object of inputs by name")])
    return data


def _problem(field: str | None, message: str) -> Problem:
    return Problem(code="inputs", field=f"inputs.{field}" if field else "inputs", message=message)
