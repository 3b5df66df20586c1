"""Filters know types."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.knowledge.filters import compile_filter
from interlace.store.knowledge_rows import KbDocument

DOCUMENT = KbDocument(
    id="1", kb_id="k", source="a.pdf", name="a.pdf", media_type="", ref="", size=1, version=1,
    metadata={"year": 2024, "tags": ["hr", "law"], "draft": False, "issued": "2024-05-01"},
    properties={"language": "en", "title": "Leave Rules"}, added_by="local", created_at=0, updated_at=0, lease_until=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        ({"year": 2024}, True),
        ({"year": "2024"}, False),
        ({"year": {"gte": 2020, "lt": 2024}}, False),
        ({"year": {"gt": 2023.5}}, True),
        ({"year": {"gt": "2020"}}, False),
        ({"tags": "hr"}, True),
        ({"tags": {"contains": "law"}}, True),
        ({"tags": ["it", "law"]}, True),
        ({"tags": {"not_in": ["hr"]}}, False),
        ({"title": {"contains": "leave"}}, True),
        ({"draft": False}, True),
        ({"draft": 0}, False),
        ({"issued": {"gte": "2024-04-30T23:00:00+00:00", "lte": "2024-05-01"}}, True),
        ({"issued": "2024-05-01T00:00:00+00:00"}, True),
        ({"language": {"in": ["ja", "en"]}, "year": 2023}, False),
        ({"missing": {"exists": False}}, True),
        ({"missing": {"ne": 1}}, True),
        ({"missing": {"lt": 5}}, False),
        ({"source": "a.pdf"}, True),
    ],
)
def test_what_passes(wanted: dict[str, Any], passes: bool) -> None:
    test = compile_filter(wanted)
    assert test is not None
    assert test(DOCUMENT) is passes


@pytest.mark.parametrize(
    "wanted", [{"a": {"like": 1}}, {"a": {"in": 1}}, {"a": {"gt": True}}, {"a": {"lt": None}}]
)
def test_what_is_no_filter_is_said(wanted: dict[str, Any]) -> None:
    with pytest.raises(NodeError, match="filter: a") as raised:
        compile_filter(wanted)
    assert raised.value.kind == "knowledge_filter"
