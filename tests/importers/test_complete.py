"""Nothing of a file is lost without a word: every node of it has an entry in the report, and every kind a row in the guide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlace.importers.dify.nodes import KINDS as DIFY_KINDS
from interlace.importers.fim_one import KINDS as FIM_ONE_KINDS
from interlace.importers.n8n.nodes import BY_NODE
from interlace.importers.n8n.nodes import KINDS as N8N_KINDS
from interlace.importers.n8n.nodes.triggers import KINDS as TRIGGERS
from tests.importers import corpus
from tests.importers.dify_files import compare, end, export, start, template
from tests.importers.dify_files import node as dify_node
from tests.importers.n8n_files import called, conditions, manual, rule, set_, workflow
from tests.importers.n8n_files import node as n8n_node
from tests.importers.running import imported

GUIDE = (Path(__file__).parents[2] / "docs/guide/importing.md").read_text("utf-8")


def dify_names(data: Any) -> set[str]:
    nodes = ((data.get("workflow") or {}).get("graph") or {}).get("nodes") or []
    kinds = [
        (one["data"].get("title") or "", one["data"].get("type") or one.get("type"), one) for one in nodes
    ]
    return {title.strip() or kind for title, kind, one in kinds if one.get("type") != "custom-note"}


def n8n_names(data: Any) -> set[str]:
    return {one["name"] for one in data["nodes"] if "stickyNote" not in one["type"]}


@pytest.mark.skipif(not corpus.HERE, reason="the corpus is not here")
def test_every_node_of_the_corpus_has_an_entry() -> None:
    for paths, names in ((corpus.DIFY, dify_names), (corpus.N8N, n8n_names)):
        for path in paths:
            source = path.read_text("utf-8")
            said = {entry.source_node for entry in imported(source).report}
            assert names(corpus.parsed(source)) <= said, path.name


KINDS_OF_N8N = [
    "set",
    "code",
    "if",
    "noOp",
    "httpRequest",
    "wait",
    "splitInBatches",
    "merge",
    "slack",
    "unheardOf",
    "aggregate",
    "markdown",
    "filter",
]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_node_of_any_n8n_graph_has_an_entry(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(KINDS_OF_N8N), min_size=1, max_size=7))
    names = [f"N{number}" for number in range(len(kinds))]
    nodes = [manual(), *(n8n_node(name, kind, 2) for name, kind in zip(names, kinds, strict=True))]
    ports = st.tuples(
        st.sampled_from(["Go", *names]), st.integers(0, 2), st.sampled_from(names), st.integers(0, 1)
    )
    wires = data.draw(st.lists(ports, max_size=10))
    made = imported(
        workflow(
            nodes, *(f"{source}.{output} -> {target}.{place}" for source, output, target, place in wires)
        )
    )
    assert made.ok
    assert {"Go", *names} <= {entry.source_node for entry in made.report}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_node_of_any_dify_graph_has_an_entry(data: st.DataObject) -> None:
    kinds = data.draw(
        st.lists(
            st.sampled_from(sorted({*DIFY_KINDS, "loop-end", "iteration-start", "teleport"} - {"", "start"})),
            min_size=1,
            max_size=7,
        )
    )
    names = [f"n{number}" for number in range(len(kinds))]
    parents = [
        data.draw(
            st.sampled_from(
                [
                    None,
                    *(
                        name
                        for name, kind in zip(names[:at], kinds, strict=False)
                        if kind in ("loop", "iteration")
                    ),
                ]
            )
        )
        for at in range(len(names))
    ]
    nodes = [
        start(),
        *(
            dify_node(name, kind, parent=parent)
            for name, kind, parent in zip(names, kinds, parents, strict=True)
        ),
    ]
    wires = data.draw(
        st.lists(st.tuples(st.sampled_from(["s", *names]), st.sampled_from(names)), max_size=10)
    )
    made = imported(export(nodes, *(f"{source} -> {target}" for source, target in wires)))
    if made.ok:
        assert {"Start", *names} <= {entry.source_node for entry in made.report}


def rows(title: str) -> set[str]:
    part = GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| ")][1:]
    return {word for cell in cells for word in re.findall(r"`?([\w-]+)`?", cell)}


@pytest.mark.parametrize(
    ("title", "kinds"),
    [
        ("Dify", {*DIFY_KINDS, "loop-end"} - {""}),
        ("n8n", {*N8N_KINDS, *BY_NODE, *TRIGGERS, "stickyNote"}),
        ("FIM One", {*FIM_ONE_KINDS} - {""}),
    ],
)
def test_the_guide_has_a_row_for_every_kind(title: str, kinds: set[str]) -> None:
    assert kinds - rows(title) == set()


def test_a_further_way_in_never_starts_a_node_that_does_not_run() -> None:
    """`t` reads `a`, which runs beside it, and stands behind a branch: it waits for both, or the file's place is named."""
    cases = [
        {"case_id": "true", "logical_operator": "and", "conditions": [compare(["sys", "query"], "is", "go")]}
    ]
    text = export(
        [start(), template("a", "A"), dify_node("if", "if-else", cases=cases), template("t", "{{ x }}", x=["a", "output"]), end("e", o=["t", "output"]), end("f")],
        "s -> a", "s -> if", "if:true -> t", "t -> e", "if:false -> f", "a -> f",
    )  # fmt: skip
    made = imported(text)
    assert made.document is not None
    [reader] = [node for node in made.document.nodes if node.id == "t"]
    assert reader.join == "all"


def test_a_node_that_no_items_reach_is_named() -> None:
    made = imported(workflow([called("a"), n8n_node("If", "if", 2, **conditions(rule("={{ $json.a }}", "equals", "x"))), set_("Never", b=1), set_("Yes", b=2)], "Go -> If", "If.0 -> Yes", "If.5 -> Never"))  # fmt: skip
    [entry] = [one for one in made.report if one.source_node == "Never"]
    assert entry.level in ("unsupported", "changed")
