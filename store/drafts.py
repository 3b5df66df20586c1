"""Drafts of workflows: one each, numbered, so that nobody overwrites what they have not seen."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.errors import ConflictError
from interlace.store.tables.drafts import drafts


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft; the document need not be valid. Times in Unix seconds."""

    workflow_id: str
    document: str
    """JSON."""
    revision: int
    base_version: int | None
    """The version that it began from."""
    updated_at: float
    updated_by: str


class DraftRepository:
    """The drafts of all workflows; who may see a workflow's draft is asked before."""

    def __init__(self, database: Database) -> None:
        self._database = database
        names = ("workflow_id", "document", "revision", "base_version", "updated_at", "updated_by")
        self._first = database.compile(
            insert(drafts)
            .values(**{name: bindparam(name) for name in names})
            .on_conflict_do_nothing()
            .returning(drafts.c.revision),
            returns=True,
        )
        changed = ("document", "base_version", "updated_at", "updated_by")
        self._next = database.compile(
            update(drafts)
            .where(drafts.c.workflow_id == bindparam("of"), drafts.c.revision == bindparam("seen"))
            .values(revision=drafts.c.revision + 1, **{name: bindparam(name) for name in changed})
            .returning(drafts.c.revision),
            returns=True,
        )
        self._delete = database.compile(delete(drafts).where(drafts.c.workflow_id == bindparam("of")))
        self._delete_seen = database.compile(
            delete(drafts).where(
                drafts.c.workflow_id == bindparam("of"), drafts.c.revision == bindparam("seen")
            )
        )

    async def of(self, workflow_id: str) -> Draft | None:
        """The draft of a workflow, if there is one."""
        row = await self._database.first(select(drafts).where(drafts.c.workflow_id == workflow_id))
        return None if row is None else Draft(**row._mapping)  # noqa: SLF001 - SQLAlchemy's name for a row as a mapping

    async def save(
        self, workflow_id: str, document: str, *, seen: int | None, base_version: int | None, by: str
    ) -> Draft:
        """Write a draft over the revision that its author has seen; None where they saw none.

        Raises:
            ConflictError: there is a revision that they have not seen.
        """
        now = time.time()
        values: dict[str, Any] = {
            "document": document, "base_version": base_version, "updated_at": now, "updated_by": by,
        }  # fmt: skip
        if seen is None:
            written = await self._database.write(
                self._first(workflow_id=workflow_id, revision=_first_revision(), **values)
            )
        else:
            written = await self._database.write(self._next(of=workflow_id, seen=seen, **values))
        if not written:
            raise ConflictError(
                "the draft was changed by somebody else, or in another window, since you read it"
            )
        return Draft(workflow_id=workflow_id, revision=written[0][0], **values)

    async def remove(self, workflow_id: str, *, seen: int | None = None) -> None:
        """Discard a draft, with `seen` of that revision only; one that is not there is no error."""
        if seen is None:
            await self._database.write(self._delete(of=workflow_id))
        else:
            await self._database.write(self._delete_seen(of=workflow_id, seen=seen))


def _first_revision() -> int:
    # By chance: a revision of a draft that has ended must not fit the next one, which its reader has not seen.
    return 1 + secrets.randbelow(2**30)
