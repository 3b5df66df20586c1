"""One-line ways to check a document."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interlace.engine.registry import Registry
from interlace.engine.source import load
from interlace.engine.validate import Validation, check
from tests.engine.validate.kinds import make_registry

Found = Callable[..., list[tuple[str, str | None, str | None, int | None]]]
Examine = Callable[..., Validation]


@pytest.fixture(scope="session")
def registry() -> Registry:
    return make_registry()


@pytest.fixture
def examine(registry: Registry) -> Examine:
    """Validate a YAML text whose first line is empty, so that lines count from 2."""
    return lambda text, **options: check(load(text), registry, **options)


@pytest.fixture
def found(examine: Examine) -> Found:
    """(code, node, field, line) of each problem of a YAML text."""
    return lambda text, **options: [
        (p.code, p.node, p.field, p.line) for p in examine(text, **options).problems
    ]


def braced(expression: str) -> str:
    return f"{{{{ {expression} }}}}"
