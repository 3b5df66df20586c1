"""Files of other people, read where they are laid; tests that need them are skipped where they are not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = next((found for up in Path(__file__).parents if (found := up / "shared/corpus/dify").is_dir()), None)
HERE = ROOT is not None


def files(folder: str, pattern: str) -> list[Path]:
    return sorted((ROOT.parent / folder).glob(pattern)) if ROOT is not None else []


DIFY = files("dify", "*.yml")
N8N = files("n8n", "*.json")
DAMAGED = files("n8n_damaged", "*.json")
FIM_ONE = files("fim_one", "example-*.json")


def _path(paths: list[Path], number: str) -> Path:
    return next(path for path in paths if path.name.startswith(f"{number}-") or path.stem.startswith(number))


def text(paths: list[Path], number: str, replaced: Mapping[str, str] | None = None) -> str:
    """A file's text, with addresses replaced by those of stand-ins."""
    found = _path(paths, number).read_text("utf-8")
    for old, new in (replaced or {}).items():
        assert old in found, old
        found = found.replace(old, new)
    return found


def data(paths: list[Path], number: str) -> Any:
    return parsed(_path(paths, number).read_text("utf-8"))


def parsed(source: str) -> Any:
    return json.loads(source) if source.lstrip().startswith("{") else yaml.safe_load(source)


def edited(source: str, change: Callable[[Any], object]) -> str:
    """The text of a file after a change of its data."""
    found = parsed(source)
    change(found)
    return json.dumps(found)


def node_count(path: Path) -> int:
    """How many nodes a file has, notes left out."""
    text = path.read_text("utf-8")
    data: Any = yaml.safe_load(text) if path.suffix == ".yml" else json.loads(text)
    if path in N8N:
        return sum("stickyNote" not in node["type"] for node in data["nodes"])
    if path in DIFY:
        graph = (data.get("workflow") or {}).get("graph") or {}
        return sum(node.get("type") != "custom-note" for node in graph.get("nodes") or ())
    return len((data.get("workflow") or data["data"])["blueprint"]["nodes"])
