"""Edits of recorded outputs: paths such as `fetch.body.items[0].name`, and values set there."""

from __future__ import annotations

import re
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def parse_path(text: str) -> list[str | int]:
    """The steps of a path.

    Raises:
        InvalidDocument: it cannot be read.
    """
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise _unreadable(text, f"{text!r} is no path; write it as node.output[0].name")
        steps.append(match[1] if match[1] is not None else int(match[2]))
        position = match.end()
    if not steps:
        raise _unreadable(text, "a path is empty; write it as node.output[0].name")
    return steps


def set_in(outputs: dict[str, Any], path: list[str | int], value: Any, node: str) -> None:
    """Set one value; what leads to it must be there, the last name may be new.

    Raises:
        InvalidDocument: a step leads nowhere.
    """
    place: Any = outputs
    for step in path[:-1]:
        place = _step(place, step, path, node)
    key: Any = path[-1]
    if isinstance(place, dict) if isinstance(key, str) else isinstance(place, list) and key < len(place):
        place[key] = value
    else:
        raise _nowhere(node, path, key)


def _step(place: Any, step: str | int, path: list[str | int], node: str) -> Any:
    if isinstance(place, dict) and isinstance(step, str) and step in place:
        return place[step]
    if isinstance(place, list) and isinstance(step, int) and step < len(place):
        return place[step]
    raise _nowhere(node, path, step)


def _nowhere(node: str, path: list[str | int], step: str | int) -> InvalidDocument:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return InvalidDocument(
        [
            Problem(
                code="replay",
                node=node,
                field=text[1:],
                message=f"the outputs of {node} have nothing at {step!r}",
            )
        ]
    )


def _unreadable(text: str, message: str) -> InvalidDocument:
    return InvalidDocument([Problem(code="replay", field=text, message=message)])
