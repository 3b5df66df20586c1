"""What the workers of an installation share about connectors: breakers, locks, and authorizations that are under way."""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, LargeBinary, Table, Text

from interlace.store.tables.metadata import metadata

connector_breakers = Table(
    "connector_breakers",
    metadata,
    Column("connector_id", Text, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("open_until", Double, nullable=True),
    Column("probe_until", Double, nullable=True),
)

connector_locks = Table(
    "connector_locks",
    metadata,
    Column("key", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", Double, nullable=False),
)

connector_authorizations = Table(
    "connector_authorizations",
    metadata,
    Column("state_hash", Text, primary_key=True),
    Column("connector_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("redirect_uri", Text, nullable=False),
    Column("until", Double, nullable=False),
)
