"""Knowledge bases: their documents, and the chunks that each generation of an index made of them."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, Text

from interlace.store.tables.metadata import metadata

# Of a base one generation is `current`, and one may be `building` beside it. `revision` counts its changes.
kb_generations = Table(
    "kb_generations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kb_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("created_at", Double, nullable=False),
    Index("kb_generations_base", "kb_id"),
)

# `version` counts changes of content and metadata; a generation's entry says which version it holds.
kb_documents = Table(
    "kb_documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kb_id", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("metadata", Text, nullable=False, server_default="{}"),
    Column("properties", Text, nullable=False, server_default="{}"),
    Column("added_by", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("lease_owner", Text),
    Column("lease_until", Double, nullable=False, server_default="0"),
    Index("kb_documents_source", "kb_id", "source", unique=True),
)

kb_entries = Table(
    "kb_entries",
    metadata,
    Column("generation", Text, nullable=False),
    Column("document_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("error", Text),
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("generation", "document_id"),
)

# `vector`: float32, unit length. `terms`: pairs of uint32, term and count; `length` is the number of terms.
kb_chunks = Table(
    "kb_chunks",
    metadata,
    Column("generation", Text, nullable=False),
    Column("document_id", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("position", Text, nullable=False),
    Column("length", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("terms", LargeBinary, nullable=False),
    PrimaryKeyConstraint("generation", "document_id", "seq"),
)
