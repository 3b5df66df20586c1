"""Real descriptions of APIs, where the corpus is at hand."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml


def _folder() -> Path | None:
    named = os.environ.get("INTERLACE_CORPUS")
    found = [Path(named)] if named else [up / "shared" / "corpus" for up in Path(__file__).parents]
    return next((path / "openapi" for path in found if (path / "openapi").is_dir()), None)


FOLDER = _folder()
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".tsv") if FOLDER else []
needs_corpus = pytest.mark.skipif(FOLDER is None, reason="the corpus of real API descriptions is not here")


def text(name: str) -> str:
    assert FOLDER is not None
    raw = (FOLDER / name).read_bytes()
    return (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()


def plain(name: str) -> dict[str, Any]:
    """The description read by somebody else's reader."""
    content = text(name)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Any] = json.loads(content) if ".json" in name else yaml.load(content, loader)
    return found
