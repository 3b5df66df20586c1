"""`a.x | default(b.y)` of two exclusive branches reads b only where a gave nothing: no alarm."""

from __future__ import annotations

import pytest

import interlace.nodes
from interlace.engine.registry import Registry
from interlace.engine.source import load
from interlace.engine.validate import check

KINDS = Registry()
KINDS.discover(interlace.nodes)

DOCUMENT = """
schema: interlace/v1
name: Either
inputs: {{type: object, required: [amount], properties: {{amount: {{type: number}}}}}}
nodes:
  - {{id: start, type: START}}
  - {{id: size, type: CONDITION, config: {{cases: [{{id: large, when: "inputs.amount > 9"}}, {{id: huge, when: "inputs.amount > 99"}}]}}}}
  - {{id: a, type: TEMPLATE, config: {{template: A}}}}
  - {{id: b, type: TEMPLATE, config: {{template: B}}}}
  - {{id: done, type: END, config: {{outputs: {{text: "{{{{ {expression} }}}}"}}}}}}
edges: [start -> size, size.large -> a, {second}, a -> done, b -> done]
"""


@pytest.mark.parametrize(
    ("expression", "second", "codes"),
    [
        ("a.text | default(b.text)", "size.huge -> b, size.else -> b", []),
        ("b.text | default(a.text)", "size.huge -> b, size.else -> b", []),
        ("(a.text | default(b.text)) ~ '!'", "size.huge -> b, size.else -> b", []),
        ("a.text | default(b.text)", "size.else -> b, size.huge -> done", ["possibly_missing"]),
        ("a.text | default('x') ~ b.text", "size.huge -> b, size.else -> b", ["possibly_missing"]),
    ],
)
def test_a_fallback_is_missing_only_where_nothing_came_before(
    expression: str, second: str, codes: list[str]
) -> None:
    found = check(load(DOCUMENT.format(expression=expression, second=second)), KINDS)
    assert [problem.code for problem in found.problems] == codes
