"""What somebody has changed in a workflow and not yet kept as a version."""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, Table, Text

from interlace.store.tables.metadata import metadata

drafts = Table(
    "drafts",
    metadata,
    Column("workflow_id", Text, primary_key=True),
    Column("document", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("base_version", Integer),
    Column("updated_at", Double, nullable=False),
    Column("updated_by", Text, nullable=False),
)
