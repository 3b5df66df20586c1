"""Processes that take runs, and the locks behind limits of concurrency."""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, Table, Text

from interlace.store.tables.metadata import metadata

hosts = Table(
    "hosts",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("pools", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("seen_until", Double, nullable=False),
)

# One row a limit: whoever takes a place of it holds the row, so that two never take the last one.
slots = Table(
    "slots",
    metadata,
    Column("key", Text, primary_key=True),
    Column("grants", Integer, nullable=False),
)
