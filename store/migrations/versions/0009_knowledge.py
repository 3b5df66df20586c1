"""Knowledge bases: documents, generations of the index, entries and chunks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "kb_generations",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("kb_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_index("kb_generations_base", "kb_generations", ["kb_id"])
    op.create_table(
        "kb_documents",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("kb_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("metadata", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("properties", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("added_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("lease_owner", sa.Text()),
        sa.Column("lease_until", sa.Double(), nullable=False, server_default="0"),
    )
    op.create_index("kb_documents_source", "kb_documents", ["kb_id", "source"], unique=True)
    op.create_table(
        "kb_entries",
        sa.Column("generation", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("generation", "document_id"),
    )
    op.create_table(
        "kb_chunks",
        sa.Column("generation", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("generation", "document_id", "seq"),
    )
