"""Workflows that anybody with a link may start by a form."""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, Table, Text

from interlace.store.tables.metadata import metadata

# `owner` is the user whose rights the runs have; links of an earlier `generation` lead nowhere.
forms = Table(
    "forms",
    metadata,
    Column("workflow_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
)
