"""Replayed, test and recorded runs; pinned outputs of workflows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("replayed_from", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("test", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("runs", sa.Column("options", sa.Text(), server_default="{}", nullable=False))
    op.create_index(
        "runs_replayed",
        "runs",
        ["replayed_from"],
        sqlite_where=sa.text("replayed_from IS NOT NULL"),
        postgresql_where=sa.text("replayed_from IS NOT NULL"),
    )
    op.create_table(
        "pins",
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("workflow_id", "node"),
    )


def downgrade() -> None:
    op.drop_table("pins")
    op.drop_index("runs_replayed", "runs")
    op.drop_column("runs", "options")
    op.drop_column("runs", "test")
    op.drop_column("runs", "replayed_from")
