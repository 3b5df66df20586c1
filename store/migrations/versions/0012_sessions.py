"""Chat sessions, their messages, and what is said to running turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text()),
        sa.Column("workflow_id", sa.Text()),
        sa.Column("title", sa.Text(), nullable=False, server_default=""),
        sa.Column("titled_by", sa.Text(), nullable=False, server_default="question"),
        sa.Column("head", sa.Text()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
    )
    op.create_index("sessions_owner", "sessions", ["owner", "updated_at"])
    op.create_table(
        "messages",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text()),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False, server_default=""),
        sa.Column("files", sa.Text(), nullable=False, server_default="[]"),
        sa.Column("run_id", sa.Text()),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double()),
    )
    op.create_index("messages_session", "messages", ["session_id", "id"])
    op.create_index("messages_run", "messages", ["run_id"])
    op.create_index("messages_status", "messages", ["status", "id"])
    op.create_table(
        "injections",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_index("injections_run", "injections", ["run_id", "id"])
