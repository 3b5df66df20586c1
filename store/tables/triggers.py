"""What starts runs by itself: schedules with their firings, webhooks with their deliveries, events on their way."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    false,
    text,
    true,
)

from interlace.store.tables.metadata import metadata

# `key` is the trigger's name among those of its workflow; `source` says whether the document or somebody made it.
# Of a schedule, `cursor` is the nominal time up to which everything is decided, and `next_at` when there is more to do.
triggers = Table(
    "triggers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("workflow_id", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("paused", Boolean, nullable=False, server_default=false()),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("error", Text),
    Column("error_at", Double),
    Column("cursor", Double),
    Column("next_at", Double),
    Column("lease_owner", Text),
    Column("lease_until", Double),
    Column("token_hash", Text),
    Index("triggers_key", "workflow_id", "key", unique=True),
    Index("triggers_owner", "owner", "kind", "id"),
    Index(
        "triggers_due",
        "next_at",
        sqlite_where=text("next_at IS NOT NULL"),
        postgresql_where=text("next_at IS NOT NULL"),
    ),
    Index(
        "triggers_token",
        "token_hash",
        unique=True,
        sqlite_where=text("token_hash IS NOT NULL"),
        postgresql_where=text("token_hash IS NOT NULL"),
    ),
)

# One row for each nominal time of a schedule that anything was decided about.
firings = Table(
    "firings",
    metadata,
    Column("trigger_id", Text, nullable=False),
    Column("nominal", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("run_id", Text),
    Column("note", Text),
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("trigger_id", "nominal"),
    Index(
        "firings_queued",
        "trigger_id",
        "nominal",
        sqlite_where=text("status = 'queued'"),
        postgresql_where=text("status = 'queued'"),
    ),
)

# The inbox of webhooks. The raw body is the payload `ref`, which a row of `files` with this id holds.
deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("trigger_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("received_at", Double, nullable=False),
    Column("key", Text),
    Column("run_id", Text),
    Column("redelivers", Text),
    Column("ref", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("request", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("next_at", Double),
    Column("error", Text),
    Index("deliveries_trigger", "trigger_id", "id"),
    Index(
        "deliveries_key",
        "trigger_id",
        "key",
        unique=True,
        sqlite_where=text("key IS NOT NULL"),
        postgresql_where=text("key IS NOT NULL"),
    ),
    Index(
        "deliveries_dead",
        "id",
        sqlite_where=text("status = 'dead'"),
        postgresql_where=text("status = 'dead'"),
    ),
    Index(
        "deliveries_due",
        "next_at",
        sqlite_where=text("next_at IS NOT NULL"),
        postgresql_where=text("next_at IS NOT NULL"),
    ),
)

# Who wants to hear of which event; a run's event is announced only where somebody does.
listeners = Table(
    "listeners",
    metadata,
    Column("event", Text, nullable=False),
    Column("holder", Text, nullable=False),
    PrimaryKeyConstraint("event", "holder"),
    Index("listeners_holder", "holder"),
)

# Events that their listeners have not been told of.
announcements = Table(
    "announcements",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("ref", Text),
    Column("at", Double, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("next_at", Double, nullable=False),
    Index("announcements_due", "next_at"),
)

event_subscriptions = Table(
    "event_subscriptions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("org_id", Text),
    Column("url", Text, nullable=False),
    Column("events", Text, nullable=False),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("event_subscriptions_owner", "owner", "id"),
    Index("event_subscriptions_org", "org_id", "id"),
)

# Messages to subscribers. The id is the same at every attempt, and the same for one event and one subscriber.
outbox = Table(
    "outbox",
    metadata,
    Column("id", Text, primary_key=True),
    Column("subscription_id", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("next_at", Double),
    Column("delivered_at", Double),
    Column("answer", Integer),
    Column("error", Text),
    Index("outbox_subscription", "subscription_id", "id"),
    Index(
        "outbox_due",
        "next_at",
        sqlite_where=text("next_at IS NOT NULL"),
        postgresql_where=text("next_at IS NOT NULL"),
    ),
)
