"""People, what they share, secrets, and the record of who did what."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)

from interlace.store.tables.metadata import metadata

users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text),
    Column("password_hash", Text),
    Column("operator", Boolean, nullable=False, server_default=false()),
    Column("created_at", Double, nullable=False),
    Column("disabled_at", Double),
    UniqueConstraint("name", name="users_name"),
)

organisations = Table(
    "organisations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("name", name="organisations_name"),
)

memberships = Table(
    "memberships",
    metadata,
    Column("org_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    PrimaryKeyConstraint("org_id", "user_id"),
    Index("memberships_user", "user_id"),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("user_id", Text, nullable=False),
    Column("object_id", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    PrimaryKeyConstraint("user_id", "object_id"),
    Index("subscriptions_object", "object_id"),
)

# `scope` is where the name is unique: `user:<id>` or `org:<id>`.
resources = Table(
    "resources",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("org_id", Text),
    Column("visibility", Text, nullable=False, server_default="private"),
    Column("publish_status", Text),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("definition", Text, nullable=False),
    Index("resources_name", "scope", "kind", "name", unique=True),
    Index("resources_owner", "owner", "kind"),
    Index("resources_org", "org_id", "kind"),
)

data_keys = Table(
    "data_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("master_id", Text, nullable=False),
    Column("wrapped", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("scope", name="data_keys_scope"),
    Index("data_keys_master", "master_id"),
)

# A secret of a resource was moved here from its definition, and is revealed for that resource alone.
secrets = Table(
    "secrets",
    metadata,
    Column("scope", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("resource_id", Text),
    Column("key_id", Text, nullable=False),
    Column("ciphertext", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    PrimaryKeyConstraint("scope", "name"),
    Index("secrets_resource", "resource_id"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", Double, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("org_id", Text),
    Column("action", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("object_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default="{}"),
    Index("audit_org", "org_id", "id"),
    Index("audit_user", "user_id", "id"),
)
