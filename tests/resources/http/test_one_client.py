"""Nothing but this package talks HTTP: a second client would not be guarded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import interlace.resources.http

ROOT = Path(interlace.resources.http.__file__).resolve().parents[2]
OTHER_CLIENTS = {"aiohttp", "httpcore", "httpcore2", "httpx", "httpx2", "pycurl", "requests", "urllib3"}
OTHER_MODULES = {"http.client", "urllib.request"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def offenders(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        if folder / "http" in path.parents and folder.name == "resources":
            continue
        found += [
            f"{path.relative_to(ROOT)}: {name}"
            for name in imports(path)
            if name.partition(".")[0] in OTHER_CLIENTS or name in OTHER_MODULES
        ]
    return found


def test_no_other_http_client_is_imported() -> None:
    folders = ["engine", "nodes", "agents", "resources", "store", "importers"]
    assert [entry for name in folders for entry in offenders(ROOT / name)] == []


def test_the_check_would_find_one(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import os\nfrom urllib import request\nimport requests.adapters\n")
    assert list(imports(tmp_path / "bad.py")) == ["os", "urllib", "urllib.request", "requests.adapters"]
