"""What happened to requests while they waited."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("waits", sa.Column("history", sa.Text(), server_default="[]", nullable=False))
