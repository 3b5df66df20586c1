"""What suspended runs wait for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "waits",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("consumed", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("until", sa.Double(), nullable=True),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=True),
        sa.Column("token_hash", sa.Text(), nullable=True),
        sa.Column("quorum", sa.Integer(), server_default="1", nullable=False),
        sa.Column("allow_self", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("starter", sa.Text(), nullable=True),
        sa.Column("reminded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("action", sa.Text(), nullable=True),
        sa.Column("answered_by", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.Double(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("hash", sa.Text(), server_default="", nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("assignees", sa.Text(), server_default="[]", nullable=False),
        sa.Column("schedule", sa.Text(), server_default="[]", nullable=False),
        sa.Column("channels", sa.Text(), server_default="[]", nullable=False),
        sa.Column("answers", sa.Text(), server_default="[]", nullable=False),
        sa.Column("form", sa.Text(), server_default="{}", nullable=False),
        sa.Column("request", sa.Text(), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("waits_run", "waits", ["run_id"], unique=False)
    op.create_index("waits_owner", "waits", ["owner", "status", "id"], unique=False)
    for name, column, where in (
        ("waits_due", "next_at", "status = 'pending'"),
        ("waits_answered", "id", "status <> 'pending' AND NOT consumed"),
        ("waits_ref", "ref", "ref IS NOT NULL"),
        ("waits_token", "token_hash", "token_hash IS NOT NULL"),
    ):
        op.create_index(
            name,
            "waits",
            [column],
            unique=False,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )
