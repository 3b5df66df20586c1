"""What validation may know of the workflows that a document calls: read before, so that validation opens nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.engine.schema import Schema
from interlace.engine.source import load_file
from interlace.engine.validate import validate
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError

_MAX_WORKFLOWS = 200

Call = tuple[str, str | int]


class Callees:
    """A snapshot of the workflows reachable from a document. Implements `Workflows`."""

    def __init__(self) -> None:
        self.documents: dict[Call, Document] = {}
        self.outputs: dict[Call, Schema] = {}

    def signature(self, workflow: str, version: str | int) -> tuple[Schema, Schema] | None:
        """Input and output schema, None when there is no such workflow."""
        document = self.documents.get((workflow, version))
        return None if document is None else (document.inputs, self.outputs.get((workflow, version), {}))

    def callees(self, workflow: str, version: str | int) -> frozenset[str]:
        """Names of the workflows that one calls."""
        document = self.documents.get((workflow, version))
        return frozenset() if document is None else frozenset(name for name, _ in calls(document))


def calls(document: Document) -> list[Call]:
    """The workflows that a document's SUB_WORKFLOW nodes name."""
    found: list[Call] = []
    for spec, _ in document.walk():
        name: Any = spec.config.get("workflow")
        if spec.type == "SUB_WORKFLOW" and isinstance(name, str):
            version = spec.config.get("version", "published")
            found.append((name, version if isinstance(version, str | int) else "published"))
    return found


async def callees_of(document: Document, store: Store, registry: Registry, folder: str | None) -> Callees:
    """Read every workflow that a document calls, directly or through others."""
    known = Callees()
    waiting = calls(document)
    while waiting and len(known.documents) < _MAX_WORKFLOWS:
        call = waiting.pop()
        if call in known.documents:
            continue
        found = _from_file(call, folder) if call[0].startswith(".") else await _from_store(call, store)
        if found is not None:
            known.documents[call] = found
            waiting.extend(calls(found))
    for call, found in known.documents.items():
        known.outputs[call] = output_schema(found, validate(found, registry).types)
    return known


def output_schema(document: Document, types: Any) -> Schema:
    """What the END nodes of a document give together."""
    ends = [types.get(node.id) for node in document.nodes if node.type == "END"]
    properties: dict[str, Any] = {}
    for schema in _known(ends):
        properties.update(schema.get("properties", {}))
    sure = (
        set.intersection(*(set(s.get("required", ())) for s in _known(ends))) if ends and all(ends) else set()
    )
    return {"type": "object", "properties": properties, "required": sorted(sure)}


def _known(schemas: Iterable[Schema | None]) -> list[Schema]:
    return [schema for schema in schemas if schema]


def _from_file(call: Call, folder: str | None) -> Document | None:
    if folder is None:
        return None
    path = Path(folder) / call[0]
    return load_file(path).document if path.is_file() else None


async def _from_store(call: Call, store: Store) -> Document | None:
    name, version = call
    try:
        _, text = await store.workflows.document(name, version)  # type: ignore[arg-type]
    except (NotFoundError, ConflictError):
        return None
    return Document.model_validate_json(text)
