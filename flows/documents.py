"""Documents ready to run: loaded, validated, compiled once, and pinned by the hash of their canonical text."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from interlace.engine.document import Document
from interlace.engine.errors import StoreError
from interlace.engine.registry import Registry
from interlace.engine.run import Plan, compile_plan
from interlace.engine.source import Source, load, load_file
from interlace.engine.validate import Validation
from interlace.flows.bindings import Models
from interlace.flows.callees import check_all, check_with_callees
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.runs import hash_document
from interlace.store.visibility import Asker

_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A version of a workflow that runs can start from."""

    plan: Plan
    hash: str
    text: str
    workflow_id: str | None = None
    version: int | None = None
    folder: str | None = None
    """Where a file's relative sub-workflows are looked up."""

    @property
    def document(self) -> Document:
        """The document."""
        return self.plan.document


def canonical(document: Document) -> str:
    """The text that stands for a document: JSON without what is default, in the document's own order."""
    return document.model_dump_json(by_alias=True, exclude_defaults=True)


class Documents:
    """Loads and keeps plans; the newest used are kept."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self.registry = registry
        self.models: Models | None = None
        """What finds models by their names."""
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._texts: dict[str, str] = {}
        """Those of the plans that are kept."""

    async def check(self, source: Source, *, folder: str | None = None, owner: Asker = "local") -> Validation:
        """All problems of a loaded text, with what the owner's workflows and resources tell. Runs and connects nothing."""
        return await check_all(
            source, self.registry, store=self._store, folder=folder, owner=owner, models=self.models
        )

    async def from_text(
        self, text: str, *, name: str = "", folder: str | None = None, owner: Asker = "local"
    ) -> Pinned:
        """A document given as YAML or JSON.

        Raises:
            InvalidDocument: with every error that validation finds.
        """
        return await self.from_source(load(text, name=name), folder=folder, owner=owner)

    async def from_file(self, path: Path, *, owner: Asker = "local") -> Pinned:
        """A document in a file; its relative sub-workflows are looked up beside it."""
        source, folder = await asyncio.to_thread(_load, path)
        return await self.from_source(source, folder=folder, owner=owner)

    async def from_source(
        self, source: Source, *, folder: str | None = None, owner: Asker = "local"
    ) -> Pinned:
        """A loaded document, validated."""
        checked = await check_with_callees(
            source, self.registry, store=self._store, folder=folder, owner=owner
        )
        checked.require()
        document = source.require()
        text = canonical(document)
        key = hash_document(text)
        return Pinned(plan=self._plan(key, document), hash=key, text=text, folder=folder)

    async def from_hash(
        self, key: str, *, workflow_id: str | None = None, version: int | None = None
    ) -> Pinned:
        """The stored document of a run or version; it was validated when it was stored."""
        text = self._texts.get(key) or await self._store.runs.document(key)
        plan = self._plan(key, None if key in self._plans else Document.model_validate_json(text))
        self._texts[key] = text
        return Pinned(plan=plan, hash=key, text=text, workflow_id=workflow_id, version=version)

    async def read(self, key: str) -> Document:
        """The stored document of a run or version, also where a node type of it is not installed any more.

        Raises:
            StoreError: there is none of that hash, or it cannot be read.
        """
        plan = self._plans.get(key)
        if plan is not None:
            return plan.document
        try:
            return Document.model_validate_json(await self._store.runs.document(key))
        except ValidationError as error:
            raise StoreError(f"the stored document {key!r} cannot be read: {error}") from None

    async def stored(self, name: str, version: str | int = "published", *, owner: Asker = "local") -> Pinned:
        """A stored workflow of an owner by name or id; `published`, `latest` or a number.

        Raises:
            StoreError: there is no such workflow or version, or nothing of it is published.
        """
        which: Any = int(version) if isinstance(version, str) and version.isdecimal() else version
        if which not in ("published", "latest") and not isinstance(which, int):
            raise NotFoundError(f"no version {version!r} of {name!r}; ask for published, latest or a number")
        found = await self._store.workflows.version(name, which, owner=owner)
        return await self.from_hash(found.document_hash, workflow_id=found.workflow_id, version=found.number)

    def _plan(self, key: str, document: Document | None) -> Plan:
        plan = self._plans.get(key)
        if plan is None:
            assert document is not None, "given unless the plan is kept"
            plan = self._plans[key] = compile_plan(document, self.registry)
            if len(self._plans) > _KEPT:
                gone, _ = self._plans.popitem(last=False)
                self._texts.pop(gone, None)
        else:
            self._plans.move_to_end(key)
        return plan


def _load(path: Path) -> tuple[Source, str]:
    return load_file(path), str(path.resolve().parent)
