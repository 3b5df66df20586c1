"""The tables, one module a subject.

Times are Unix seconds. JSON columns are text that `encoding` writes and reads, because the hot path bypasses
SQLAlchemy's types. No foreign keys: the writer checks the one relation that matters (a run's lease) itself, and
deletions name what they delete.
"""

from interlace.store.tables.connectors import connector_authorizations, connector_breakers, connector_locks
from interlace.store.tables.core import (
    api_keys,
    documents,
    events,
    files,
    meta,
    payloads,
    run_payloads,
    runs,
    variables,
    versions,
    waits,
    workflows,
)
from interlace.store.tables.drafts import drafts
from interlace.store.tables.forms import forms
from interlace.store.tables.identity import answers, counters, identities, invitations, logins, tickets
from interlace.store.tables.knowledge import kb_chunks, kb_documents, kb_entries, kb_generations
from interlace.store.tables.machines import hosts, slots
from interlace.store.tables.mcp import mcp_tools
from interlace.store.tables.metadata import metadata
from interlace.store.tables.pins import pins
from interlace.store.tables.resources import (
    audit,
    data_keys,
    memberships,
    organisations,
    resources,
    secrets,
    subscriptions,
    users,
)
from interlace.store.tables.run_files import run_files
from interlace.store.tables.sessions import injections, messages, places, sessions
from interlace.store.tables.triggers import (
    announcements,
    deliveries,
    event_subscriptions,
    firings,
    listeners,
    outbox,
    triggers,
)
from interlace.store.tables.usage import budgets, model_calls

__all__ = [
    "announcements",
    "answers",
    "api_keys",
    "audit",
    "budgets",
    "connector_authorizations",
    "connector_breakers",
    "connector_locks",
    "counters",
    "data_keys",
    "deliveries",
    "documents",
    "drafts",
    "event_subscriptions",
    "events",
    "files",
    "firings",
    "forms",
    "hosts",
    "identities",
    "injections",
    "invitations",
    "kb_chunks",
    "kb_documents",
    "kb_entries",
    "kb_generations",
    "listeners",
    "logins",
    "mcp_tools",
    "memberships",
    "messages",
    "meta",
    "metadata",
    "model_calls",
    "organisations",
    "outbox",
    "payloads",
    "pins",
    "places",
    "resources",
    "run_files",
    "run_payloads",
    "runs",
    "secrets",
    "sessions",
    "slots",
    "subscriptions",
    "tickets",
    "triggers",
    "users",
    "variables",
    "versions",
    "waits",
    "workflows",
]
