"""The tools of one turn: those that the model sees now, and those that it may ask for by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from interlace.engine.chat import ToolSpec
from interlace.resources.tools.tool import Tool


class ToolSet:
    """Tools by name. The loop reads `specs` before each model call, so a tool that is loaded appears in the next one.

    Args:
        tools: what the model sees from the start.
        unloaded: what `request_tools` may load.
        notes: sections of the system prompt that belong to the tools (stubs of skills).
    """

    def __init__(
        self, tools: Iterable[Tool], *, unloaded: Iterable[Tool] = (), notes: Sequence[str] = ()
    ) -> None:
        self._active = {tool.name: tool for tool in tools}
        self._unloaded = {tool.name: tool for tool in unloaded if tool.name not in self._active}
        self.notes = tuple(notes)

    @property
    def active(self) -> Mapping[str, Tool]:
        """What the model sees now."""
        return self._active

    @property
    def unloaded(self) -> Mapping[str, Tool]:
        """What it may ask for."""
        return self._unloaded

    def add(self, tool: Tool) -> None:
        """Show one more tool."""
        self._active[tool.name] = tool

    def discard(self, name: str) -> None:
        """Take a tool away, whether it is shown or not."""
        self._active.pop(name, None)
        self._unloaded.pop(name, None)

    def load(self, names: Iterable[str]) -> list[str]:
        """Show unloaded tools from the next model call on; gives the names that are shown now, unknown ones left out."""
        found = [name for name in names if name in self._unloaded or name in self._active]
        for name in found:
            if name in self._unloaded:
                self._active[name] = self._unloaded.pop(name)
        return found

    def wrap(
        self,
        made: Callable[[Mapping[str, Any], Tool | None], Tool],
        active: Iterable[Mapping[str, Any]],
        unloaded: Iterable[Mapping[str, Any]],
    ) -> None:
        """Put something in front of each tool; of tools that are described and not here, something in their place.

        Args:
            made: gives what stands in front of a tool, from its description `{name, …}` and the tool, if it is here.
            active: the descriptions of those that the model sees.
            unloaded: of those that it may ask for.
        """
        known = {**self._unloaded, **self._active}
        self._active = {about["name"]: made(about, known.get(about["name"])) for about in active}
        self._unloaded = {about["name"]: made(about, known.get(about["name"])) for about in unloaded}

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model is told of them."""
        return tuple(map(spec_of, self._active.values()))


def spec_of(tool: Tool) -> ToolSpec:
    """A tool as a model is told of it."""
    return ToolSpec(name=tool.name, description=tool.description, parameters=dict(tool.parameters_schema))
