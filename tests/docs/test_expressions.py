"""Every example of the page on expressions is evaluated, and everything the language has is on it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import Missing, compile_expression
from interlace.engine.expressions.filters.registry import ALIASES, FILTERS, FUNCTIONS
from interlace.engine.expressions.parser import _BINARY
from interlace.engine.expressions.predicates import ALIASES as TEST_ALIASES
from interlace.engine.expressions.predicates import PREDICATES
from tests.docs.pages import ROOT, blocks, code_of, prose, rows

PAGE = ROOT / "docs" / "guide" / "expressions.md"
EXAMPLES = [row for row in rows(prose(PAGE)) if len(row) == 3]


class Table:
    """The names that the page declares."""

    def __init__(self) -> None:
        (self.values,) = [yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"]

    def lookup(self, root: str) -> object:
        return self.values[root] if root in self.values else Missing(f"there is no node {root!r}")


@pytest.mark.parametrize(("what", "expression", "result"), EXAMPLES, ids=[row[1] for row in EXAMPLES])
def test_the_example_gives_what_the_page_says(what: str, expression: str, result: str) -> None:
    assert what
    compiled = compile_expression(code_of(expression))
    if result.startswith("error "):
        with pytest.raises(ExpressionError) as caught:
            compiled.evaluate(Table())
        assert caught.value.kind == code_of(result.removeprefix("error "))
        return
    found: Any = json.loads(json.dumps(compiled.evaluate(Table())))
    expected = json.loads(code_of(result))
    assert found == expected
    assert type(found) is type(expected)


def section(title: str) -> str:
    """A section of the page, its subsections included."""
    _, found, rest = prose(PAGE).partition(f"\n## {title}\n")
    assert found, title
    return rest.partition("\n## ")[0]


def first_cells(title: str) -> list[str]:
    return [code_of(row[0]) for row in rows(section(title)) if len(row) == 3]


def test_every_filter_test_and_function_has_its_example() -> None:
    assert sorted(first_cells("Filters")) == sorted(FILTERS)
    assert sorted(first_cells("Tests")) == sorted(PREDICATES)
    assert sorted(first_cells("Functions")) == sorted(FUNCTIONS)
    for title, names in (("Filters", FILTERS), ("Functions", FUNCTIONS), ("Tests", PREDICATES)):
        for row in rows(section(title)):
            name = code_of(row[0])
            assert name in names
            assert name in code_of(row[1]), f"the example of {name} does not use it"


def test_every_operator_has_its_example() -> None:
    shown = " ".join(row[0] for row in rows(section("Operators")))
    for operator in _BINARY:
        assert f"`{operator}`" in shown, operator
    for other in ("`-x`", "`not`", "`not in`", "`x if c else y`", "`is`, `is not`", "`|`"):
        assert other in shown, other


def test_every_other_name_is_listed() -> None:
    text = section("Other names of filters and tests")
    for alias in (*ALIASES, *TEST_ALIASES):
        assert f"`{alias}`" in text, alias
