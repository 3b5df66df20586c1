"""The tables.

Times are Unix seconds. JSON columns are text that `encoding` writes and reads, because the hot path bypasses
SQLAlchemy's types. No foreign keys: the writer checks the one relation that matters (a run's lease) itself, and
deletions name what they delete.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

metadata = MetaData()

documents = Table(
    "documents",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)

workflows = Table(
    "workflows",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False, server_default="local"),
    Column("name", Text, nullable=False),
    Column("published_version", Integer),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("deleted_at", Double),
    Index(
        "workflows_name",
        "owner",
        "name",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

versions = Table(
    "versions",
    metadata,
    Column("workflow_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("document_hash", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("note", Text, nullable=False, server_default=""),
    PrimaryKeyConstraint("workflow_id", "number"),
    Index("versions_document", "document_hash"),
)

# What the fence and the leases read stands before the JSON, so that it is found on a row's first page.
runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False, server_default="local"),
    Column("status", Text, nullable=False),
    Column("lease_owner", Text),
    Column("lease_epoch", Integer, nullable=False, server_default="0"),
    Column("lease_until", Double),
    Column("cancel_requested", Boolean, nullable=False, server_default=false()),
    Column("mirror_state", Text, nullable=False, server_default=""),
    Column("flow_run_id", Text),
    Column("workflow_id", Text),
    Column("version", Integer),
    Column("name", Text, nullable=False),
    Column("document_hash", Text, nullable=False),
    Column("environment", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("parent_run_id", Text),
    Column("parent_path", Text),
    Column("depth", Integer, nullable=False, server_default="0"),
    Column("node_count", Integer, nullable=False, server_default="0"),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("scheduled_for", Double),
    Column("tags", Text, nullable=False, server_default="[]"),
    Column("trigger", Text, nullable=False, server_default="{}"),
    Column("inputs", Text, nullable=False, server_default="{}"),
    Column("outputs", Text),
    Column("error", Text),
    Index("runs_status", "status", "id"),
    Index("runs_workflow", "workflow_id", "id"),
    Index(
        "runs_lease",
        "lease_owner",
        sqlite_where=text("lease_owner IS NOT NULL"),
        postgresql_where=text("lease_owner IS NOT NULL"),
    ),
    Index(
        "runs_parent",
        "parent_run_id",
        "parent_path",
        sqlite_where=text("parent_run_id IS NOT NULL"),
        postgresql_where=text("parent_run_id IS NOT NULL"),
    ),
    Index(
        "runs_flow_run",
        "flow_run_id",
        sqlite_where=text("flow_run_id IS NOT NULL"),
        postgresql_where=text("flow_run_id IS NOT NULL"),
    ),
    Index(
        "runs_idempotency",
        "owner",
        "idempotency_key",
        unique=True,
        sqlite_where=text("idempotency_key IS NOT NULL"),
        postgresql_where=text("idempotency_key IS NOT NULL"),
    ),
    Index(
        "runs_mirror",
        "id",
        sqlite_where=text("mirror_state <> status"),
        postgresql_where=text("mirror_state <> status"),
    ),
)

events = Table(
    "events",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("type", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("data", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "seq"),
    sqlite_with_rowid=False,
)

waits = Table(
    "waits",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("consumed", Boolean, nullable=False, server_default=false()),
    Column("version", Integer, nullable=False, server_default="0"),
    Column("until", Double),
    Column("next_at", Double),
    Column("created_at", Double, nullable=False),
    Column("ref", Text),
    Column("token_hash", Text),
    Column("quorum", Integer, nullable=False, server_default="1"),
    Column("allow_self", Boolean, nullable=False, server_default=true()),
    Column("starter", Text),
    Column("reminded", Integer, nullable=False, server_default="0"),
    Column("action", Text),
    Column("answered_by", Text),
    Column("answered_at", Double),
    Column("comment", Text),
    Column("hash", Text, nullable=False, server_default=""),
    Column("title", Text, nullable=False, server_default=""),
    Column("assignees", Text, nullable=False, server_default="[]"),
    Column("schedule", Text, nullable=False, server_default="[]"),
    Column("channels", Text, nullable=False, server_default="[]"),
    Column("answers", Text, nullable=False, server_default="[]"),
    Column("form", Text, nullable=False, server_default="{}"),
    Column("request", Text, nullable=False, server_default="{}"),
    Index("waits_run", "run_id"),
    Index("waits_owner", "owner", "status", "id"),
    Index(
        "waits_due",
        "next_at",
        sqlite_where=text("status = 'pending'"),
        postgresql_where=text("status = 'pending'"),
    ),
    Index(
        "waits_answered",
        "id",
        sqlite_where=text("status <> 'pending' AND NOT consumed"),
        postgresql_where=text("status <> 'pending' AND NOT consumed"),
    ),
    Index("waits_ref", "ref", sqlite_where=text("ref IS NOT NULL"), postgresql_where=text("ref IS NOT NULL")),
    Index(
        "waits_token",
        "token_hash",
        sqlite_where=text("token_hash IS NOT NULL"),
        postgresql_where=text("token_hash IS NOT NULL"),
    ),
)

payloads = Table(
    "payloads",
    metadata,
    Column("ref", Text, primary_key=True),
    Column("size", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
)

run_payloads = Table(
    "run_payloads",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("ref", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "ref"),
    Index("run_payloads_ref", "ref"),
    sqlite_with_rowid=False,
)

files = Table(
    "files",
    metadata,
    Column("id", Text, primary_key=True),
    Column("ref", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("owner", Text, nullable=False, server_default="local"),
    Column("run_id", Text),
    Column("created_at", Double, nullable=False),
    Index("files_ref", "ref"),
    Index("files_run", "run_id"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False, server_default="local"),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("scopes", Text, nullable=False, server_default='["*"]'),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("last_used_at", Double),
    Column("revoked_at", Double),
    UniqueConstraint("prefix", name="api_keys_prefix"),
)

variables = Table(
    "variables",
    metadata,
    Column("workflow_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("updated_at", Double, nullable=False),
    PrimaryKeyConstraint("workflow_id", "name"),
)

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
