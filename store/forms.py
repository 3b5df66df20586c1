"""Public forms of workflows: which there are, and whose rights their runs have."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Text, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.tables import forms


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicForm:
    """A form that anybody with its link may fill in; `created_at` in Unix seconds."""

    workflow_id: str
    owner: str
    generation: int
    created_at: float


class FormRepository:
    """The public forms of all workflows."""

    def __init__(self, database: Database) -> None:
        self._database = database
        new = insert(forms)
        self._put = database.compile(
            new.on_conflict_do_update(
                index_elements=["workflow_id"],
                set_={"owner": new.excluded.owner, "generation": new.excluded.generation},
            )
        )
        self._remove = database.compile(
            delete(forms).where(forms.c.workflow_id == bindparam("workflow", type_=Text))
        )

    async def of(self, workflow_id: str) -> PublicForm | None:
        """The public form of a workflow."""
        row = await self._database.first(select(forms).where(forms.c.workflow_id == workflow_id))
        if row is None:
            return None
        return PublicForm(
            workflow_id=row.workflow_id, owner=row.owner, generation=row.generation, created_at=row.created_at
        )

    async def put(self, workflow_id: str, owner: str, generation: int) -> PublicForm:
        """Open a form, or let the links before that generation lead nowhere."""
        made = PublicForm(workflow_id=workflow_id, owner=owner, generation=generation, created_at=time.time())
        await self._database.write(
            self._put(workflow_id=workflow_id, owner=owner, generation=generation, created_at=made.created_at)
        )
        return made

    async def remove(self, workflow_id: str) -> None:
        """Close a form."""
        await self._database.write(self._remove(workflow=workflow_id))
