"""The plug-in of the page on node types: built, installed, tested and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.console import Terminal, follow
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "guide" / "node-type.md"


def install(folder: Path) -> Path:
    """Build the page's distribution and unpack its wheel, as an installer does; gives the folder for the path."""
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for block in blocks(PAGE):
        if block.name:
            (source / block.name).write_text(block.text, "utf-8")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def test_the_plug_in_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = install(tmp_path)
    terminal = Terminal(tmp_path, monkeypatch)
    with monkeypatch.context() as installed:
        installed.syspath_prepend(str(site))
        assert follow(PAGE, terminal) > 0
        entry = json.loads("\n".join(terminal.run("interlace nodes WORD_COUNT --json")))
        assert (entry["type"], entry["handles"]) == ("WORD_COUNT", ["out", "error"])
        assert json.loads("\n".join(terminal.run("interlace validate words.yaml --json")))["valid"] is True
    sys.modules.pop("interlace_words")
    report = json.loads("\n".join(terminal.run("interlace validate words.yaml --json")))
    assert "unknown_type" in {problem["code"] for problem in report["problems"]}


def test_the_test_of_the_plug_in_passes(tmp_path: Path) -> None:
    site = install(tmp_path)
    arguments = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--rootdir",
        str(tmp_path),
        "test_words.py",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=tmp_path / "source", env={**os.environ, "PYTHONPATH": str(site)}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
