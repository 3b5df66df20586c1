"""How a node's config says which of its fields are expressions, when they are evaluated and in which scope.

A field is one of
- `Dynamic[T]` (ƒ): may hold `{{ }}`; the engine evaluates it before the node runs, the node sees a `T`;
- `Secret[T]` (ƒ): the same, and `secrets.…` may stand in it;
- `Lazy[T]` (ƒ): the node evaluates it itself with `ctx.resolve(...)`;
- `Bare` (ƒ!): one bare expression, which the node evaluates itself with `ctx.evaluate(...)`.
`In(scope)` beside the alias names another scope than the node's own: `item` adds `item` and `index`, `body` is the
inside of the node's body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

Syntax = Literal["value", "expression", "template"]
ScopeName = Literal["node", "item", "body"]


@dataclass(frozen=True, slots=True)
class Expression:
    """Marks a config field that holds expressions; see the module's text for the kinds."""

    syntax: Syntax = "value"
    lazy: bool = False
    secret: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        inner = handler(source)
        if self.syntax != "value":
            return inner
        return core_schema.no_info_wrap_validator_function(_template_or_value, inner)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        inner = handler(core)
        hint: dict[str, Any] = {"expression": self.syntax}
        if self.secret:
            hint["secret"] = True
        if self.syntax != "value" or inner.get("type") == "string" or not inner:
            return {**inner, "ui": hint}
        return {"anyOf": [inner, {"type": "string", "pattern": r"\{\{"}], "ui": hint}


@dataclass(frozen=True, slots=True)
class In:
    """Names the scope in which an expression field is evaluated."""

    scope: ScopeName


def _template_or_value(value: Any, handler: Any) -> Any:
    if isinstance(value, str) and "{{" in value:
        return value
    return handler(value)


T = TypeVar("T")
Dynamic = Annotated[T, Expression()]
Secret = Annotated[T, Expression(secret=True)]
Lazy = Annotated[T, Expression(lazy=True)]
Bare = Annotated[str, Expression("expression", lazy=True)]
Data = Annotated[Any, WithJsonSchema({})]
"""Any JSON value, passed by reference: pydantic neither walks nor copies it."""


@dataclass(frozen=True, slots=True)
class FieldExpression:
    """One expression-bearing field of a config, with the raw value that stands there."""

    path: str
    value: Any
    marker: Expression
    scope: ScopeName
    model: type[BaseModel]
    field: str


@cache
def markers(model: type[BaseModel]) -> dict[str, tuple[Expression, ScopeName]]:
    """The expression fields of a model class, by field name."""
    found: dict[str, tuple[Expression, ScopeName]] = {}
    for name, info in model.model_fields.items():
        marker = _marker(info)
        if marker is not None:
            scope: ScopeName = next((m.scope for m in info.metadata if isinstance(m, In)), "node")
            found[name] = (marker, scope)
    return found


def _marker(info: FieldInfo) -> Expression | None:
    for entry in info.metadata:
        if isinstance(entry, Expression):
            return entry
    return _nested_marker(info.annotation)


def _nested_marker(annotation: Any) -> Expression | None:
    """The marker of `Dynamic[T] | None`: pydantic leaves it inside the union."""
    for part in getattr(annotation, "__args__", ()):
        for entry in getattr(part, "__metadata__", ()):
            if isinstance(entry, Expression):
                return entry
    return None


def expressions(config: BaseModel, path: str = "config") -> Iterator[FieldExpression]:
    """Every expression-bearing field of a config that holds a value, nested models included."""
    marked = markers(type(config))
    for name, info in type(config).model_fields.items():
        value = getattr(config, name)
        if value is None:
            continue
        where = f"{path}.{info.alias or name}"
        if name in marked:
            marker, scope = marked[name]
            yield FieldExpression(where, value, marker, scope, type(config), name)
        else:
            yield from _inside(value, where)


def _inside(value: Any, path: str) -> Iterator[FieldExpression]:
    if isinstance(value, BaseModel):
        yield from expressions(value, path)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _inside(entry, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _inside(entry, f"{path}.{key}")
