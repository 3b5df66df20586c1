from __future__ import annotations

import json
import string
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlace.engine.document import Document
from interlace.engine.source import dump, load
from tests.engine.test_source import SMALL


def test_dump_is_short_and_readable() -> None:
    document = Document.model_validate(
        {
            "name": "Rechnung 請求書",
            "inputs": {"type": "object", "properties": {"n": {"type": "number"}}},
            "settings": {"timeout": "90s"},
            "nodes": [
                {"id": "start", "type": "START"},
                {
                    "id": "p",
                    "type": "TEMPLATE",
                    "timeout": "10m",
                    "config": {"template": "Hello\n  you\n", "x": "no", "y": "0o17", "z": "1e3"},
                },
            ],
            "edges": [
                {"from": "start", "to": "p"},
                {"from": "p", "handle": "needs work", "to": "$break"},
                {"from": "a", "handle": "->", "to": "b"},
            ],
            "ui": {"positions": {"start": [0, 1.5]}, "zoom": 2},
        }
    )
    assert (
        dump(document)
        == """\
schema: interlace/v1
name: Rechnung 請求書
inputs:
  type: object
  properties:
    n:
      type: number
settings:
  timeout: 90s
nodes:
  - id: start
    type: START
  - id: p
    type: TEMPLATE
    timeout: 10m
    config:
      template: |
        Hello
          you
      x: 'no'
      y: '0o17'
      z: '1e3'
edges:
  - start -> p
  - p.needs work -> $break
  - from: a
    handle: ->
    to: b
ui:
  positions:
    start:
      - 0
      - 1.5
  zoom: 2
"""
    )


TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "",
            " ",
            "\n",
            "a\n",
            " a\nb",
            "a\n\nb\n",
            "no",
            "1e3",
            "0x1",
            "~",
            "a: b",
            "- x",
            "# x",
            "{{ a }}",
            "a #b",
            "\t",
            "a\r\nb",
            "\u2028",
            "😀",
            "'",
            '"',
            "2026-01-01",
            "!x",
            "&a",
            "*a",
            "<<",
            "=",
            "12:30:45",
            "a \nb",
            "---\n",
            "\ufeff",
        ]
    ),
).filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
IDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
DURATIONS = st.one_of(st.none(), st.sampled_from([0, 0.25, 1, 59.5, 60, 90, 3600, 86400, 1e-7, 12345678.9]))


@st.composite
def node(draw: st.DrawFn, depth: int = 1) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": draw(IDS),
        "type": draw(st.sampled_from(["TEMPLATE", "LOOP", "HTTP"])),
        "timeout": draw(DURATIONS),
    }
    made["config"] = {
        key: item for key, item in draw(st.dictionaries(TEXTS, VALUES, max_size=3)).items() if key != "body"
    }
    if draw(st.booleans()):
        made["retry"] = {
            "max": draw(st.integers(0, 9)),
            "delay": draw(DURATIONS) or 2,
            "on": draw(st.none() | st.lists(TEXTS, max_size=2)),
        }
    if draw(st.booleans()):
        made["wait"] = {"for": draw(DURATIONS) or 1}
    made["label"] = draw(st.none() | TEXTS)
    made["default_output"] = draw(st.none() | st.dictionaries(TEXTS, VALUES, max_size=2))
    if depth and draw(st.booleans()):
        made["body"] = {"nodes": draw(st.lists(node(depth=depth - 1), max_size=2)), "edges": draw(edges)}
    return made


edges = st.lists(
    st.fixed_dictionaries({"from": IDS | TEXTS, "handle": IDS | TEXTS, "to": IDS | TEXTS}), max_size=3
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    return Document.model_validate(
        {
            "name": draw(TEXTS.filter(bool)),
            "description": draw(st.none() | TEXTS),
            "inputs": draw(st.just({"type": "object"}) | st.dictionaries(TEXTS, VALUES, max_size=2)),
            "variables": draw(st.dictionaries(IDS, st.fixed_dictionaries({"default": VALUES}), max_size=2)),
            "settings": {"timeout": draw(DURATIONS), "chat": draw(st.booleans())},
            "triggers": draw(st.lists(st.dictionaries(TEXTS, VALUES, max_size=2), max_size=1)),
            "nodes": draw(st.lists(node(), max_size=3)),
            "edges": draw(edges),
            "ui": {
                "positions": draw(
                    st.dictionaries(IDS, st.tuples(st.integers(-9, 9), st.floats(-9, 9)), max_size=2)
                )
            },
        }
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_what_is_dumped_loads_as_the_same(document: Document) -> None:
    for form in ("yaml", "json"):
        text = dump(document, form)  # type: ignore[arg-type]
        again = load(text)
        assert again.document == document, again.problems
        assert dump(again.require(), form) == text  # type: ignore[arg-type]


JUNK = st.recursive(
    SCALARS | st.sampled_from(["start -> end", "a.b -> c", "START", "{{ x }}"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["id", "type", "config", "body", "nodes", "edges", "from", "to", "handle", "retry", "x"]
            )
            | TEXTS,
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(
            ["schema", "name", "nodes", "edges", "inputs", "variables", "settings", "ui", "triggers", "x"]
        ),
        JUNK,
    )
)
def test_junk_never_raises(data: dict[str, Any]) -> None:
    for text in (json.dumps(data), yaml.safe_dump(data, allow_unicode=True)):
        source = load(text)
        assert (source.document is None) == bool(source.problems)
        for problem in source.problems:
            assert problem.severity == "error"
            assert problem.line is None or 1 <= problem.line <= len(text.splitlines()) + 1


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=string.printable + "é😀\ud800", max_size=60))
def test_any_text_never_raises(text: str) -> None:
    for whole in (text, "{" + text, SMALL + text, "name: x\nnodes: " + text):
        source = load(whole)
        assert (source.document is None) == bool(source.problems)
