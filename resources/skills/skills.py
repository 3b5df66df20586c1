"""Stored skills as people and agents use them: looked up by rights, one of each name, never run."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from interlace.engine.principal import Principal
from interlace.resources.lookup import resource_not_found
from interlace.resources.skills.definition import Skill, read_definition, same
from interlace.resources.skills.markdown import whole
from interlace.resources.stubs import Stubs
from interlace.store import Store
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.resources import Resource, Visibility

KIND = "skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillStub:
    """A skill as catalogues and prompts name it; `files` counts what lies beside its text."""

    id: str
    name: str
    description: str
    files: int


class Skills:
    """The skills of all users. Every active one that a user sees is there for every agent that the user chats with."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stubs = Stubs(store.resources, KIND, _stub)

    async def add(
        self,
        skills: Skill | Sequence[Skill],
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
        replace: bool = False,
    ) -> list[Resource]:
        """Store skills, all or none where a name is taken; with `replace` those that `by` may change are put in its place.

        Raises:
            ConflictError: `by` sees another skill of that name, so that nobody could tell them apart.
            NotFoundError: `by` does not belong to the organisation.
            ForbiddenError: with `replace`: the other one is shared with `by` and not theirs.
        """
        wanted = [skills] if isinstance(skills, Skill) else list(skills)
        known = {same(mark.name): mark for mark in reversed(await self._store.resources.marks(KIND, by=by))}
        new: set[str] = set()
        for skill in wanted:
            if (key := same(skill.name)) in new:
                raise ConflictError(f"two of the skills are called {skill.name!r}")
            if key in known and not replace:
                raise _taken(skill.name)
            if key in known:
                await self._store.resources.writable(known[key].id, by=by)
            new.add(key)
        made = []
        for skill in wanted:
            mark = known.get(same(skill.name))
            if mark is not None:
                made.append(await self.update(mark.id, skill, by=by))
                continue
            added = await self._store.resources.add(
                KIND, skill.name, stored(skill), by=by, org_id=org_id, visibility=visibility
            )
            made.append(added)
        return made

    async def update(
        self, name_or_id: str, skill: Skill, *, by: Principal, expected_version: int | None = None
    ) -> Resource:
        """Put another definition in its place, also under another name.

        Raises:
            ConflictError: `by` sees another skill of that name; as `ResourceRepository.update`.
            NotFoundError, ForbiddenError: as for every resource.
        """
        before = await self._store.resources.find(KIND, name_or_id, by=by)
        for mark in await self._store.resources.marks(KIND, by=by):
            if mark.id != before.id and same(mark.name) == same(skill.name):
                raise _taken(skill.name)
        return await self._store.resources.update(
            before.id, by=by, name=skill.name, definition=stored(skill), expected_version=expected_version
        )

    async def switch(self, name_or_id: str, *, active: bool, by: Principal) -> Resource:
        """Switch a skill on or off: agents are told of active ones only. Raises as `update`."""
        found = await self._store.resources.find(KIND, name_or_id, by=by)
        return await self._store.resources.update(found.id, by=by, active=active)

    async def remove(self, name_or_id: str, *, by: Principal) -> None:
        """Remove a skill with its files."""
        found = await self._store.resources.find(KIND, name_or_id, by=by)
        await self._store.resources.remove(found.id, by=by)

    async def find(self, name_or_id: str, *, by: Principal) -> tuple[Resource, Skill]:
        """A skill that `by` sees.

        Raises:
            NotFoundError: there is none.
            NodeError: `skill_definition`: what is stored is none.
        """
        found = await self._store.resources.find(KIND, name_or_id, by=by)
        return found, read_definition({**found.definition, "name": found.name})

    async def visible(self, *, by: Principal) -> list[SkillStub]:
        """The active skills that `by` sees, by name; of several of one name the nearest: one's own, then shared ones."""
        nearest: dict[str, SkillStub] = {}
        for stub in await self._stubs.visible(by=by):
            nearest.setdefault(same(stub.name), stub)
        return sorted(nearest.values(), key=lambda stub: stub.name)

    async def read(self, name: str, *, by: Principal) -> str:
        """The whole text of an active skill, with its scripts and other files of text.

        Raises:
            NodeError: `resource_not_found`: there is no such active skill for `by`.
        """
        stubs = await self.visible(by=by)
        exact = [stub for stub in stubs if name in (stub.name, stub.id)]
        for stub in exact or [stub for stub in stubs if same(stub.name) == same(name)]:
            with contextlib.suppress(NotFoundError):
                return whole((await self.find(stub.id, by=by))[1])
        raise resource_not_found(KIND, name)

    async def texts(self, ids: Collection[str], *, by: Principal) -> dict[str, str]:
        """The whole texts of several active skills by id, in one query; what `by` does not see is left out."""
        found = await self._store.resources.many(ids, by=by)
        return {
            resource.id: whole(read_definition({**resource.definition, "name": resource.name}))
            for resource in found
            if resource.kind == KIND and resource.active
        }


def stored(skill: Skill) -> dict[str, Any]:
    """A skill as it is kept."""
    return skill.model_dump(mode="json", exclude_defaults=True)


def _stub(resource: Resource) -> SkillStub:
    known = resource.definition
    return SkillStub(
        id=resource.id, name=resource.name, description=str(known.get("description", "")), files=len(known.get("files", ())),
    )  # fmt: skip


def _taken(name: str) -> ConflictError:
    return ConflictError(
        f"you see a skill {name!r} already; choose another name, or change that one"
        " (names that differ in case alone are one)"
    )
