"""The folder of a run: which file lies at which path. The bytes are files of the run like all others."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Double, Integer, Row, Text, and_, bindparam, exists, func, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import NotFoundError
from interlace.store.tables import run_files, runs

_COLUMNS = ("run_id", "path", "version", "node", "key", "ref", "size", "media_type", "detail", "created_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One version of the file at a path; `ref` is None where that version removed it.

    `node` is the node of the document that made it, `key` the call that did, `detail` what that call answered.
    """

    path: str
    version: int
    node: str
    key: str
    ref: str | None
    size: int
    media_type: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    created_at: float = 0.0


class RunFileRepository:
    """The folders of all runs; a run is named by its id, which whoever asks has to have a right to."""

    def __init__(self, database: Database) -> None:
        self._database = database
        numbers: dict[str, Any] = {"version": Integer, "size": Integer, "created_at": Double}
        values: list[Any] = [bindparam(name, type_=numbers.get(name, Text)) for name in _COLUMNS]
        there = exists(select(runs.c.id).where(runs.c.id == bindparam("run_id", type_=Text)))
        # A run that was deleted meanwhile gets no files that nobody would ever remove.
        self._add = database.compile(
            insert(run_files)
            .from_select(list(_COLUMNS), select(*values).where(there))
            .on_conflict_do_nothing()
            .returning(run_files.c.version),
            returns=True,
        )

    async def add(self, run_id: str, entry: FolderEntry) -> bool:
        """Keep a version, durably; False where there is one of that number, or of that call, already.

        Raises:
            NotFoundError: the run was deleted.
        """
        rows = await self._database.write(
            self._add(
                run_id=run_id, path=entry.path, version=entry.version, node=entry.node, key=entry.key, ref=entry.ref,
                size=entry.size, media_type=entry.media_type, detail=encode(dict(entry.detail)).decode(),
                created_at=time.time(),
            )
        )  # fmt: skip
        if rows:
            return True
        if await self._database.first(select(runs.c.id).where(runs.c.id == run_id)) is None:
            raise NotFoundError(f"run {run_id!r} was deleted just now")
        return False

    async def of_call(self, run_id: str, key: str) -> FolderEntry | None:
        """What a call made, None where it made nothing yet."""
        row = await self._database.first(
            select(run_files).where(run_files.c.run_id == run_id, run_files.c.key == key)
        )
        return None if row is None else _entry(row)

    async def latest(self, run_id: str, path: str) -> FolderEntry | None:
        """The newest version at a path, one that removed the file included."""
        wanted = select(run_files).where(run_files.c.run_id == run_id, run_files.c.path == path)
        row = await self._database.first(wanted.order_by(run_files.c.version.desc()))
        return None if row is None else _entry(row)

    async def list(self, run_id: str) -> list[FolderEntry]:
        """The files that lie in the folder, by path."""
        newest = (
            select(run_files.c.path, func.max(run_files.c.version).label("version"))
            .where(run_files.c.run_id == run_id)
            .group_by(run_files.c.path)
            .subquery()
        )
        same = and_(run_files.c.path == newest.c.path, run_files.c.version == newest.c.version)
        statement = (
            select(run_files)
            .join(newest, same)
            .where(run_files.c.run_id == run_id, run_files.c.ref.is_not(None))
        )
        return [_entry(row) for row in await self._database.rows(statement.order_by(run_files.c.path))]

    async def versions(self, run_id: str) -> int:
        """How many versions of files the run has made."""
        row = await self._database.first(select(func.count()).where(run_files.c.run_id == run_id))
        assert row is not None, "a count always gives a row"
        return int(row[0])


def _entry(row: Row[*tuple[Any, ...]]) -> FolderEntry:
    return FolderEntry(
        path=row.path, version=row.version, node=row.node, key=row.key, ref=row.ref, size=row.size,
        media_type=row.media_type, detail=decode(row.detail), created_at=row.created_at,
    )  # fmt: skip
