"""Runs migrations on the connection that `interlace.store.migration` hands over, inside its transaction."""

from __future__ import annotations

from alembic import context

from interlace.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
