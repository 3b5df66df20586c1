"""The web UI is built by a Node that is new enough; an older one is as good as none, and it is said."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_web.py"


@pytest.fixture
def build_web() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_web_here", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def put(folder: Path, name: str, text: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
@pytest.mark.parametrize(
    ("node", "good"),
    [
        ("v20.19.0", True), ("v20.20.2", True), ("v22.12.0", True), ("v25.0.0-nightly1", True),
        ("v20.18.3", False), ("v21.7.3", False), ("v22.11.0", False), ("v18.20.0", False), ("", False),
    ],
)  # fmt: skip
def test_an_old_node_is_none(
    build_web: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], node: str,
    good: bool,
) -> None:  # fmt: skip
    npm = put(tmp_path, "npm", "exit 1")
    put(tmp_path, "node", f"echo {node}")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build_web.find_npm() == (str(npm) if good else None)
    said = capsys.readouterr().err
    assert said == "" if good else "needs 20.19, or 22.12 or newer" in said
    if not good:
        with pytest.raises(build_web.BuildFailed, match="no npm is on the PATH"):
            build_web.build(tmp_path)


def test_none_is_none(build_web: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build_web.find_npm() is None
