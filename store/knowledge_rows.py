"""What the repository of knowledge bases gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from interlace.store.encoding import decode


@dataclass(frozen=True, slots=True, kw_only=True)
class KbDocument:
    """A document of a knowledge base; times in Unix seconds.

    `source` is unique in its base; `metadata` is what whoever added it said of it, `properties` what was found in it.
    """

    id: str
    kb_id: str
    source: str
    name: str
    media_type: str
    ref: str
    size: int
    version: int
    metadata: dict[str, Any]
    properties: dict[str, Any]
    added_by: str
    created_at: float
    updated_at: float
    lease_until: float


class Generation(NamedTuple):
    """One index of a base: `current` or `building`; `revision` counts its changes."""

    id: str
    kb_id: str
    status: str
    settings: dict[str, Any]
    revision: int
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a generation holds of a document: of which version, `ready` or `failed`, and how many chunks."""

    version: int
    state: str
    chunks: int
    error: dict[str, Any] | None


class Work(NamedTuple):
    """A document that a generation does not hold yet."""

    document_id: str
    kb_id: str
    generation: str


class Segment(NamedTuple):
    """The numbers of one chunk: vector (float32) and terms (pairs of uint32) as bytes."""

    document_id: str
    seq: int
    length: int
    vector: bytes
    terms: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A chunk as it is stored."""

    text: str
    position: Mapping[str, Any]
    length: int
    vector: bytes
    terms: bytes


def document_of(row: Any) -> KbDocument:
    """The document of a row."""
    return KbDocument(
        id=row.id, kb_id=row.kb_id, source=row.source, name=row.name, media_type=row.media_type, ref=row.ref,
        size=row.size, version=row.version, metadata=decode(row.metadata), properties=decode(row.properties),
        added_by=row.added_by, created_at=row.created_at, updated_at=row.updated_at, lease_until=row.lease_until,
    )  # fmt: skip
