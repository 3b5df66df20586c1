from __future__ import annotations

import json

import pytest

from interlace.engine.errors import InvalidDocument
from interlace.flows.node_test import test_node as try_node
from interlace.flows.platform import Platform
from tests.flows.documents import GREETING, chain, template
from tests.loopback import Loopback


async def test_it_reads_what_is_given(platform: Platform) -> None:
    document = json.loads(
        chain(template("a", "A"), template("b", "{{ a.text }} {{ vars.v }} {{ inputs.n }}"))
    )
    document["variables"] = {"v": {"type": "integer", "default": 1}}
    pinned = await platform.documents.from_text(json.dumps(document))
    report = await try_node(platform, pinned.document, "b", {"a": {"text": "x"}, "vars": {"v": 2}, "n": 3})
    assert report["outputs"]["text"] == "x 2 3"
    assert report["attempts"] == 1
    assert [event["type"] for event in report["events"]] == ["node.started", "node.succeeded"]
    assert not (await platform.store.runs.list()).items


async def test_a_node_inside_a_body(platform: Platform) -> None:
    body = {"nodes": [template("inner", "{{ item }}/{{ index }}")], "edges": []}
    each = {
        "id": "each", "type": "ITERATION", "body": body,
        "config": {"items": "{{ [1] }}", "output": "{{ inner.text }}"},
    }  # fmt: skip
    pinned = await platform.documents.from_text(chain(each))
    report = await try_node(platform, pinned.document, "inner", {"item": "x", "index": 4})
    assert report["outputs"]["text"] == "x/4"
    whole = await try_node(platform, pinned.document, "each", {})
    assert whole["outputs"]["results"] == ["1/0"]


async def test_the_node_has_to_be_there(platform: Platform, loopback: Loopback) -> None:
    pinned = await platform.documents.from_text(GREETING)
    with pytest.raises(InvalidDocument, match="did you mean 'greet'"):
        await try_node(platform, pinned.document, "gret", {})
    with pytest.raises(InvalidDocument):
        await try_node(platform, pinned.document, "greet", {"name": 5})
    report = await try_node(platform, pinned.document, "greet", {})
    assert (report["status"], report["outputs"]) == ("failed", None)
