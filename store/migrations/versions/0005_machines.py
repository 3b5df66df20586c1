"""Pools, limits of concurrency, and the processes that take runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "hosts",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("pools", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("seen_until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )
    op.create_table(
        "slots",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("grants", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    for column in (
        sa.Column("pool", sa.Text(), nullable=True),
        sa.Column("slot_key", sa.Text(), nullable=True),
        sa.Column("slot_limit", sa.Integer(), nullable=True),
        sa.Column("start_by", sa.Double(), nullable=True),
    ):
        op.add_column("runs", column)
    op.create_index(
        "runs_slots",
        "runs",
        ["slot_key", "status", "id"],
        unique=False,
        sqlite_where=sa.text("slot_key IS NOT NULL"),
        postgresql_where=sa.text("slot_key IS NOT NULL"),
    )
    op.create_index(
        "waits_place",
        "waits",
        ["ref"],
        unique=False,
        sqlite_where=sa.text("kind = 'place' AND status = 'pending'"),
        postgresql_where=sa.text("kind = 'place' AND status = 'pending'"),
    )
