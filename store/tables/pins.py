"""Outputs that stand in for nodes in test runs of a stored workflow."""

from __future__ import annotations

from sqlalchemy import Column, Double, PrimaryKeyConstraint, Table, Text

from interlace.store.tables.metadata import metadata

pins = Table(
    "pins",
    metadata,
    Column("workflow_id", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
    PrimaryKeyConstraint("workflow_id", "node"),
)
