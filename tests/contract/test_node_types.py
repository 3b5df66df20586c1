"""What every node type owes: schema, words, example, documentation, outputs as declared, error policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest

from interlace.engine.document import Document
from interlace.engine.testing import MemoryJournal, run_document
from interlace.engine.validate import validate
from interlace.flows.platform import Platform
from interlace.flows.report import run_report
from interlace.flows.runner import Request
from interlace.flows.settings import Settings
from interlace.ui_schema.catalogue import describe
from tests.contract.documents import (
    BODIES,
    ENDS,
    KINDS,
    NODE,
    OUTSIDE,
    REGISTRY,
    RUNNABLE,
    document,
    given,
    node_of,
    nothing,
)

ROOT = Path(__file__).parents[2]
INNER = [kind for kind in KINDS if kind not in ENDS]
SETTINGS = {"dev": {"SHOP_URL": "https://shop.example.com"}}
NOTHING = {"until": "{{ inputs.nothing }}"}
"""A wait that no type can begin: its instant is missing."""


def fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, model in {"": schema, **schema.get("$defs", {})}.items():
        for key, entry in model.get("properties", {}).items():
            yield f"{name}.{key}", entry


def test_there_are_types() -> None:
    assert {"START", "END", "CONDITION", "TEMPLATE", "CODE", "HTTP"} <= set(KINDS)
    assert all(REGISTRY[kind].__module__ == f"interlace.nodes.{kind.lower()}" for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_valid_and_every_field_has_its_words(kind: str) -> None:
    entry = describe(REGISTRY[kind])
    for part in ("config", "output"):
        jsonschema.Draft202012Validator.check_schema(entry[part])
        for where, schema in fields(entry[part]):
            assert schema.get("title"), f"{kind} {part}{where} has no title"
            assert str(schema.get("description", "")).endswith("."), f"{kind} {part}{where} has no sentence"
    assert entry["description"].endswith(".")
    assert entry["effects"] in ("none", "idempotent", "once")


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_config_is_valid_or_says_what_is_missing(kind: str) -> None:
    required = set(describe(REGISTRY[kind])["config"].get("required", ()))
    found = [
        p for p in validate(Document.model_validate(document(kind, {})), REGISTRY).errors if p.node == NODE
    ]
    missing = {p.field.removeprefix("config.") for p in found if p.code == "missing_field" and p.field}
    assert missing == required
    assert all(p.message and p.field and p.field.startswith("config") for p in found)
    if required:
        assert all(name in " ".join(p.message for p in found) for name in required)


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_field_is_named(kind: str) -> None:
    wrong = document(kind, {**REGISTRY[kind].example, "zzz": 1})
    found = [p for p in validate(Document.model_validate(wrong), REGISTRY).errors if p.node == NODE]
    assert [(p.code, p.field) for p in found] == [("unknown_field", "config.zzz")]


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_is_valid(kind: str) -> None:
    config = REGISTRY[kind].example
    assert validate(Document.model_validate(document(kind, config)), REGISTRY).errors == []
    jsonschema.validate(config, describe(REGISTRY[kind])["config"])


@pytest.mark.parametrize("kind", KINDS)
def test_handles_are_stable(kind: str) -> None:
    node, again = node_of(kind), node_of(kind)
    assert node.handles() == again.handles() == node.handles()
    assert len(set(node.handles())) == len(node.handles())
    assert "error" not in node.handles()
    assert (kind == "END") is (node.handles() == ())
    assert (kind in BODIES) is REGISTRY[kind].container


@pytest.mark.parametrize("kind", KINDS)
def test_the_documentation_has_a_page(kind: str) -> None:
    page = (ROOT / "docs" / "reference" / "nodes" / f"{kind}.md").read_text("utf-8")
    assert page.startswith(f"# {kind}\n")
    for name in REGISTRY[kind].config_type.model_json_schema(by_alias=True).get("properties", {}):
        assert f"`{name}`" in page, f"{kind}.{name}"


@pytest.mark.parametrize("kind", RUNNABLE)
async def test_the_example_runs_and_gives_what_it_declares(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLACE_SECRETS_API_TOKEN", "t")
    async with OUTSIDE.get(kind, nothing)(REGISTRY[kind].example, tmp_path) as outside:
        platform = await Platform.open(
            Settings(home=tmp_path / "home", environments=SETTINGS, **outside.settings)
        )
        try:
            if outside.prepare is not None:
                await outside.prepare(platform)
            if outside.stored is not None:
                child = await platform.documents.from_text(outside.stored)
                stored = await platform.store.workflows.push(child.document.name, child.text)
                await platform.store.workflows.publish(stored.workflow_id)
            path = tmp_path / "example.json"
            path.write_bytes(orjson.dumps(document(kind, outside.config)))
            pinned = await platform.documents.from_file(path)
            run_id = await platform.runner.start(pinned, Request(inputs=given(outside.config)))
            await platform.runner.wait(run_id)
            report = await run_report(platform.store, platform.documents, run_id)
            assert report["status"] == "succeeded", report["error"]
            outputs = (await platform.store.events.fold(run_id)).nodes[NODE].outputs
            assert orjson.loads(orjson.dumps(outputs)) == outputs
            jsonschema.validate(outputs, validate(pinned.document, REGISTRY).types[NODE])
        finally:
            await platform.close()


@pytest.mark.parametrize("kind", INNER)
@pytest.mark.parametrize("policy", ["stop", "continue", "branch"])
async def test_error_policies_hold_for_every_type(kind: str, policy: str) -> None:
    made = document(kind, REGISTRY[kind].example, wait=NOTHING, on_error=policy)
    caught = {"type": f"{{{{ {NODE}.error.type }}}}", "node": f"{{{{ {NODE}.error.node }}}}"}
    start, done = made["nodes"][0], made["nodes"][-1]
    tried = next(node for node in made["nodes"] if node["id"] == NODE)
    made["nodes"] = [start, tried, done, {"id": "caught", "type": "END", "config": {"outputs": caught}}]
    made["edges"] = [edge for edge in made["edges"] if edge["from"] == NODE]
    made["edges"] += [{"from": "start", "to": NODE}, {"from": NODE, "handle": "error", "to": "caught"}]
    journal = MemoryJournal()
    result = await run_document(made, {}, registry=REGISTRY, journal=journal)
    assert journal.of(NODE) == ["node.failed"]
    if policy == "stop":
        assert result.status == "failed"
        assert (result.error["node"], result.error["path"], result.error["type"]) == (NODE, NODE, "missing")
        return
    assert result.status == "succeeded"
    assert result.outputs == ({"ran": True} if policy == "continue" else {"type": "missing", "node": NODE})
