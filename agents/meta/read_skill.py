"""`read_skill`: the whole text of a skill, when it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

from interlace.agents.meta.base import QUERY, briefly, known, one_of, search
from interlace.agents.search import Entry, Finder
from interlace.agents.stubs import SKILLS, Stub, told
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.skills.skills import Skills, SkillStub
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

_HEAD: Final = (
    "# Skills\nWays of doing things that hold here. Before a task that one of them is about, read it with `read_skill` and"
    " follow it.\n"
)


class ReadSkill:
    """Read a skill. Implements `Tool`.

    Args:
        skills: those of the turn, each name once.
        finder: searches.
    """

    name = "read_skill"
    description = "Read a skill in full before you do what it is about; with `query` search for skills."
    category: ClassVar[Category] = "skills"

    def __init__(self, skills: Sequence[SkillStub], finder: Finder) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self._finder = finder

    @cached_property
    def note(self) -> str:
        """What the system prompt says of the skills."""
        return _HEAD + self.catalogue

    @cached_property
    def catalogue(self) -> str:
        """The skills in short."""
        stubs = [Stub(label=skill.name, description=skill.description) for skill in self._skills.values()]
        return told(stubs, SKILLS)

    @cached_property
    def parameters_schema(self) -> Schema:
        """The names are fixed."""
        return {
            "type": "object",
            "properties": {"name": one_of(self._skills), "query": QUERY},
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """It reads."""
        del arguments
        return "none"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Nobody is asked."""
        del arguments, ctx
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Read or search.

        Raises:
            NodeError: `resource_not_found` with the nearest names; `bad_arguments`.
        """
        name, query = arguments.get("name"), arguments.get("query")
        if name:
            skill = known(name, self._skills, "skill")
            text = await ctx.service(Skills).read(skill.id, by=ctx.principal)
            return ToolResult(value=text, text=text)
        if not query:
            raise NodeError("read_skill needs a `name`, or a `query`", kind="bad_arguments", retryable=False)
        entries = [
            Entry(key=skill.name, name=skill.name, description=skill.description)
            for skill in self._skills.values()
        ]
        return ToolResult(value=await search(self._finder, entries, str(query), _told))


def _told(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"name": entry.name, "description": briefly(entry.description)}
    return told
