"""Variables of `scope: workflow`: what runs of one workflow hand to later runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import ConflictError
from interlace.store.tables import variables


@dataclass(frozen=True, slots=True)
class Variable:
    """A value and how often it was written; version 0 is one that was never written."""

    value: Any
    version: int


class VariableRepository:
    """The variables of all workflows."""

    def __init__(self, database: Database) -> None:
        self._database = database
        upsert = insert(variables)
        write = upsert.values(
            workflow_id=bindparam("workflow_id"), name=bindparam("name"), value=bindparam("value"), version=1,
            updated_at=bindparam("updated_at"),
        )  # fmt: skip
        update = {
            "value": upsert.excluded.value, "version": variables.c.version + 1, "updated_at": upsert.excluded.updated_at,
        }  # fmt: skip
        keys = ["workflow_id", "name"]
        self._set = database.compile(
            write.on_conflict_do_update(index_elements=keys, set_=update).returning(variables.c.version),
            returns=True,
        )
        self._create = database.compile(
            write.on_conflict_do_nothing(index_elements=keys).returning(variables.c.version), returns=True
        )
        self._swap = database.compile(
            variables.update()
            .where(
                variables.c.workflow_id == bindparam("of"),
                variables.c.name == bindparam("called"),
                variables.c.version == bindparam("expected", type_=Integer),
            )
            .values(value=bindparam("given"), version=variables.c.version + 1, updated_at=bindparam("now"))
            .returning(variables.c.version),
            returns=True,
        )
        self._clear = database.compile(delete(variables).where(variables.c.workflow_id == bindparam("of")))

    async def all(self, workflow_id: str) -> dict[str, Any]:
        """The values of a workflow's variables by name."""
        rows = await self._database.rows(select(variables).where(variables.c.workflow_id == workflow_id))
        return {row.name: decode(row.value) for row in rows}

    async def get(self, workflow_id: str, name: str) -> Variable | None:
        """One variable; None when it was never written."""
        row = await self._database.first(
            select(variables).where(variables.c.workflow_id == workflow_id, variables.c.name == name)
        )
        return None if row is None else Variable(decode(row.value), row.version)

    async def set(self, workflow_id: str, name: str, value: Any, *, expected: int | None = None) -> int:
        """Write a variable; gives its new version.

        `expected` is the version that was read: of several writers that read the same one, only the first succeeds.
        0 stands for a variable that was never written; None writes whatever it is.

        Raises:
            ConflictError: somebody else wrote it meanwhile; read it and try again.
            NotJsonError: the value is not JSON.
        """
        now, text = time.time(), encode(value).decode()
        if expected:
            operation = self._swap(of=workflow_id, called=name, expected=expected, given=text, now=now)
        else:
            statement = self._set if expected is None else self._create
            operation = statement(workflow_id=workflow_id, name=name, value=text, updated_at=now)
        rows = await self._database.write(operation)
        if not rows:
            raise ConflictError(
                f"variable {name!r} of workflow {workflow_id!r} is no longer at version {expected}: another run wrote it;"
                " read it again and decide anew"
            )
        version: int = rows[0][0]
        return version

    async def clear(self, workflow_id: str) -> None:
        """Forget all variables of a workflow."""
        await self._database.write(self._clear(of=workflow_id))
