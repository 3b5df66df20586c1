"""Published workflows as those see them who run them from outside: typed inputs and outputs, whatever the protocol."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from interlace.engine.document import Document
from interlace.engine.errors import InterlaceError
from interlace.engine.principal import Principal
from interlace.engine.run.plan import BodyPlan
from interlace.engine.schema import Schema
from interlace.engine.source import load
from interlace.flows.documents import Documents, Pinned
from interlace.store import Store
from interlace.store.workflows import Workflow

_PAGE: Final = 200
_KEPT: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A workflow and its published version."""

    workflow: Workflow
    pinned: Pinned

    @property
    def document(self) -> Document:
        """The document of the published version."""
        return self.pinned.document

    @property
    def inputs(self) -> Schema:
        """JSON Schema of its inputs: an object."""
        return {"type": "object", "properties": {}, **self.document.inputs}

    @property
    def org_id(self) -> str | None:
        """The organisation whose people a run may ask."""
        return self.workflow.org_id if self.workflow.visibility == "org" else None

    @property
    def only_reads(self) -> bool:
        """Whether nothing that it does has effects outside."""
        return _only_reads(self.pinned.plan.root)


class PublishedWorkflows:
    """The published workflows of all users."""

    def __init__(self, store: Store, documents: Documents) -> None:
        self._store = store
        self._documents = documents
        self._outputs: OrderedDict[tuple[str, str], Schema] = OrderedDict()

    async def of(self, by: Principal) -> AsyncIterator[Published]:
        """All that somebody sees, by name; those that cannot be read here are left out."""
        cursor: str | None = None
        while True:
            page = await self._store.workflows.list(owner=by, limit=_PAGE, cursor=cursor)
            for workflow in page.items:
                if workflow.published_version is None:
                    continue
                try:
                    yield await self._found(workflow, by)
                except InterlaceError:
                    continue  # a node type of it is not installed any more
            cursor = page.cursor
            if cursor is None:
                return

    async def find(self, name_or_id: str, by: Principal) -> Published:
        """One of them.

        Raises:
            NotFoundError: `by` sees none of that name or id.
            ConflictError: nothing of it is published.
        """
        return await self._found(await self._store.workflows.get(name_or_id, owner=by), by)

    async def _found(self, workflow: Workflow, by: Principal) -> Published:
        pinned = await self._documents.stored(workflow.id, owner=by)
        return Published(workflow=workflow, pinned=pinned)

    async def outputs(self, found: Published, by: Principal) -> Schema:
        """JSON Schema of the outputs: what its END nodes give, as far as their types are known."""
        key = (by.user_id, found.pinned.hash)
        if key not in self._outputs:
            checked = await self._documents.check(load(found.pinned.text), owner=by)
            self._outputs[key] = outputs_schema(found.document, checked.types)
            if len(self._outputs) > _KEPT:
                self._outputs.popitem(last=False)
        self._outputs.move_to_end(key)
        return self._outputs[key]


def outputs_schema(document: Document, types: Mapping[str, Schema]) -> Schema:
    """The type of all outputs that the END nodes of a document give: required is what every one of them does."""
    ends = [types.get(node.id, {}) for node in document.nodes if node.type == "END"]
    properties: dict[str, list[Schema]] = {}
    for end in ends:
        for name, schema in end.get("properties", {}).items():
            known = properties.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    every = [set(end.get("required", end.get("properties", {}))) for end in ends]
    required = sorted(set.intersection(*every)) if every else []
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: _one_of(kinds) for name, kinds in properties.items()},
    }
    if required:
        found["required"] = required
    return found


def _one_of(kinds: list[Schema]) -> Schema:
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _only_reads(body: BodyPlan) -> bool:
    return all(
        node.effects == "none" and (node.body is None or _only_reads(node.body)) for node in body.nodes
    )


def shown_text(outputs: Mapping[str, Any] | None) -> Any:
    """What of the outputs people read first: `answer`, else the only one there is, else all of them."""
    found = dict(outputs or {})
    if "answer" in found:
        return found["answer"]
    return next(iter(found.values())) if len(found) == 1 else found


def names_of(found: Iterable[Published], taken: Iterable[str] = ()) -> dict[str, Published]:
    """Names of letters, digits and `_-.`, at most 64, that stay the same as long as the workflow and its name do."""
    known: dict[str, Published] = {}
    used = set(taken)
    for entry in found:
        name = _plain(entry.workflow.name)
        if not name.strip("_") or name in used:
            name = f"{name.strip('_') or 'workflow'}_{entry.workflow.id[-12:]}"
        used.add(name)
        known[name] = entry
    return known


def _plain(text: str) -> str:
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "_-.") else "_" for char in text)
    return kept[:50]
