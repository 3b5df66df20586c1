"""Triggers: schedules, webhooks, events, and what is told to subscribers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workflows", sa.Column("triggers_of", sa.Integer(), server_default="0", nullable=False))
    # An upgrade starts nothing by itself: triggers of versions that are published begin with the next publishing.
    op.execute("UPDATE workflows SET triggers_of = coalesce(published_version, 0) WHERE deleted_at IS NULL")
    changed = "triggers_of <> CASE WHEN deleted_at IS NULL THEN coalesce(published_version, 0) ELSE 0 END"
    op.create_index(
        "workflows_triggers", "workflows", ["id"], unique=False,
        sqlite_where=sa.text(changed), postgresql_where=sa.text(changed),
    )  # fmt: skip
    _triggers()
    _deliveries()
    _events()


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(
        name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where)
    )


def _triggers() -> None:
    op.create_table(
        "triggers",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("paused", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double()),
        sa.Column("error", sa.Text()),
        sa.Column("error_at", sa.Double()),
        sa.Column("cursor", sa.Double()),
        sa.Column("next_at", sa.Double()),
        sa.Column("lease_owner", sa.Text()),
        sa.Column("lease_until", sa.Double()),
        sa.Column("token_hash", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("triggers_key", "triggers", ["workflow_id", "key"], unique=True)
    op.create_index("triggers_owner", "triggers", ["owner", "kind", "id"], unique=False)
    _partial("triggers_due", "triggers", ["next_at"], "next_at IS NOT NULL")
    _partial("triggers_token", "triggers", ["token_hash"], "token_hash IS NOT NULL", unique=True)
    op.create_table(
        "firings",
        sa.Column("trigger_id", sa.Text(), nullable=False),
        sa.Column("nominal", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text()),
        sa.Column("note", sa.Text()),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("trigger_id", "nominal"),
    )
    _partial("firings_queued", "firings", ["trigger_id", "nominal"], "status = 'queued'")


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("trigger_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("key", sa.Text()),
        sa.Column("run_id", sa.Text()),
        sa.Column("redelivers", sa.Text()),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_at", sa.Double()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("deliveries_trigger", "deliveries", ["trigger_id", "id"], unique=False)
    _partial("deliveries_key", "deliveries", ["trigger_id", "key"], "key IS NOT NULL", unique=True)
    _partial("deliveries_due", "deliveries", ["next_at"], "next_at IS NOT NULL")


def _events() -> None:
    op.create_table(
        "listeners",
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("event", "holder"),
    )
    op.create_index("listeners_holder", "listeners", ["holder"], unique=False)
    op.create_table(
        "announcements",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("ref", sa.Text()),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("announcements_due", "announcements", ["next_at"], unique=False)
    op.create_table(
        "event_subscriptions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("org_id", sa.Text()),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("event_subscriptions_owner", "event_subscriptions", ["owner", "id"], unique=False)
    op.create_index("event_subscriptions_org", "event_subscriptions", ["org_id", "id"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("subscription_id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_at", sa.Double()),
        sa.Column("delivered_at", sa.Double()),
        sa.Column("answer", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("outbox_subscription", "outbox", ["subscription_id", "id"], unique=False)
    _partial("outbox_due", "outbox", ["next_at"], "next_at IS NOT NULL")
