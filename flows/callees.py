"""What validation may know of the workflows that a document calls: read before, so that validation opens nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from interlace.engine.document import Document
from interlace.engine.registry import Registry
from interlace.engine.schema import Schema
from interlace.engine.source import Source, load_file
from interlace.engine.validate import Validation, check, validate
from interlace.flows.bindings import Models, unbound
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.visibility import Asker

_MAX_WORKFLOWS = 200

Call = tuple[str, str | int]


class Callees:
    """A snapshot of the workflows reachable from a document. Implements `Workflows`.

    Without a `store` nothing is known of stored workflows: calls of them are taken as they stand.
    """

    def __init__(self, store: Store | None, *, owner: Asker = "local") -> None:
        self._store = store
        self._owner = owner
        self._documents: dict[Call, Document] = {}
        self._outputs: dict[Call, Schema] = {}

    def signature(self, workflow: str, version: str | int) -> tuple[Schema, Schema] | None:
        """Input and output schema, None when there is no such workflow."""
        document = self._documents.get((workflow, version))
        if document is not None:
            return document.inputs, self._outputs.get((workflow, version), {})
        return ({}, {}) if self._store is None and not workflow.startswith(".") else None

    def callees(self, workflow: str, version: str | int) -> frozenset[str]:
        """Names of the workflows that one calls."""
        document = self._documents.get((workflow, version))
        return frozenset() if document is None else frozenset(name for name, _ in calls(document))

    async def read(self, document: Document, registry: Registry, folder: str | None) -> None:
        """Read every workflow that a document calls, directly or through others."""
        waiting = [(call, folder) for call in calls(document)]
        while waiting and len(self._documents) < _MAX_WORKFLOWS:
            call, beside = waiting.pop()
            if call in self._documents:
                continue
            found, inner = await self._find(call, beside)
            if found is not None:
                self._documents[call] = found
                waiting.extend((below, inner) for below in calls(found))
        for call, found in self._documents.items():
            self._outputs[call] = _output_schema(found, validate(found, registry).types)

    async def _find(self, call: Call, folder: str | None) -> tuple[Document | None, str | None]:
        """A called document and the folder that its own relative calls are looked up in."""
        name, version = call
        if name.startswith("."):
            if folder is None:
                return None, None
            path = Path(folder) / name
            source = await asyncio.to_thread(load_file, path)
            return source.document, str(path.parent)
        if self._store is None:
            return None, None
        try:
            _, text = await self._store.workflows.document(name, version, owner=self._owner)  # type: ignore[arg-type]
        except (NotFoundError, ConflictError):
            return None, None
        return Document.model_validate_json(text), None


async def check_all(
    source: Source,
    registry: Registry,
    *,
    store: Store | None,
    folder: str | None,
    owner: Asker = "local",
    models: Models | None = None,
) -> Validation:
    """The same, with warnings of resources that the owner does not see; without a store nothing is known of them."""
    found = await check_with_callees(source, registry, store=store, folder=folder, owner=owner)
    if store is None:
        return found
    more = await unbound(source, registry, store=store, owner=owner, models=models)
    return found.with_more(more) if more else found


async def check_with_callees(
    source: Source, registry: Registry, *, store: Store | None, folder: str | None, owner: Asker = "local"
) -> Validation:
    """All problems of a loaded text, the owner's workflows it calls included. Runs and connects nothing."""
    document = source.document or source.salvaged
    if document is None or not calls(document):
        return check(source, registry)
    known = Callees(store, owner=owner)
    await known.read(document, registry, folder)
    return check(source, registry, workflows=known)


def calls(document: Document) -> list[Call]:
    """The workflows that a document's SUB_WORKFLOW nodes name."""
    found: list[Call] = []
    for spec, _ in document.walk():
        name: Any = spec.config.get("workflow")
        if spec.type == "SUB_WORKFLOW" and isinstance(name, str):
            version = spec.config.get("version", "published")
            found.append((name, version if isinstance(version, str | int) else "published"))
    return found


def _output_schema(document: Document, types: Mapping[str, Schema]) -> Schema:
    """What the END nodes of a document give together."""
    ends = _known(types.get(node.id) for node in document.nodes if node.type == "END")
    properties: dict[str, Any] = {}
    for schema in ends:
        properties.update(schema.get("properties", {}))
    sure = set.intersection(*(set(schema.get("required", ())) for schema in ends)) if ends else set()
    return {"type": "object", "properties": properties, "required": sorted(sure)}


def _known(schemas: Iterable[Schema | None]) -> list[Schema]:
    return [schema for schema in schemas if schema]
