"""Write the JSON Schemas of the document and of every node type: `python -m interlace.ui_schema.export [--check]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

import interlace.nodes
from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.engine.triggers import Trigger
from interlace.ui_schema.catalogue import catalogue, shared

FOLDER = Path(__file__).resolve().parent
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SHORT_EDGE = {
    "type": "string",
    "pattern": r"\S\s*->\s*\S",
    "description": "Short form: `a -> b`, `a.handle -> b`, or a chain `a -> b -> c`.",
}


def document_schema() -> dict[str, Any]:
    """The schema of a workflow file; beside the model's form it allows short edges, as the YAML reader does."""
    schema = {"$schema": DIALECT, **Document.model_json_schema(by_alias=True), "title": "Interlace workflow"}
    triggers = TypeAdapter(list[Annotated[Trigger, Field(discriminator="type")]]).json_schema()
    schema["$defs"] |= triggers.pop("$defs")
    schema["properties"]["triggers"]["items"] = triggers["items"]
    for holder in (schema, schema["$defs"]["Body"]):
        edges = holder["properties"]["edges"]
        edges["items"] = {"anyOf": [edges["items"], _SHORT_EDGE]}
    return schema


def schemas() -> dict[str, Any]:
    """Every generated file by its name in `ui_schema/`; the built-in types only, so plug-ins change nothing."""
    registry = Registry()
    registry.discover(interlace.nodes)
    types = {f"nodes/{entry['type']}.json": entry for entry in catalogue(registry)}
    return {"document.json": document_schema(), "shared.json": shared(), **types}


def main(arguments: list[str], folder: Path = FOLDER) -> int:
    """Write the files, or with `--check` say which are out of date; gives the exit code."""
    wanted = {
        name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas().items()
    }
    known = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.json")}
    stale = sorted(name for name in wanted.keys() | known.keys() if wanted.get(name) != known.get(name))
    if "--check" in arguments:
        for name in stale:
            sys.stderr.write(f"ui_schema/{name} is out of date; run: python -m interlace.ui_schema.export\n")
        return 1 if stale else 0
    for name in stale:
        path = folder / name
        if name not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
