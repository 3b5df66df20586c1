"""Workflows and their versions; which of them is published."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Double,
    Integer,
    Row,
    Text,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import Principal
from interlace.store.database import Database
from interlace.store.errors import ConflictError, ForbiddenError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.paging import Page, page
from interlace.store.runs import hash_document
from interlace.store.tables import documents, variables, versions, workflows
from interlace.store.visibility import Asker, may_write, seen_by, user_of
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
    org_id: str | None = None
    visibility: str = "private"
    publish_status: str | None = None


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
        self._rename = compiler(
            update(workflows)
            .where(workflows.c.id == bindparam("workflow"), workflows.c.deleted_at.is_(None))
            .values(name=bindparam("to"), updated_at=bindparam("now"))
        )
        self._publish = compiler(
            update(workflows)
            .where(workflows.c.id == bindparam("workflow"))
            .values(published_version=bindparam("number", type_=Integer), updated_at=bindparam("now"))
        )
        self._forget = compiler(delete(variables).where(variables.c.workflow_id == bindparam("workflow")))
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

    async def push_to(
        self, name_or_id: str, name: str, document: str, *, owner: Asker = "local", note: str = ""
    ) -> Pushed:
        """Store a document as the newest version of one workflow, which gets the document's name.

        Raises:
            NotFoundError: there is no such workflow.
            ForbiddenError: it is shared with the asker, who may not change it.
            ConflictError: its owner has another workflow of the new name.
        """
        workflow = await self.writable(name_or_id, owner=owner)
        if name != workflow.name:
            taken = select(workflows.c.id).where(
                workflows.c.owner == workflow.owner,
                workflows.c.name == name,
                workflows.c.deleted_at.is_(None),
            )
            if await self._database.first(taken) is not None:
                raise ConflictError(f"there is another workflow called {name!r}; choose another name")
            await self._database.write(self._rename(workflow=workflow.id, to=name, now=time.time()))
        return await self.push(name, document, owner=workflow.owner, note=note)

    async def publish(self, name_or_id: str, number: int | None = None, *, owner: Asker = "local") -> int:
        """Publish a version, by default the newest; gives its number.

        Raises:
            NotFoundError: there is no such workflow or version.
            ForbiddenError: it is shared with the asker, who may not change it.
        """
        workflow = await self.writable(name_or_id, owner=owner)
        version = await self.version(workflow.id, "latest" if number is None else number, owner=owner)
        await self._database.write(
            self._publish(workflow=workflow.id, number=version.number, now=time.time())
        )
        return version.number

    async def unpublish(self, name_or_id: str, *, owner: Asker = "local") -> None:
        """Let no version be published: runs by name are refused, and triggers end.

        Raises:
            NotFoundError: there is no such workflow.
            ForbiddenError: it is shared with the asker, who may not change it.
        """
        workflow = await self.writable(name_or_id, owner=owner)
        await self._database.write(self._publish(workflow=workflow.id, number=None, now=time.time()))

    async def get(self, name_or_id: str, *, owner: Asker = "local") -> Workflow:
        """A workflow by id or name; of several of one name the asker's own, then an organisation's, then the market's.

        Raises:
            NotFoundError: the asker sees none of that id or name.
        """
        wanted = or_(workflows.c.id == name_or_id, workflows.c.name == name_or_id)
        rows = await self._database.rows(
            select(workflows).where(wanted, *_visible(owner)).order_by(workflows.c.id)
        )

        def rank(row: Row[*tuple[Any, ...]]) -> tuple[bool, bool, bool]:
            return row.id != name_or_id, row.owner != user_of(owner), row.visibility == "market"

        row = min(rows, key=rank, default=None)
        if row is None:
            raise NotFoundError(
                f"no workflow {name_or_id!r}; `interlace workflows list` shows those there are"
            )
        return _workflow(row)

    async def writable(self, name_or_id: str, *, owner: Asker = "local") -> Workflow:
        """A workflow that the asker may change.

        Raises:
            NotFoundError: the asker sees none of that id or name.
            ForbiddenError: it is shared with the asker, who may not change it.
        """
        found = await self.get(name_or_id, owner=owner)
        by = owner if isinstance(owner, Principal) else Principal(owner)
        if not may_write(by, found.owner, found.org_id):
            raise ForbiddenError(
                f"workflow {found.name!r} is shared with you; only its owner and admins of its organisation change it"
            )
        return found

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

    async def version(self, name_or_id: str, which: Which, *, owner: Asker = "local") -> Version:
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

    async def document(self, name_or_id: str, which: Which, *, owner: Asker = "local") -> tuple[Version, str]:
        """A version and the text of its document; raises as `version`."""
        version = await self.version(name_or_id, which, owner=owner)
        row = await self._database.first(
            select(documents.c.text).where(documents.c.hash == version.document_hash)
        )
        assert row is not None, "documents are never deleted while a version refers to them"
        return version, row.text

    async def versions(self, name_or_id: str, *, owner: Asker = "local") -> list[Version]:
        """All versions, the newest first."""
        workflow = await self.get(name_or_id, owner=owner)
        statement = (
            select(versions).where(versions.c.workflow_id == workflow.id).order_by(versions.c.number.desc())
        )
        return [_version(row) for row in await self._database.rows(statement)]

    async def list(
        self,
        *,
        owner: Asker = "local",
        limit: int = 50,
        cursor: str | None = None,
        search: str | None = None,
        published: bool | None = None,
    ) -> Page[Workflow]:
        """The workflows that the asker sees, by name: those whose name contains a text, that are published or are not."""
        name, key = workflows.c.name, workflows.c.id
        statement = select(workflows).where(*_visible(owner)).order_by(name, key).limit(limit + 1)
        if search is not None:
            statement = statement.where(name.icontains(search, autoescape=True))
        if published is not None:
            version = workflows.c.published_version
            statement = statement.where(version.is_not(None) if published else version.is_(None))
        if cursor is not None:
            last, _, last_name = cursor.partition(":")
            statement = statement.where(or_(name > last_name, and_(name == last_name, key > last)))
        found = [_workflow(row) for row in await self._database.rows(statement)]
        return page(found, limit, [f"{workflow.id}:{workflow.name}" for workflow in found])

    async def delete(self, name_or_id: str, *, owner: Asker = "local") -> None:
        """Delete a workflow with its kept variables; its name is free again, runs keep the documents they are pinned to.

        Raises:
            NotFoundError: there is no such workflow.
            ForbiddenError: it is shared with the asker, who may not change it.
        """
        workflow = await self.writable(name_or_id, owner=owner)
        await self._database.write(
            self._delete(workflow=workflow.id, now=time.time()), self._forget(workflow=workflow.id)
        )


def _visible(owner: Asker) -> tuple[ColumnElement[bool], ...]:
    return seen_by(workflows, owner), workflows.c.deleted_at.is_(None)


def _workflow(row: Row[*tuple[Any, ...]]) -> Workflow:
    return Workflow(
        id=row.id, owner=row.owner, name=row.name, published_version=row.published_version, created_at=row.created_at,
        updated_at=row.updated_at, org_id=row.org_id, visibility=row.visibility, publish_status=row.publish_status,
    )  # fmt: skip


def _version(row: Row[*tuple[Any, ...]]) -> Version:
    return Version(
        workflow_id=row.workflow_id, number=row.number, document_hash=row.document_hash, created_at=row.created_at,
        note=row.note,
    )  # fmt: skip
