"""`/api/v1/databases`: stored databases. Saving one opens no connection; only `test` and `tables` do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from interlace.resources.databases.stored import KIND, DatabaseDefinition, reach_of
from interlace.resources.secrets import add_resource, update_resource
from interlace.server.api.listing import Wanted, part
from interlace.server.auth import By, PlatformOf
from interlace.server.bodies import Body
from interlace.server.scopes import needs
from interlace.store.resources import Resource

router = APIRouter(prefix="/api/v1/databases", tags=["databases"])


class NewDatabase(Body):
    """A database to be stored."""

    name: str = Field(max_length=200)
    definition: DatabaseDefinition
    org: str | None = Field(None, description="Name or id of the organisation it is made in.")
    visibility: Literal["private", "org"] = "private"


class DatabaseChange(Body):
    """What changes; the rest stays. A password that is left out, or given as it was shown, stays the same."""

    name: str | None = None
    definition: DatabaseDefinition | None = None
    active: bool | None = None
    expected_version: int | None = None


class Statement(Body):
    """A statement that only reads."""

    sql: str = Field(max_length=100_000, description="One SELECT with `:name` for values.")
    values: dict[str, Any] = Field(default_factory=dict, description="A value for each name.")
    max_rows: int = Field(200, ge=1, le=1000, description="Most rows that are shown.")


@router.get("", dependencies=[needs("resources:read")])
async def list_databases(
    platform: PlatformOf,
    by: By,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The databases that the caller sees."""
    page = await platform.store.resources.list(KIND, by=by, limit=limit, after=cursor)
    return {"items": [database_json(found) for found in page.items], "next_cursor": page.cursor}


@router.post("", status_code=201, dependencies=[needs("resources:write")])
async def add_database(body: NewDatabase, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Store a database; its password becomes a secret that is not shown again."""
    org_id = None if body.org is None else (await platform.store.organisations.get(body.org, by=by)).id
    made = await add_resource(
        platform.store, platform.secrets, KIND, body.name, body.definition, by=by, org_id=org_id,
        visibility=body.visibility,
    )  # fmt: skip
    return database_json(made)


@router.get("/{database}", dependencies=[needs("resources:read")])
async def get_database(database: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """One database; of its password only the secret's name."""
    return database_json(await platform.store.resources.find(KIND, database, by=by))


@router.patch("/{database}", dependencies=[needs("resources:write")])
async def change_database(
    database: str, body: DatabaseChange, platform: PlatformOf, by: By
) -> dict[str, Any]:
    """Change a database."""
    found = await platform.store.resources.find(KIND, database, by=by)
    version = body.expected_version
    if body.definition is not None:
        kept = found.definition.get("password")
        given = body.definition
        if given.password is None and kept is not None:
            given = DatabaseDefinition.model_validate(
                {**given.model_dump(by_alias=True, exclude_none=True), "password": kept}
            )
        found = await update_resource(
            platform.store, platform.secrets, found.id, given, by=by, reach=reach_of, name=body.name,
            expected_version=version,
        )  # fmt: skip
        version = found.version
    if body.active is not None or (body.name is not None and body.definition is None):
        found = await platform.store.resources.update(
            found.id, by=by, name=body.name, active=body.active, expected_version=version
        )
    return database_json(found)


@router.delete("/{database}", status_code=204, dependencies=[needs("resources:write")])
async def remove_database(database: str, platform: PlatformOf, by: By) -> None:
    """Forget a database with its password; the database itself is not touched."""
    found = await platform.store.resources.find(KIND, database, by=by)
    await platform.store.resources.remove(found.id, by=by)


@router.post("/{database}/test", dependencies=[needs("resources:use")])
async def test_database(database: str, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Try the connection, and say what its user may do beyond reading."""
    return asdict(await platform.stored_databases.test(database, by=by))


@router.get("/{database}/tables", dependencies=[needs("resources:use")])
async def list_tables(database: str, platform: PlatformOf, by: By, wanted: Wanted) -> dict[str, Any]:
    """Visible tables with their visible columns."""
    found = await platform.stored_databases.tables(database, by=by)
    return part(found, lambda table: str(table["name"]), wanted, dict)


@router.post("/{database}/query", dependencies=[needs("resources:use")])
async def query_database(database: str, body: Statement, platform: PlatformOf, by: By) -> dict[str, Any]:
    """Rows of a statement that only reads, with the database's own limits; what is hidden cannot be named."""
    return await platform.stored_databases.query(
        database, body.sql, body.values, by=by, max_rows=body.max_rows
    )


def database_json(found: Resource) -> dict[str, Any]:
    """A stored database as lists and commands show it."""
    return {
        name: getattr(found, name)
        for name in (
            "id", "name", "definition", "owner", "org_id", "visibility", "publish_status", "active", "version",
            "created_at", "updated_at",
        )
    }  # fmt: skip
