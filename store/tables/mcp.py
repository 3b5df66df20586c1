"""What was accepted of MCP servers."""

from __future__ import annotations

from sqlalchemy import Column, Double, PrimaryKeyConstraint, Table, Text

from interlace.store.tables.metadata import metadata

mcp_tools = Table(
    "mcp_tools",
    metadata,
    Column("server_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("accepted_by", Text, nullable=False),
    Column("accepted_at", Double, nullable=False),
    PrimaryKeyConstraint("server_id", "name"),
)
