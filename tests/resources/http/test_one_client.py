"""Nothing but this package talks HTTP: a second client would not be guarded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import interlace.resources.http

ROOT = Path(interlace.resources.http.__file__).resolve().parents[2]
OTHER_CLIENTS = {"aiohttp", "httpcore", "httpcore2", "httpx", "httpx2", "pycurl", "requests", "urllib3"}
OTHER_MODULES = {"http.client", "urllib.request"}
SDK_FOLDERS = ("resources/mcp/", "resources/models/")
"""Here SDKs get clients of httpx2, each over the guarded transport."""
CLIENT = re.compile(r"httpx2\.(?:Async)?Client\((.*?)\)\s*$", re.MULTILINE | re.DOTALL)


IMPORT = re.compile(
    r"^[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w, \t]*))", re.MULTILINE
)


def imports(source: str) -> Iterator[str]:
    for plain, module, names in IMPORT.findall(source):
        yield from (name.split()[0] for name in plain.split(",") if name.strip())
        if module:
            yield module
            yield from (f"{module}.{name.split()[0]}" for name in names.split(",") if name.strip())


def offenders(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        if folder / "http" in path.parents and folder.name == "resources":
            continue
        found += [
            f"{path.relative_to(ROOT)}: {name}"
            for name in imports(path.read_text("utf-8"))
            if name.partition(".")[0] in OTHER_CLIENTS or name in OTHER_MODULES
            if not (name == "httpx2" and str(path.relative_to(ROOT)).startswith(SDK_FOLDERS))
        ]
    return found


def test_no_other_http_client_is_imported() -> None:
    folders = ["engine", "nodes", "agents", "resources", "store", "importers"]
    assert [entry for name in folders for entry in offenders(ROOT / name)] == []


def test_clients_for_sdks_go_through_the_guarded_transport() -> None:
    texts = [path.read_text("utf-8") for folder in SDK_FOLDERS for path in (ROOT / folder).rglob("*.py")]
    calls = [call for text in texts for call in CLIENT.findall(text)]
    assert calls
    assert all(call.strip().startswith("transport=") for call in calls), calls


def test_the_check_would_find_one() -> None:
    source = "import os, ssl as s\nfrom urllib import request\nif True:\n    import requests.adapters\nfrom a.b import (\n    c,\n)\n"
    assert list(imports(source)) == ["os", "ssl", "urllib", "urllib.request", "requests.adapters", "a.b"]
