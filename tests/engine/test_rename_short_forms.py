"""References inside short forms of a config are renamed like all others."""

from __future__ import annotations

import pytest

import interlace.nodes
from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.engine.rename import rename_node

KINDS = Registry()
KINDS.discover(interlace.nodes)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("LIST_OPERATION", {"input": [1], "operations": [{"sort": "old.text ~ item"}]}),
        ("LIST_OPERATION", {"input": [1], "operations": [{"group_by": "old.text"}]}),
        ("TRANSFORM", {"input": {}, "steps": [{"merge": "{{ old.text | fromjson }}"}]}),
        ("VARIABLE_AGGREGATOR", {"mode": "all", "values": {"x": "{{ old.text }}"}}),
        ("VARIABLE_AGGREGATOR", {"groups": {"g": ["{{ old.text }}"]}}),
        ("HTTP", {"method": "POST", "url": "https://example.com", "body": {"json": {"a": "{{ old.text }}"}}}),
    ],
)
def test_short_forms_are_renamed(kind: str, config: dict[str, object]) -> None:
    document = Document.model_validate(
        {
            "name": "t",
            "nodes": [
                {"id": "start", "type": "START"},
                {"id": "old", "type": "TEMPLATE", "config": {"template": "x"}},
                {"id": "n", "type": kind, "config": config},
                {"id": "end", "type": "END"},
            ],
            "edges": [{"from": a, "to": b} for a, b in (("start", "old"), ("old", "n"), ("n", "end"))],
        }
    )
    renamed = rename_node(document, "old", "fresh", registry=KINDS)
    text = str(renamed.nodes[2].config)
    assert "fresh.text" in text
    assert "old.text" not in text
