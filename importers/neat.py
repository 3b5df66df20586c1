"""Writes an expression with no more brackets than it needs, as a person would."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from interlace.engine.expressions import ExpressionError, compile_expression
from interlace.engine.expressions.syntax import (
    Binary,
    Call,
    Comparison,
    Concat,
    Conditional,
    Filter,
    Item,
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
from interlace.engine.expressions.unparse import literal_text, path_text

_CONDITIONAL, _OR, _AND, _NOT, _COMPARE, _SUM, _CONCAT, _PRODUCT, _POWER, _SIGN, _FILTER, _POSTFIX = range(12)
_LEVELS: Final = {
    "or": _OR,
    "and": _AND,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "//": _PRODUCT,
    "%": _PRODUCT,
    "**": _POWER,
}


@lru_cache(maxsize=4096)
def neat(code: str) -> str:
    """The expression written anew; as it is where it cannot be read or would come to mean something else."""
    try:
        node = compile_expression(code).node
        made = _write(node)[0]
        return made if compile_expression(made).node == node else code
    except (ExpressionError, RecursionError):
        return code


def _write(node: Node) -> tuple[str, int]:  # noqa: C901, PLR0911, PLR0912 - one case a kind of node
    """The text, and how tightly it holds together."""
    match node:
        case Literal():
            negative = (
                isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value < 0
            )
            return literal_text(node.value), _SIGN if negative else _POSTFIX
        case Path() | Local():
            return path_text(node.root, node.keys), _POSTFIX
        case Item():
            key = node.key
            base = _part(node.base, _POSTFIX)
            if isinstance(key, Literal) and isinstance(key.value, str) and key.value.isidentifier():
                return f"{base}.{key.value}", _POSTFIX
            return f"{base}[{_write(key)[0]}]", _POSTFIX
        case Slice():
            inside = ":".join("" if part is None else _write(part)[0] for part in (node.first, node.last))
            step = f":{_write(node.step)[0]}" if node.step is not None else ""
            return f"{_part(node.base, _POSTFIX)}[{inside}{step}]", _POSTFIX
        case Sequence():
            return f"[{', '.join(_write(item)[0] for item in node.items)}]", _POSTFIX
        case Record():
            return "{" + ", ".join(
                f"{_write(key)[0]}: {_write(value)[0]}" for key, value in node.pairs
            ) + "}", _POSTFIX
        case Unary():
            if node.operator == "not" and isinstance(node.operand, Test):
                inner = node.operand
                return (
                    f"{_part(inner.operand, _FILTER)} is not {inner.name}{_arguments(inner.arguments, ())}",
                    _FILTER,
                )
            if node.operator == "not":
                return f"not {_part(node.operand, _NOT)}", _NOT
            return f"{node.operator}{_part(node.operand, _POSTFIX)}", _SIGN
        case Binary():
            level = _LEVELS[node.operator]
            right = level + 1
            return f"{_part(node.left, level)} {node.operator} {_part(node.right, right)}", level
        case Concat():
            return " ~ ".join(_part(part, _CONCAT + 1) for part in node.parts), _CONCAT
        case Comparison():
            links = "".join(f" {operator} {_part(operand, _COMPARE + 1)}" for operator, operand in node.links)
            return f"{_part(node.first, _COMPARE + 1)}{links}", _COMPARE
        case Conditional():
            otherwise = f" else {_part(node.otherwise, _CONDITIONAL)}" if node.otherwise is not None else ""
            return f"{_part(node.then, _OR)} if {_part(node.test, _OR)}{otherwise}", _CONDITIONAL
        case Filter():
            return (
                f"{_part(node.operand, _FILTER)} | {node.name}{_arguments(node.arguments, node.options)}",
                _FILTER,
            )
        case Test():
            return f"{_part(node.operand, _FILTER)} is {node.name}{_arguments(node.arguments, ())}", _FILTER
        case Call():
            return f"{node.name}{_arguments(node.arguments, node.options) or '()'}", _POSTFIX
        case _:
            return _write(node.node)


def _part(node: Node, least: int) -> str:
    text, level = _write(node)
    return text if level >= least else f"({text})"


def _arguments(arguments: tuple[Node, ...], options: tuple[tuple[str, Node], ...]) -> str:
    parts = [
        *(_write(one)[0] for one in arguments),
        *(f"{name}={_write(value)[0]}" for name, value in options),
    ]
    return f"({', '.join(parts)})" if parts else ""
