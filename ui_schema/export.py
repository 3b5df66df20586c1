"""Write the JSON Schemas of the document and of every node type: `python -m interlace.ui_schema.export [--check]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import interlace.nodes
from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.ui_schema.catalogue import catalogue

FOLDER = Path(__file__).resolve().parent


def schemas() -> dict[str, Any]:
    """Every generated file by its name in `ui_schema/`."""
    registry = Registry()
    registry.discover(interlace.nodes)
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Interlace workflow",
        **Document.model_json_schema(by_alias=True),
    }
    types = {f"nodes/{entry['type']}.json": entry for entry in catalogue(registry)}
    return {"document.json": document, **types}


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` say which are out of date."""
    check = "--check" in arguments
    wanted = {
        name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas().items()
    }
    known = {str(path.relative_to(FOLDER)): path.read_text("utf-8") for path in FOLDER.rglob("*.json")}
    stale = sorted(name for name in wanted.keys() | known.keys() if wanted.get(name) != known.get(name))
    if check:
        for name in stale:
            sys.stderr.write(f"ui_schema/{name} is out of date; run: python -m interlace.ui_schema.export\n")
        return 1 if stale else 0
    for name in stale:
        path = FOLDER / name
        if name not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
