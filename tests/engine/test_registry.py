"""Plug-ins: those that work, and those that do not."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from interlace.engine.registry import Registry
from interlace.flows.node_types import node_types

NODE = """
from interlace.engine.node import Config, Node, Output

class Echo(Node[Config, Output]):
    \"\"\"Say nothing.\"\"\"
    kind = "ECHO_TEST"
    async def run(self, config, ctx):
        return Output()
"""


def install(site: Path, name: str, module: str, point: str) -> None:
    """What an installer leaves of a distribution of one module."""
    (site / f"{name}.py").write_text(module)
    info = site / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[interlace.nodes]\n{name} = {point}\n")


def test_a_broken_plug_in_is_noted_and_the_others_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "plug_broken", "raise RuntimeError('no licence')", "plug_broken")
    install(tmp_path, "plug_value", "value = 5", "plug_value:value")
    install(tmp_path, "plug_works", NODE, "plug_works:Echo")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    registry = node_types()
    assert {"ECHO_TEST", "HTTP"} <= set(registry)
    assert registry.failures == {
        "plug_broken (plug_broken)": "RuntimeError: no licence",
        "plug_value (plug_value)": "InterlaceError: 5 is neither a node class nor a module",
    }


@pytest.mark.parametrize(
    ("name", "words"), [("HTP", "; did you mean 'HTTP'? Known: "), ("ZZZZZZ", "'. Known: ")]
)
def test_an_unknown_type_in_words(name: str, words: str) -> None:
    assert words in node_types().unknown(name)
    assert Registry().unknown("A") == "no node type 'A'. Known: none"
