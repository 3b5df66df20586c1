"""Writes a tree as source text that parses to the same tree."""

from __future__ import annotations

from typing import Any

from interlace.engine.expressions.syntax import (
    Binary,
    Call,
    Comparison,
    Concat,
    Conditional,
    Embedded,
    Filter,
    Item,
    Key,
    Literal,
    Local,
    Node,
    Path,
    Record,
    Sequence,
    Slice,
    Test,
    Unary,
)


def path_text(root: str, keys: tuple[Key, ...]) -> str:
    """Write a path: `fetch.body['x-y'][0]`."""
    text = root
    for key in keys:
        if isinstance(key, str) and key.isidentifier():
            text += f".{key}"
        else:
            text += f"[{literal_text(key)}]"
    return text


def literal_text(value: Any) -> str:
    """Write a constant."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal_text, value))}]"
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{literal_text(key)}: {literal_text(part)}" for key, part in value.items()) + "}"
        )
    return repr(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def unparse(node: Node) -> str:  # noqa: C901, PLR0911, PLR0912 - one case a kind of node
    """Write a tree with brackets around every operand that is not a single thing."""
    match node:
        case Literal():
            return literal_text(node.value)
        case Path() | Local():
            return path_text(node.root, node.keys)
        case Item():
            return f"{_operand(node.base)}[{unparse(node.key)}]"
        case Slice():
            step = f":{unparse(node.step)}" if node.step is not None else ""
            return f"{_operand(node.base)}[{_optional(node.first)}:{_optional(node.last)}{step}]"
        case Sequence():
            return f"[{', '.join(map(unparse, node.items))}]"
        case Record():
            return "{" + ", ".join(f"{unparse(key)}: {unparse(value)}" for key, value in node.pairs) + "}"
        case Unary():
            return f"{node.operator}{' ' if node.operator == 'not' else ''}{_operand(node.operand)}"
        case Binary():
            return f"{_operand(node.left)} {node.operator} {_operand(node.right)}"
        case Concat():
            return " ~ ".join(map(_operand, node.parts))
        case Comparison():
            links = "".join(f" {operator} {_operand(operand)}" for operator, operand in node.links)
            return f"{_operand(node.first)}{links}"
        case Conditional():
            otherwise = f" else {_operand(node.otherwise)}" if node.otherwise is not None else ""
            return f"{_operand(node.then)} if {_operand(node.test)}{otherwise}"
        case Filter():
            return f"{_operand(node.operand)} | {node.name}{_arguments(node.arguments, node.options)}"
        case Test():
            return f"{_operand(node.operand)} is {node.name}{_arguments(node.arguments, ())}"
        case Call():
            return f"{node.name}{_arguments(node.arguments, node.options) or '()'}"
        case Embedded():
            return unparse(node.node)


def _optional(node: Node | None) -> str:
    return "" if node is None else unparse(node)


def _operand(node: Node) -> str:
    text = unparse(node)
    if isinstance(node, Path | Local | Item | Slice | Sequence | Record | Call):
        return text
    if isinstance(node, Literal) and not (
        isinstance(node.value, int | float) and not isinstance(node.value, bool)
    ):
        return text
    return f"({text})"


def _arguments(arguments: tuple[Node, ...], options: tuple[tuple[str, Node], ...]) -> str:
    parts = [*map(unparse, arguments), *(f"{name}={unparse(value)}" for name, value in options)]
    return f"({', '.join(parts)})" if parts else ""
