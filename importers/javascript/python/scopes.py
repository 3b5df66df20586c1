"""Which Python name a JavaScript name has at one place of a program."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from typing import Final

_TAKEN: Final = frozenset({
    "Error", "Exception", "TypeError", "ValueError", "undefined", "main", "range", "print", "float", "len", "isinstance",
})  # fmt: skip


class NotPython(Exception):  # noqa: N818 - what it says
    """The program does something that has no certain counterpart."""


@dataclass(slots=True)
class Scope:
    """The names of one function; `blocks` are those of its blocks, the innermost last."""

    parent: Scope | None = None
    blocks: list[dict[str, str]] = field(default_factory=lambda: [{}])
    used: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    """Names of functions around this one that it assigns to."""
    kinds: dict[str, str] = field(default_factory=dict)

    def declare(self, name: str, *, everywhere: bool = False) -> str:
        """A Python name for a JavaScript name of the innermost block."""
        block = self.blocks[0 if everywhere else -1]
        if name in block:
            return block[name]
        wanted = python_name(name)
        made, count = wanted, 1
        while made in self._all_used():
            count += 1
            made = f"{wanted}_{count}"
        block[name] = made
        self.used.add(made)
        return made

    def own(self, name: str) -> str:
        """The Python name of something that is declared in this function."""
        found = self.find(name)
        return found[0] if found is not None and found[1] is self else self.declare(name)

    def _all_used(self) -> set[str]:
        found, scope = set(self.used), self.parent
        while scope is not None:
            found |= scope.used
            scope = scope.parent
        return found

    def fresh(self, wanted: str) -> str:
        """A name that nothing has."""
        made, count = wanted, 1
        while made in self._all_used():
            count += 1
            made = f"{wanted}_{count}"
        self.used.add(made)
        return made

    def find(self, name: str) -> tuple[str, Scope] | None:
        """The Python name, and the function whose name it is."""
        scope: Scope | None = self
        while scope is not None:
            for block in reversed(scope.blocks):
                if name in block:
                    return block[name], scope
            scope = scope.parent
        return None

    def assigned(self, name: str) -> str:
        """The Python name of something that is assigned to here.

        Raises:
            NotPython: there is no such name.
        """
        found = self.find(name)
        if found is None:
            raise NotPython(f"it sets {name!r}, which it does not declare")
        if found[1] is not self:
            self.outer.add(found[0])
            scope = self.parent
            while scope is not None and scope is not found[1]:
                scope.outer.add(found[0])
                scope = scope.parent
        return found[0]


def python_name(name: str) -> str:
    """A JavaScript name as Python writes it."""
    made = re.sub(r"\W", "_", name.replace("$", "_")).lstrip("_") or "value"
    if made[0].isdigit():
        made = f"n{made}"
    if keyword.iskeyword(made) or keyword.issoftkeyword(made) or made in _TAKEN or made.startswith("js_"):
        made += "_"
    return made
