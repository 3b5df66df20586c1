"""How people get in: logins, links that work once, invitations, identities elsewhere; and what limits those who ask."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from interlace.store.tables.metadata import metadata

# A browser that is signed in. `key_id` is the API key that it was signed in with, if it was: it ends with it.
logins = Table(
    "logins",
    metadata,
    Column("id", Text, primary_key=True),
    Column("hash", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("scopes", Text, nullable=False, server_default='["*"]'),
    Column("key_id", Text),
    Column("address", Text, nullable=False, server_default=""),
    Column("agent", Text, nullable=False, server_default=""),
    Column("created_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    UniqueConstraint("hash", name="logins_hash"),
    Index("logins_user", "user_id", "id"),
    Index("logins_expires", "expires_at"),
)

# What is good once: links that sign somebody in, and ways to an identity provider and back.
tickets = Table(
    "tickets",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("user_id", Text),
    Column("data", Text, nullable=False, server_default="{}"),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Index("tickets_expires", "expires_at"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("org_id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("email", Text),
    Column("hash", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("accepted_by", Text),
    Column("accepted_at", Double),
    Column("revoked_at", Double),
    UniqueConstraint("hash", name="invitations_hash"),
    Index("invitations_org", "org_id", "id"),
)

# Who somebody is at a provider: its issuer and the subject there, never the e-mail address, which may be given to another.
identities = Table(
    "identities",
    metadata,
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    PrimaryKeyConstraint("issuer", "subject"),
    Index("identities_user", "user_id"),
)

# What was counted since the window of a key began; it is over at `until`.
counters = Table(
    "counters",
    metadata,
    Column("key", Text, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("until", Double, nullable=False),
    Index("counters_until", "until"),
)

# Answers to requests with an Idempotency-Key, encrypted with what only the caller has; without a status it is at work.
answers = Table(
    "answers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("status", Integer),
    Column("content", LargeBinary),
    Column("expires_at", Double, nullable=False),
    Index("answers_expires", "expires_at"),
)
