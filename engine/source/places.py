"""Where the values of a text stand: lines by path, composed only when a problem has to be shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import yaml

Step: TypeAlias = str | int
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def compose(text: str) -> yaml.Node | None:
    """The tree of nodes with their marks; None when the text cannot be composed.

    JSON goes through the same parser; its pairs of surrogate escapes, which YAML does not know, are replaced first.
    """
    try:
        node: yaml.Node | None = yaml.compose(_PAIR.sub("??????", text), Loader=_LOADER)
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError):
        return None
    return node


def steps(field: str) -> list[Step]:
    """`config.cases[0].when` as keys and indexes."""
    return [int(index) if index else name for index, name in _STEP.findall(field)]


def line_of(root: yaml.Node | None, path: Sequence[Step], inner: int = 0) -> int | None:
    """Line (from 1) of the value at a path, or of the nearest enclosing value that exists.

    `inner` is a line inside a text value, from 0: it counts where the text is written over several lines.
    """
    if root is None:
        return None
    node, line = root, root.start_mark.line
    for position, step in enumerate(path):
        found = _child(node, step) or _dotted_child(node, path[position:])
        if found is None:
            return int(line) + 1
        key, node = found
        line = key.start_mark.line
        if _rest_is_key(key, path[position:]):
            break
    if inner and isinstance(node, yaml.ScalarNode) and node.end_mark.line > node.start_mark.line:
        line = node.start_mark.line + inner
    if isinstance(node, yaml.ScalarNode) and node.style in {"|", ">"}:
        line = node.start_mark.line + 1 + inner
    return int(line) + 1


def _child(node: yaml.Node, step: Step) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return (node.value[step], node.value[step]) if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(step)), None)
    return None


def _dotted_child(node: yaml.Node, rest: Sequence[Step]) -> tuple[yaml.Node, yaml.Node] | None:
    """A key that itself holds dots or brackets (`X-Rate.Limit`), which a dotted path cannot tell apart."""
    if not isinstance(node, yaml.MappingNode):
        return None
    for key, value in node.value:
        if isinstance(key.value, str) and steps(key.value) == list(rest):
            return key, value
    return None


def _rest_is_key(key: yaml.Node, rest: Sequence[Step]) -> bool:
    return isinstance(key.value, str) and len(rest) > 1 and steps(key.value) == list(rest)


def repeated_key(text: str) -> tuple[str, int, int] | None:
    """The first key that stands twice in one mapping: its name, its line and the line of the first one."""
    root = compose(text)
    todo = [root] if root is not None else []
    done: set[int] = set()
    while todo:
        node = todo.pop()
        if id(node) in done:
            continue
        done.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            todo.extend(reversed(node.value))
        elif isinstance(node, yaml.MappingNode):
            seen: dict[Any, int] = {}
            for key, value in node.value:
                if key.value in seen:
                    return str(key.value), key.start_mark.line + 1, seen[key.value] + 1
                seen[key.value] = key.start_mark.line
                todo.append(value)
    return None
