"""What suspended runs wait for of people and of clients, with the link at which it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from interlace.agents.client_tools import REQUEST
from interlace.engine.principal import Principal
from interlace.flows.people import NotAllowed
from interlace.flows.platform import Platform
from interlace.server.api.approvals import person_of
from interlace.server.auth import name_of
from interlace.server.scopes import holds
from interlace.store.keys import Key
from interlace.store.wait_row import Wait

REQUESTS_PATH: Final = "/forms/requests/"
_DEPTH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What a suspended turn waits for: requests to people, calls of the client's tools, and others."""

    people: tuple[Wait, ...] = ()
    calls: tuple[Wait, ...] = ()
    others: tuple[Wait, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.people or self.calls)


async def pending_of(platform: Platform, run_id: str, depth: int = 0) -> Pending:
    """What a run and its children wait for."""
    people: list[Wait] = []
    calls: list[Wait] = []
    others: list[Wait] = []
    for wait in await platform.store.waits.of_run(run_id):
        if wait.kind == "human":
            people.append(wait)
        elif REQUEST in wait.request:
            calls.append(wait)
        elif wait.kind == "child" and wait.ref is not None and depth < _DEPTH:
            inner = await pending_of(platform, wait.ref, depth + 1)
            people += inner.people
            others += inner.others
        else:
            others.append(wait)
    return Pending(people=tuple(people), calls=tuple(calls), others=tuple(others))


def link(platform: Platform, wait: Wait) -> str:
    """Where a request is answered in a browser."""
    return f"{platform.callbacks.base.rstrip('/')}{REQUESTS_PATH}{wait.id}"


def shown(platform: Platform, waits: Sequence[Wait]) -> list[dict[str, Any]]:
    """Requests as `x_interlace.pending` lists them."""
    return [
        {
            "id": wait.id, "run_id": wait.run_id, "title": wait.title, "message": wait.request.get("message"),
            "actions": wait.request.get("actions"), "form": wait.request.get("form"), "hash": wait.hash,
            "until": wait.until, "link": link(platform, wait),
        }
        for wait in waits
    ]  # fmt: skip


async def may_answer(platform: Platform, wait: Wait, *, key: Key, by: Principal) -> bool:
    """Whether a request asks the holder of a key, and the key may answer."""
    if not holds(key.scopes, "approvals:answer"):
        return False
    try:
        person_of(key, by, await name_of(platform, key), wait).check(wait)
    except NotAllowed:
        return False
    return True
