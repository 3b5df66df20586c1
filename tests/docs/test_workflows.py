"""Every workflow in the documentation is valid."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import interlace.nodes
from interlace.engine.document import NodeSpec
from interlace.engine.registry import Registry
from interlace.engine.source import load
from interlace.engine.validate import check
from tests.docs.pages import PAGES, ROOT, Block, blocks

REGISTRY = Registry()
REGISTRY.discover(interlace.nodes)
PLUG_IN = "docs/guide/node-type.md"
"""Its workflow uses the type that the page makes: test_plugin.py runs it."""


def workflows() -> list[tuple[str, Block]]:
    found = []
    for path in PAGES:
        for block in blocks(path):
            data = yaml.safe_load(block.text) if block.language == "yaml" else None
            if isinstance(data, dict) and "nodes" in data:
                found.append((path.relative_to(ROOT).as_posix(), block))
    return found


@pytest.mark.parametrize(("page", "block"), workflows(), ids=lambda value: getattr(value, "name", value))
def test_workflows_are_valid(page: str, block: Block) -> None:
    found = check(load(block.text), REGISTRY)
    unknown = [problem for problem in found.errors if problem.code == "unknown_type"]
    assert found.errors == (unknown if page == PLUG_IN else [])


def test_there_are_workflows() -> None:
    assert len(workflows()) >= 7


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "reference" / "nodes").glob("[A-Z]*_*.md")), ids=lambda p: p.stem
)
def test_examples_of_types_are_nodes(path: Path) -> None:
    (block,) = (block for block in blocks(path) if block.language == "yaml")
    spec = NodeSpec.model_validate(yaml.safe_load(block.text))
    assert spec.type == path.stem
    REGISTRY[spec.type].config_type.model_validate(spec.config)
