"""A new item as the config of a TRANSFORM: readable fields rather than one long expression."""

from __future__ import annotations

from typing import Any

from interlace.engine.expressions import ExpressionError, compile_expression
from interlace.engine.expressions.syntax import Concat, Literal
from interlace.engine.expressions.unparse import unparse
from interlace.importers.expressions import Part, Ref, is_simple, literal, mixed, shown
from interlace.importers.foreign import Json
from interlace.importers.n8n.values import Value
from interlace.importers.neat import neat


def structured(value: Value) -> Json:
    """`input` and `steps` that give the value."""
    if value.fields is None:
        return {"input": shown(value.code)}
    if value.base is None:
        return {"input": {name: template(part) for name, part in value.fields.items()}}
    if not value.fields:
        return structured(value.base)
    return {
        "input": shown(value.base.code),
        "steps": [{"merge": {"with": {name: template(part) for name, part in value.fields.items()}}}],
    }


def template(value: Value) -> Any:
    """A value for a field that takes expressions anywhere in it."""
    if value.parts is not None:
        return mixed(value.parts)
    if is_simple(value.code):
        return constant_of(value.code)
    if value.fields is not None and value.base is None and value.kind == "object":
        return {name: template(part) for name, part in value.fields.items()}
    return constant_of(value.code)


def constant_of(code: str) -> Any:
    """The constant that an expression is, else the expression in braces."""
    try:
        node = compile_expression(code).node
    except ExpressionError:
        return shown(code)
    if isinstance(node, Literal):
        return literal(node.value) if isinstance(node.value, str) else node.value
    if isinstance(node, Concat):
        parts: list[Part] = [
            str(part.value)
            if isinstance(part, Literal) and isinstance(part.value, str)
            else Ref(neat(unparse(part)))
            for part in node.parts
        ]
        several = sum(isinstance(part, Ref) for part in parts) > 1
        if several or any(isinstance(part, str) and part.strip() for part in parts):
            return mixed(parts)
    return shown(code)
