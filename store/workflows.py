"""Workflows and their versions; which of them is published."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Double, Integer, Row, Text, bindparam, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.runs import hash_document
from interlace.store.tables import documents, versions, workflows
from interlace.store.writer import Batch, Lane

Which = int | Literal["published", "latest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A stored workflow; times in Unix seconds."""

    id: str
    owner: str
    name: str
    published_version: int | None
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a workflow; numbers count from 1."""

    workflow_id: str
    number: int
    document_hash: str
    created_at: float
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What a push came to; `created` is false when the newest version has this very document already."""

    workflow_id: str
    number: int
    created: bool


class WorkflowRepository:
    """The workflows of all owners."""

    def __init__(self, database: Database) -> None:
        self._database = database
        compiler = database.compile
        self._document = compiler(insert(documents).on_conflict_do_nothing())
        # The update locks the workflow, so that two pushes cannot take the same number.
        self._upsert = compiler(
            insert(workflows)
            .values(
                id=bindparam("id"),
                owner=bindparam("owner"),
                name=bindparam("name"),
                created_at=bindparam("now"),
                updated_at=bindparam("now"),
            )
            .on_conflict_do_update(
                index_elements=["owner", "name"],
                index_where=workflows.c.deleted_at.is_(None),
                set_={"updated_at": bindparam("now")},
            )
            .returning(workflows.c.id),
            returns=True,
        )
        named = (
            workflows.c.owner == bindparam("owner"), workflows.c.name == bindparam("name"), workflows.c.deleted_at.is_(None)
        )  # fmt: skip
        counted, last = versions.alias("counted"), versions.alias("last")
        newest = (
            select(func.max(counted.c.number))
            .where(counted.c.workflow_id == workflows.c.id)
            .correlate(workflows)
            .scalar_subquery()
        )
        newest_hash = (
            select(last.c.document_hash)
            .where(last.c.workflow_id == workflows.c.id, last.c.number == newest)
            .correlate(workflows)
            .scalar_subquery()
        )
        hash_ = bindparam("hash", type_=Text)
        self._version = compiler(
            insert(versions)
            .from_select(
                ["workflow_id", "number", "document_hash", "created_at", "note"],
                select(
                    workflows.c.id,
                    func.coalesce(newest, 0) + 1,
                    hash_,
                    bindparam("now", type_=Double),
                    bindparam("note", type_=Text),
                ).where(*named, func.coalesce(newest_hash, "") != hash_),
            )
            .returning(versions.c.number),
            returns=True,
        )
        self._newest = compiler(select(newest).where(*named), returns=True)
        self._publish = compiler(
            update(workflows)
            .where(workflows.c.id == bindparam("workflow"))
            .values(published_version=bindparam("number", type_=Integer), updated_at=bindparam("now"))
        )
        self._delete = compiler(
            update(workflows)
            .where(workflows.c.id == bindparam("workflow"), workflows.c.deleted_at.is_(None))
            .values(deleted_at=bindparam("now"))
        )

    async def push(self, name: str, document: str, *, owner: str = "local", note: str = "") -> Pushed:
        """Store a document's canonical text as the newest version of the workflow of that name."""
        now, key = time.time(), hash_document(document)
        batch = Batch(Lane())
        batch.execute(self._document(hash=key, text=document, created_at=now))
        ids = batch.execute(self._upsert(id=uuid7(), owner=owner, name=name, now=now))
        created = batch.execute(self._version(owner=owner, name=name, hash=key, note=note, now=now))
        numbers = batch.execute(self._newest(owner=owner, name=name))
        await self._database.writer.submit(batch)
        return Pushed(workflow_id=ids[0][0], number=numbers[0][0], created=bool(created))

    async def publish(self, name_or_id: str, number: int | None = None, *, owner: str = "local") -> int:
        """Publish a version, by default the newest; gives its number.

        Raises:
            NotFoundError: there is no such workflow or version.
        """
        workflow = await self.get(name_or_id, owner=owner)
        version = await self.version(workflow.id, "latest" if number is None else number, owner=owner)
        await self._database.write(
            self._publish(workflow=workflow.id, number=version.number, now=time.time())
        )
        return version.number

    async def get(self, name_or_id: str, *, owner: str = "local") -> Workflow:
        """A workflow by id or name.

        Raises:
            NotFoundError: this owner has none of that id or name.
        """
        wanted = or_(workflows.c.id == name_or_id, workflows.c.name == name_or_id)
        rows = await self._database.rows(select(workflows).where(wanted, *_visible(owner)))
        found = {row.id: row for row in rows}
        row = found.get(name_or_id) or next(iter(rows), None)
        if row is None:
            raise NotFoundError(
                f"no workflow {name_or_id!r}; `interlace workflows list` shows those there are"
            )
        return _workflow(row)

    async def owner(self, workflow_id: str) -> str:
        """Whose workflow it is that has an id.

        Raises:
            NotFoundError: nobody has a workflow of that id.
        """
        statement = select(workflows.c.owner).where(
            workflows.c.id == workflow_id, workflows.c.deleted_at.is_(None)
        )
        row = await self._database.first(statement)
        if row is None:
            raise NotFoundError(f"no workflow has the id {workflow_id!r}")
        found: str = row.owner
        return found

    async def version(self, name_or_id: str, which: Which, *, owner: str = "local") -> Version:
        """One version of a workflow.

        Raises:
            NotFoundError: there is no such workflow or version.
            ConflictError: nothing is published.
        """
        workflow = await self.get(name_or_id, owner=owner)
        statement = select(versions).where(versions.c.workflow_id == workflow.id)
        if which == "latest":
            statement = statement.order_by(versions.c.number.desc()).limit(1)
        elif which == "published":
            if workflow.published_version is None:
                raise ConflictError(
                    f"workflow {workflow.name!r} has no published version; publish one with `interlace workflows publish"
                    f" {workflow.name}`, or ask for version 'latest'"
                )
            statement = statement.where(versions.c.number == workflow.published_version)
        else:
            statement = statement.where(versions.c.number == which)
        row = await self._database.first(statement)
        if row is None:
            raise NotFoundError(f"workflow {workflow.name!r} has no version {which!r}")
        return _version(row)

    async def document(self, name_or_id: str, which: Which, *, owner: str = "local") -> tuple[Version, str]:
        """A version and the text of its document; raises as `version`."""
        version = await self.version(name_or_id, which, owner=owner)
        row = await self._database.first(
            select(documents.c.text).where(documents.c.hash == version.document_hash)
        )
        assert row is not None, "documents are never deleted while a version refers to them"
        return version, row.text

    async def versions(self, name_or_id: str, *, owner: str = "local") -> list[Version]:
        """All versions, the newest first."""
        workflow = await self.get(name_or_id, owner=owner)
        statement = (
            select(versions).where(versions.c.workflow_id == workflow.id).order_by(versions.c.number.desc())
        )
        return [_version(row) for row in await self._database.rows(statement)]

    async def list(
        self, *, owner: str = "local", limit: int = 50, cursor: str | None = None
    ) -> Page[Workflow]:
        """An owner's workflows by name."""
        statement = select(workflows).where(*_visible(owner)).order_by(workflows.c.name).limit(limit + 1)
        if cursor is not None:
            statement = statement.where(workflows.c.name > cursor)
        found = [_workflow(row) for row in await self._database.rows(statement)]
        return page(found, limit, [workflow.name for workflow in found])

    async def delete(self, name_or_id: str, *, owner: str = "local") -> None:
        """Delete a workflow; its name is free again, runs keep the documents they are pinned to.

        Raises:
            NotFoundError: there is no such workflow.
        """
        workflow = await self.get(name_or_id, owner=owner)
        await self._database.write(self._delete(workflow=workflow.id, now=time.time()))


def _visible(owner: str) -> tuple[ColumnElement[bool], ...]:
    return workflows.c.owner == owner, workflows.c.deleted_at.is_(None)


def _workflow(row: Row[*tuple[Any, ...]]) -> Workflow:
    return Workflow(
        id=row.id, owner=row.owner, name=row.name, published_version=row.published_version, created_at=row.created_at,
        updated_at=row.updated_at,
    )  # fmt: skip


def _version(row: Row[*tuple[Any, ...]]) -> Version:
    return Version(
        workflow_id=row.workflow_id, number=row.number, document_hash=row.document_hash, created_at=row.created_at,
        note=row.note,
    )  # fmt: skip
