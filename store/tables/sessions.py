"""Chat sessions: conversations as trees of messages, and what people say to a turn while it is at work."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Table, Text

from interlace.store.tables.metadata import metadata

# `head` is the message at which the conversation stands; `titled_by` says who made the title: question, model, user.
sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("agent_id", Text),
    Column("workflow_id", Text),
    Column("title", Text, nullable=False, server_default=""),
    Column("titled_by", Text, nullable=False, server_default="question"),
    Column("head", Text),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("sessions_owner", "owner", "updated_at"),
)

# An answer is `running` until what its run gave is written into it, once.
messages = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("parent_id", Text),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False, server_default=""),
    Column("files", Text, nullable=False, server_default="[]"),
    Column("run_id", Text),
    Column("status", Text, nullable=False),
    Column("data", Text, nullable=False, server_default="{}"),
    Column("created_at", Double, nullable=False),
    Column("finished_at", Double),
    Index("messages_session", "session_id", "id"),
    Index("messages_run", "run_id"),
    Index("messages_status", "status", "id"),
)

injections = Table(
    "injections",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("injections_run", "run_id", "id"),
)

# Where a conversation stands, by what a client can name it by that sends the whole of it with each question.
places = Table(
    "places",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("data", Text, nullable=False, server_default="{}"),
    Column("at", Double, nullable=False),
    Index("places_session", "session_id"),
)
