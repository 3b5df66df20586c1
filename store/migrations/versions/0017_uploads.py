"""Whether anything has used an upload."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("files", sa.Column("used_at", sa.Double()))
    # Nobody noted it until now: what is there may be in use.
    op.execute("UPDATE files SET used_at = created_at WHERE run_id IS NULL")
    op.create_index(
        "files_unused",
        "files",
        ["created_at"],
        sqlite_where=sa.text("run_id IS NULL AND used_at IS NULL"),
        postgresql_where=sa.text("run_id IS NULL AND used_at IS NULL"),
    )
