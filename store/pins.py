"""Outputs that stand in for nodes in test runs of stored workflows."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.errors import NotFoundError
from interlace.store.tables import pins
from interlace.store.uploads import Uses


class PinRepository:
    """The pins of all workflows, as `{node or "node:handle": outputs}`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        upsert = insert(pins)
        changed = {"value": upsert.excluded.value, "updated_at": upsert.excluded.updated_at}
        names = ("workflow_id", "node", "value", "updated_at")
        self._set = database.compile(
            upsert.values(**{name: bindparam(name) for name in names}).on_conflict_do_update(
                index_elements=["workflow_id", "node"], set_=changed
            )
        )
        self._uses = Uses(database.compile)
        one = (pins.c.workflow_id == bindparam("of"), pins.c.node == bindparam("named"))
        self._remove = database.compile(delete(pins).where(*one).returning(pins.c.node), returns=True)

    async def of(self, workflow_id: str) -> dict[str, Any]:
        """The pins of a workflow."""
        statement = select(pins.c.node, pins.c.value).where(pins.c.workflow_id == workflow_id)
        found: dict[str, Any] = {}
        for row in await self._database.rows(statement.order_by(pins.c.node)):
            value = decode(row.value)
            found[f"{row.node}:{value['handle']}" if value["handle"] else row.node] = value["outputs"]
        return found

    async def set(self, workflow_id: str, node: str, outputs: Any, handle: str | None = None) -> None:
        """Pin a node; an earlier pin of it is replaced."""
        value = encode({"outputs": outputs, "handle": handle}).decode()
        now = time.time()
        await self._database.write(
            *self._uses.of(value, now),
            self._set(workflow_id=workflow_id, node=node, value=value, updated_at=now),
        )

    async def remove(self, workflow_id: str, node: str) -> None:
        """Unpin a node.

        Raises:
            NotFoundError: it is not pinned.
        """
        if not await self._database.write(self._remove(of=workflow_id, named=node)):
            raise NotFoundError(f"node {node!r} is not pinned")
