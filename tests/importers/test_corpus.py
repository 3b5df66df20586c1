"""Real files: all are imported, nearly all give valid documents, damaged ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers import corpus
from tests.importers.running import errors, imported

pytestmark = pytest.mark.skipif(not corpus.HERE, reason="the corpus is not here")


@pytest.mark.parametrize(
    ("paths", "share"),
    [(corpus.DIFY, 0.95), (corpus.N8N, 0.9), (corpus.FIM_ONE, 1)],
    ids=["dify", "n8n", "fim_one"],
)
def test_files_give_valid_documents(paths: list[Path], share: float) -> None:
    wrong: dict[str, list[str]] = {}
    for path in paths:
        made = imported(path.read_text("utf-8"))
        assert made.ok, (path.name, made.report)
        if found := errors(made):
            wrong[path.name] = found
    assert len(wrong) <= len(paths) * (1 - share), wrong


@pytest.mark.parametrize("paths", [corpus.DIFY, corpus.N8N, corpus.FIM_ONE], ids=["dify", "n8n", "fim_one"])
def test_nodes_become_real_nodes(paths: list[Path]) -> None:
    total = lost = 0
    for path in paths:
        made = imported(path.read_text("utf-8"))
        total += corpus.node_count(path)
        lost += len({entry.source_node for entry in made.report if entry.level == "unsupported"})
    assert lost <= total * 0.1


def test_damaged_files_are_refused() -> None:
    for path in corpus.DAMAGED:
        made = imported(path.read_text("utf-8"))
        assert not made.ok
        assert [(entry.level, entry.code) for entry in made.report] == [("error", "damaged_connection")]


def test_a_file_read_as_another_product_is_refused_in_words() -> None:
    for path, source in ((corpus.DIFY[0], "n8n"), (corpus.N8N[0], "dify"), (corpus.FIM_ONE[0], "n8n")):
        made = imported(path.read_text("utf-8"), source)
        assert not made.ok
        assert made.report[-1].level == "error"
