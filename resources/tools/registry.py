"""The built-in tools by name; a family is imported when tools are first asked for, and never before."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final

from interlace.engine.errors import InterlaceError, NodeError
from interlace.engine.problems import nearest
from interlace.resources.tools.tool import Category, Tool
from interlace.resources.tools.typed import TypedTool

FAMILIES: Final = (
    "math", "time", "text", "encoding", "data", "lists", "files", "code", "web", "mail", "documents", "knowledge",
)  # fmt: skip
_PACKAGE: Final = "interlace.resources.tools.builtin"


class BuiltinTools:
    """The tools that need no set-up."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] | None = None

    @property
    def _known(self) -> dict[str, Tool]:
        if self._tools is None:
            self._tools = {}
            for family in FAMILIES:
                for tool in _tools_of(family):
                    self.add(tool)
        return self._tools

    def add(self, tool: Tool) -> None:
        """Offer one more tool.

        Raises:
            InterlaceError: its name is taken.
        """
        if tool.name in self._known:
            raise InterlaceError(f"two tools are called {tool.name!r}; rename one of them")
        self._known[tool.name] = tool

    def remove(self, name: str) -> None:
        """Offer a tool no more."""
        self._known.pop(name, None)

    def get(self, name: str) -> Tool | None:
        """The tool of that name, None when there is none."""
        return self._known.get(name)

    def find(self, name: str) -> Tool:
        """The tool of that name.

        Raises:
            NodeError: `unknown_tool`, with the nearest name.
        """
        found = self.get(name)
        if found is None:
            raise NodeError(self.unknown(name), kind="unknown_tool", retryable=False)
        return found

    def unknown(self, name: str) -> str:
        """The message for a name that is no tool."""
        guess = self.nearest(name)
        hint = f"did you mean {guess!r}?" if guess else f"there are {', '.join(self)}"
        return f"there is no built-in tool {name!r}; {hint}"

    def nearest(self, name: str) -> str | None:
        """The known name most like this one, None where nothing is close."""
        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        if plain in self._known:
            return plain
        part = [known for known in self._known if plain and (plain in known or known in plain)]
        return nearest(plain, self._known) or (part[0] if part else None)

    def for_agents(self, categories: Collection[Category] | None = None) -> list[Tool]:
        """The tools that models may be shown, of some categories or of all.

        What would go round an agent's scope, as searching every knowledge base of the user, is not among them.
        """
        return [
            tool
            for tool in self._known.values()
            if getattr(tool, "for_agents", True) and (categories is None or tool.category in categories)
        ]

    def list(self, category: Category | None = None) -> list[Tool]:
        """All tools, or those of a category, families in their order."""
        return [tool for tool in self._known.values() if category in (None, tool.category)]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._known))

    def __len__(self) -> int:
        return len(self._known)


@cache
def builtin_tools() -> BuiltinTools:
    """The registry of this process: validation and runs look into the same one."""
    return BuiltinTools()


def _tools_of(family: str) -> list[Tool]:
    module = importlib.import_module(f"{_PACKAGE}.{family}")
    classes = [
        entry
        for entry in vars(module).values()
        if isinstance(entry, type) and issubclass(entry, TypedTool) and entry.__module__ == module.__name__
    ]
    return [made() for made in classes if hasattr(made, "name")]
