"""All tables of the newest version at once, for a database that holds none: the migrations take four times as long."""

from __future__ import annotations

import time

from sqlalchemy import Connection, insert, text

from interlace.engine.principal import LOCAL
from interlace.store.tables import metadata, users

_APPEND_ONLY = {
    "sqlite": tuple(
        f"CREATE TRIGGER audit_no_{change.lower()} BEFORE {change} ON audit"
        " BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END"
        for change in ("UPDATE", "DELETE")
    ),
    "postgresql": (
        """CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the audit is append-only'; END $$""",
        """CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit
        FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()""",
    ),
}


def create(connection: Connection, revision: str) -> None:
    """Make what the migrations up to `revision`, the newest, make of an empty database, in the connection's transaction.

    A test holds the two against each other.
    """
    metadata.create_all(connection, checkfirst=False)
    for statement in _APPEND_ONLY[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    owner = {"id": LOCAL.user_id, "name": "owner", "operator": True, "created_at": time.time()}
    connection.execute(insert(users).values(**owner))
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
        " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": revision})
