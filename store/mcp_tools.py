"""The tools of MCP servers as somebody accepted them."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from interlace.engine.principal import Principal
from interlace.store.database import Database
from interlace.store.encoding import decode, encode
from interlace.store.tables import mcp_tools

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedTool:
    """A tool's definition with its hash, and who accepted it when (Unix seconds)."""

    name: str
    hash: str
    definition: dict[str, Any]
    accepted_by: str
    accepted_at: float


class McpToolRepository:
    """Accepted tools by server; whoever asks has looked the server up, so that it is theirs to see."""

    def __init__(self, database: Database) -> None:
        self._database = database
        upsert = insert(mcp_tools)
        names = ("hash", "definition", "accepted_by", "accepted_at")
        self._set = database.compile(
            upsert.on_conflict_do_update(
                index_elements=["server_id", "name"], set_={name: upsert.excluded[name] for name in names}
            )
        )
        server = mcp_tools.c.server_id == bindparam("server", type_=mcp_tools.c.server_id.type)
        self._remove = database.compile(
            delete(mcp_tools).where(
                server, mcp_tools.c.name == bindparam("tool", type_=mcp_tools.c.name.type)
            )
        )
        self._clear = database.compile(delete(mcp_tools).where(server))

    async def of(self, server_id: str) -> dict[str, AcceptedTool]:
        """What is accepted of a server, by name."""
        return (await self.of_many([server_id]))[server_id]

    async def of_many(self, server_ids: Collection[str]) -> dict[str, dict[str, AcceptedTool]]:
        """What is accepted of several servers, by server and name, in the order of their names."""
        found: dict[str, dict[str, AcceptedTool]] = {server: {} for server in server_ids}
        wanted = sorted(found)
        for start in range(0, len(wanted), _AT_ONCE):
            some = mcp_tools.c.server_id.in_(wanted[start : start + _AT_ONCE])
            for row in await self._database.rows(select(mcp_tools).where(some).order_by(mcp_tools.c.name)):
                found[row.server_id][row.name] = AcceptedTool(
                    name=row.name,
                    hash=row.hash,
                    definition=decode(row.definition),
                    accepted_by=row.accepted_by,
                    accepted_at=row.accepted_at,
                )
        return found

    async def hashes(self, server_ids: Collection[str]) -> dict[str, dict[str, str]]:
        """The hashes of what is accepted of several servers, by server and name; quicker than the definitions."""
        found: dict[str, dict[str, str]] = {server: {} for server in server_ids}
        wanted = sorted(found)
        for start in range(0, len(wanted), _AT_ONCE):
            some = mcp_tools.c.server_id.in_(wanted[start : start + _AT_ONCE])
            columns = (mcp_tools.c.server_id, mcp_tools.c.name, mcp_tools.c.hash)
            for row in await self._database.rows(select(*columns).where(some)):
                found[row.server_id][row.name] = row.hash
        return found

    async def accept(
        self,
        server_id: str,
        tools: Mapping[str, tuple[str, Mapping[str, Any]]],
        *,
        gone: Iterable[str] = (),
        by: Principal,
    ) -> None:
        """Accept definitions, given with their hashes by name, and forget the tools that are gone."""
        now = time.time()
        changes = [
            self._set(
                server_id=server_id, name=name, hash=digest, definition=encode(dict(definition)).decode(),
                accepted_by=by.user_id, accepted_at=now,
            )
            for name, (digest, definition) in tools.items()
        ]  # fmt: skip
        changes += [self._remove(server=server_id, tool=name) for name in gone]
        if changes:
            await self._database.write(*changes)

    async def clear(self, server_id: str) -> None:
        """Forget everything of a server."""
        await self._database.write(self._clear(server=server_id))
