"""Compile a node's config once: what is constant stays, what holds `{{ }}` becomes a function of the scope."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import Names, compile_value
from interlace.engine.fields import Expression, In, markers
from interlace.engine.node import Config

Resolve = Callable[[Names], Any]


def compile_config(config: Config) -> Callable[[Names], Config] | None:
    """The function that gives the evaluated config in a scope; None when nothing has to be evaluated."""
    return _compile_model(config, "config")


def _compile_model(model: BaseModel, path: str) -> Resolve | None:
    parts: list[tuple[str, Resolve]] = []
    marked = markers(type(model))
    for name in type(model).model_fields:
        value = getattr(model, name)
        if value is None:
            continue
        if name in marked:
            marker, _scope = marked[name]
            resolve = None if marker.lazy else _compile_field(type(model), name, value, f"{path}.{name}")
        else:
            resolve = _compile_nested(value, f"{path}.{name}")
        if resolve is not None:
            parts.append((name, resolve))
    if not parts:
        return None
    if len(parts) == 1:
        only, only_resolve = parts[0]
        return lambda names: model.model_copy(update={only: only_resolve(names)})
    return lambda names: model.model_copy(update={name: resolve(names) for name, resolve in parts})


def _compile_field(model: type[BaseModel], name: str, value: Any, path: str) -> Resolve | None:
    compiled = compile_value(value)
    if compiled.constant and not _has_template(value):
        return None
    check = _checker(model, name)
    evaluate = compiled.evaluate
    if check is None:
        return evaluate

    def resolve(names: Names) -> Any:
        return check(evaluate(names), path)

    return resolve


def _has_template(value: Any) -> bool:
    if isinstance(value, str):
        return "{{" in value
    if isinstance(value, dict):
        return any(_has_template(entry) for entry in value.values())
    return isinstance(value, list) and any(_has_template(entry) for entry in value)


def _compile_nested(value: Any, path: str) -> Resolve | None:
    if isinstance(value, BaseModel):
        return _compile_model(value, path)
    if isinstance(value, list):
        entries = [_compile_nested(entry, f"{path}[{index}]") for index, entry in enumerate(value)]
        if any(entries):
            pairs = list(zip(value, entries, strict=True))
            return lambda names: [entry if resolve is None else resolve(names) for entry, resolve in pairs]
    if isinstance(value, dict):
        resolvers = {key: _compile_nested(entry, f"{path}.{key}") for key, entry in value.items()}
        if any(resolvers.values()):
            return lambda names: {
                key: value[key] if resolve is None else resolve(names) for key, resolve in resolvers.items()
            }
    return None


@cache
def _checker(model: type[BaseModel], name: str) -> Callable[[Any, str], Any] | None:
    info = model.model_fields[name]
    if info.annotation is Any:
        return None
    rest = [entry for entry in info.metadata if not isinstance(entry, Expression | In)]
    annotation: Any = info.annotation
    for entry in rest:
        annotation = Annotated[annotation, entry]
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def check(value: Any, path: str) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f"[{part!r}]" for part in first["loc"])
            raise ExpressionError(
                f"{path}{where}: {first['msg']}, but the expression gave {_describe(value)}",
                kind="wrong_type",
            ) from None

    return check


def _describe(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"  # noqa: PLR2004 - one line
