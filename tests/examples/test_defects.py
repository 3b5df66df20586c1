"""Defects seeded into the examples are found at their node and field; the examples themselves raise no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

import interlace.nodes
from interlace.engine.registry import Registry
from interlace.engine.source import load_file
from interlace.engine.validate import check
from tests.engine.validate.mutations import missed, mutations

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
REGISTRY = Registry()
REGISTRY.discover(interlace.nodes)
WANTED, FOUND = 100, 0.95


def test_there_are_at_least_three_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_raise_no_alarm(path: Path) -> None:
    assert check(load_file(path), REGISTRY).problems == ()


def test_seeded_defects_are_found_at_their_node_and_field() -> None:
    seeded = [entry for path in EXAMPLES for entry in mutations(load_file(path).require(), REGISTRY)]
    not_found = [text for entry in seeded if (text := missed(entry, REGISTRY)) is not None]
    assert len(seeded) >= WANTED
    assert len(not_found) <= (1 - FOUND) * len(seeded), not_found
