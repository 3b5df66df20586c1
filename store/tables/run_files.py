"""The folders of runs: every version of every file, so that a replay takes those that it has the nodes of."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, PrimaryKeyConstraint, Table, Text

from interlace.store.tables.metadata import metadata

run_files = Table(
    "run_files",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("node", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("ref", Text),
    Column("size", Integer, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default="{}"),
    Column("created_at", Double, nullable=False),
    PrimaryKeyConstraint("run_id", "path", "version"),
    Index("run_files_key", "run_id", "key", unique=True),
)
