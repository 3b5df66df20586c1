"""Variables of `scope: workflow`: what runs of one workflow hand to later runs.

Runs change them through their journals (`changing.py`); people look at them and set them here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.changing import MAX_BYTES
from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import TooLargeError
from interlace.store.tables import variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A value, how often it was written, and when last (Unix time)."""

    value: Any
    version: int
    updated_at: float


class VariableRepository:
    """The variables of all workflows. `of` is the id of a workflow, or a `file_key`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        upsert = insert(variables)
        names = ("workflow_id", "name", "value", "updated_at")
        update = {
            "value": upsert.excluded.value, "version": variables.c.version + 1, "updated_at": upsert.excluded.updated_at,
        }  # fmt: skip
        self._set = database.compile(
            upsert.values(version=1, **{name: bindparam(name) for name in names}).on_conflict_do_update(
                index_elements=["workflow_id", "name"], set_=update
            )
        )
        one = (variables.c.workflow_id == bindparam("of"), variables.c.name == bindparam("named"))
        self._forget = database.compile(delete(variables).where(*one))

    async def of(self, of: str) -> dict[str, Kept]:
        """The variables of a workflow that were ever written, by name."""
        statement = select(variables).where(variables.c.workflow_id == of, variables.c.version > 0)
        rows = await self._database.rows(statement.order_by(variables.c.name))
        return {
            row.name: Kept(value=decode(row.value), version=row.version, updated_at=row.updated_at)
            for row in rows
        }

    async def values(self, of: str) -> dict[str, Any]:
        """Their values by name."""
        return {name: kept.value for name, kept in (await self.of(of)).items()}

    async def write(self, of: str, values: Mapping[str, Any], forget: Iterable[str] = ()) -> None:
        """Set some variables and forget others, all at once; a run that changes one at this moment comes before or after.

        Raises:
            NotJsonError: a value is not JSON.
            TooLargeError: a value is too large.
        """
        now, operations = time.time(), []
        # In one order, so that two writers do not wait for each other's rows.
        for name in sorted({*values, *forget}):
            if name not in values:
                operations.append(self._forget(of=of, named=name))
                continue
            text = encode(values[name])
            if len(text) > MAX_BYTES:
                raise TooLargeError(
                    f"variable {name!r} has {len(text):,} bytes as JSON; {MAX_BYTES:,} are allowed"
                )
            operations.append(self._set(workflow_id=of, name=name, value=text.decode(), updated_at=now))
        if operations:
            await self._database.write(*operations)
