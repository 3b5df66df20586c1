"""What the tests of the expression language share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlace.engine.expressions import Missing, compile_expression, compile_template, compile_text


class Table:
    """Names from a mapping; an unknown one is missing."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def lookup(self, root: str) -> object:
        if root in self.values:
            return self.values[root]
        return Missing(f"there is no node {root!r}")


@pytest.fixture
def table() -> type[Table]:
    return Table


@pytest.fixture
def value() -> Callable[..., Any]:
    """Evaluate a bare expression with names given as keywords."""

    def evaluate(source: str, **names: Any) -> Any:
        return compile_expression(source).evaluate(Table(names))

    return evaluate


@pytest.fixture
def text() -> Callable[..., Any]:
    """Evaluate a text with `{{ }}`."""

    def evaluate(source: str, **names: Any) -> Any:
        return compile_text(source).evaluate(Table(names))

    return evaluate


@pytest.fixture
def render() -> Callable[..., str]:
    """Render a template."""

    def evaluate(source: str, *, autoescape: bool = False, **names: Any) -> str:
        result = compile_template(source, autoescape=autoescape).evaluate(Table(names))
        assert isinstance(result, str)
        return result

    return evaluate
