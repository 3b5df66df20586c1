"""Stored agents as people and turns use them: looked up by rights; what an agent is told stays with its keepers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.agents.definition import WRONG, Agent, read_definition, read_hooks
from interlace.resources.agents.hooking import Hooks
from interlace.resources.agents.hooks import Hook, Webhook
from interlace.resources.lookup import resource_not_found, usable
from interlace.resources.secrets import Secrets, add_resource, reveal_in, update_resource
from interlace.resources.secrets.binding import SecretRef
from interlace.resources.stubs import Stubs
from interlace.store import Store
from interlace.store.errors import ForbiddenError, NotFoundError
from interlace.store.resources import Resource, Visibility
from interlace.store.visibility import may_write, scopes_of

KIND = "agent"
Hide = Callable[[str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStub:
    """An agent as catalogues name it."""

    id: str
    name: str
    description: str
    builder: bool


class Agents:
    """The agents of all users, and the hooks of organisations. Nothing here calls a model, a tool or a server."""

    def __init__(self, store: Store, secrets: Secrets) -> None:
        self._store = store
        self._secrets = secrets
        self._stubs = Stubs(store.resources, KIND, _stub)

    # -- what is stored ------------------------------------------------------------------------------------------------

    async def add(
        self,
        definition: Mapping[str, Any] | Agent,
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
    ) -> Resource:
        """Store an agent; what it names is looked up when somebody chats with it. Secrets go into the secret store.

        Raises:
            NodeError: `agent_definition`.
            ConflictError, NotFoundError: as for every resource.
        """
        agent = read_definition(definition)
        return await add_resource(
            self._store, self._secrets, KIND, agent.name, agent, by=by, org_id=org_id, visibility=visibility
        )

    async def update(
        self,
        name_or_id: str,
        definition: Mapping[str, Any] | Agent,
        *,
        by: Principal,
        expected_version: int | None = None,
    ) -> Resource:
        """Put another definition in its place, also under another name.

        Raises:
            NodeError: `agent_definition`; also where a webhook would take a kept secret to another server.
            ConflictError, NotFoundError, ForbiddenError: as for every resource.
        """
        agent = read_definition(definition)
        before = await self._store.resources.find(KIND, name_or_id, by=by)
        before = await self._store.resources.writable(before.id, by=by)
        _hold_secrets(before, agent, by)
        return await update_resource(
            self._store,
            self._secrets,
            before.id,
            agent,
            by=by,
            reach=lambda _: None,  # each secret was held against the server that it was given for
            name=agent.name,
            expected_version=expected_version,
        )

    async def switch(self, name_or_id: str, *, active: bool, by: Principal) -> Resource:
        """Switch an agent on or off. Raises as `update`."""
        found = await self._store.resources.find(KIND, name_or_id, by=by)
        return await self._store.resources.update(found.id, by=by, active=active)

    async def remove(self, name_or_id: str, *, by: Principal) -> None:
        """Remove an agent with its secrets."""
        found = await self._store.resources.find(KIND, name_or_id, by=by)
        await self._store.resources.remove(found.id, by=by)

    # -- what is shown -------------------------------------------------------------------------------------------------

    async def definition(self, name_or_id: str, *, by: Principal) -> tuple[Resource, dict[str, Any]]:
        """An agent's whole definition, secrets by name, for those who may change it.

        Raises:
            NotFoundError: there is none that `by` sees.
            ForbiddenError: `by` sees it and may use it; its instructions are none of theirs.
        """
        found = await self._store.resources.find(KIND, name_or_id, by=by)
        if not keeps(found, by):
            raise ForbiddenError(
                f"agent {found.name!r} is shared with you: you may use it, and only its owner and admins of its"
                " organisation read how it is made"
            )
        return found, {**found.definition, "name": found.name}

    # -- what is used --------------------------------------------------------------------------------------------------

    async def use(
        self, name_or_id: str, *, by: Principal, hide: Hide | None = None
    ) -> tuple[Resource, Agent]:
        """An active agent for a turn that `by` started, instructions and the secrets of its hooks included. Not for showing.

        Args:
            name_or_id: the agent.
            by: who chats.
            hide: is told each secret, so that the run keeps it out of what it records.

        Raises:
            NodeError: `resource_not_found`: there is no such active agent for `by`.
        """
        found = await usable(self._store.resources, KIND, name_or_id, by=by)
        try:
            revealed = await reveal_in(
                found.definition, secrets=self._secrets, by=by, resource=found, hide=hide
            )
        except NotFoundError:
            raise resource_not_found(KIND, name_or_id) from None
        return found, read_definition({**revealed, "name": found.name})

    async def catalogue(self, *, by: Principal) -> list[AgentStub]:
        """The active agents that `by` sees, for `call_agent`: builders are left out."""
        return [stub for stub in await self._stubs.visible(by=by) if not stub.builder]

    async def hooks(self, agent: Agent | None, *, by: Principal, hide: Hide | None = None) -> Hooks:
        """The hooks of a turn: those of all organisations of `by`, then the agent's own, as `use` gave it."""
        lists: list[Sequence[Hook]] = []
        for org_id in sorted(by.org_ids):
            kept = await self._store.settings.get(_key(org_id), [])
            revealed = await self._revealed(kept, org_id, by, hide)
            lists.append(read_hooks(revealed))
        return Hooks(*lists, agent.hooks if agent is not None else ())

    # -- hooks of organisations ----------------------------------------------------------------------------------------

    async def org_hooks(self, org: str, *, by: Principal) -> list[dict[str, Any]]:
        """The hooks of an organisation, for its admins.

        Raises:
            NotFoundError: `by` does not know it.
            ForbiddenError: `by` is no admin of it.
        """
        org_id = await self._led(org, by)
        kept: list[dict[str, Any]] = await self._store.settings.get(_key(org_id), [])
        return kept

    async def set_org_hooks(self, org: str, hooks: Sequence[Any], *, by: Principal) -> None:
        """Put hooks around every tool call of the organisation's members, whichever agent they chat with.

        Secrets in them are named: `{"secret": NAME}` of the organisation.

        Raises:
            NodeError: `agent_definition`.
            NotFoundError, ForbiddenError: as `org_hooks`.
        """
        org_id = await self._led(org, by)
        checked = read_hooks(hooks)
        for hook in checked:
            if isinstance(hook, Webhook) and any(
                isinstance(value, str) for value in hook.secret_headers.values()
            ):
                raise NodeError(
                    'name a secret of the organisation: {"secret": "NAME"}; `interlace secrets set NAME --org …` makes it',
                    kind=WRONG, retryable=False,
                )  # fmt: skip
        kept = [hook.model_dump(mode="json", exclude_defaults=True) for hook in checked]
        await self._store.settings.set(_key(org_id), kept)
        await self._store.audit.record(
            by, "org.hooks", "org", org_id, org_id=org_id, detail={"hooks": len(kept)}
        )

    async def _led(self, org: str, by: Principal) -> str:
        found = await self._store.organisations.get(org, by=by)
        if not by.is_admin(found.id):
            raise ForbiddenError(f"only admins of {found.name!r} read and change its hooks")
        return found.id

    async def _revealed(self, hooks: list[Any], org_id: str, by: Principal, hide: Hide | None) -> list[Any]:
        made = []
        for hook in hooks:
            headers = {}
            for name, value in hook.get("secret_headers", {}).items():
                headers[name] = await self._secrets.reveal(value["secret"], by=by, org_id=org_id)
                if hide is not None:
                    hide(value["secret"], headers[name])
            made.append({**hook, "secret_headers": headers} if headers else hook)
        return made


def keeps(resource: Resource, by: Principal) -> bool:
    """Whether somebody may read and change how a shared thing is made."""
    return may_write(by, resource.owner, resource.org_id)


def _key(org_id: str) -> str:
    return f"org_hooks:{org_id}"


def _stub(resource: Resource) -> AgentStub:
    known = resource.definition
    return AgentStub(
        id=resource.id, name=resource.name, description=str(known.get("description", "")),
        builder=bool(known.get("builder", False)),
    )  # fmt: skip


def _hold_secrets(before: Resource, after: Agent, by: Principal) -> None:
    """A kept secret goes to the server that it was given for, and nobody names a secret that is not theirs.

    Raises:
        NodeError: `agent_definition`.
    """
    known = _references(read_definition({**before.definition, "name": before.name}))
    for name, server in _references(after):
        if (name, server) in known:
            continue
        ours = name.startswith(f"{KIND}/")
        if ours or before.scope not in scopes_of(by):
            raise NodeError(
                f"the secret {name!r} was not given for {server}; give its value again",
                kind=WRONG,
                retryable=False,
            )


def _references(agent: Agent) -> set[tuple[str, str]]:
    return {
        (value.secret, f"{urlsplit(hook.url).scheme}://{urlsplit(hook.url).netloc}")
        for hook in agent.hooks
        if isinstance(hook, Webhook)
        for value in hook.secret_headers.values()
        if isinstance(value, SecretRef)
    }
