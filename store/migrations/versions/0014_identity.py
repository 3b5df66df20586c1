"""Identity: logins, links, invitations, identities elsewhere, counters, and answers given before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _ways_in()
    _people()
    op.create_table(
        "counters",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("counters_until", "counters", ["until"], unique=False)
    op.create_table(
        "answers",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("content", sa.LargeBinary()),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("answers_expires", "answers", ["expires_at"], unique=False)
    dead = sa.text("status = 'dead'")
    op.create_index(
        "deliveries_dead", "deliveries", ["id"], unique=False, sqlite_where=dead, postgresql_where=dead
    )


def _ways_in() -> None:
    op.create_table(
        "logins",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), server_default='["*"]', nullable=False),
        sa.Column("key_id", sa.Text()),
        sa.Column("address", sa.Text(), server_default="", nullable=False),
        sa.Column("agent", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash", name="logins_hash"),
    )
    op.create_index("logins_user", "logins", ["user_id", "id"], unique=False)
    op.create_index("logins_expires", "logins", ["expires_at"], unique=False)
    op.create_table(
        "tickets",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text()),
        sa.Column("data", sa.Text(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index("tickets_expires", "tickets", ["expires_at"], unique=False)


def _people() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("org_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("email", sa.Text()),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("accepted_by", sa.Text()),
        sa.Column("accepted_at", sa.Double()),
        sa.Column("revoked_at", sa.Double()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash", name="invitations_hash"),
    )
    op.create_index("invitations_org", "invitations", ["org_id", "id"], unique=False)
    op.create_table(
        "identities",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject"),
    )
    op.create_index("identities_user", "identities", ["user_id"], unique=False)
