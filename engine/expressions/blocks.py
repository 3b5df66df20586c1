"""The open blocks of a template: the names they bind, and what is known to be there inside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from interlace.engine.expressions.references import Place
from interlace.engine.expressions.syntax import Call, Node, SyntaxProblem, children

_MAX_BLOCKS: Final = 50
_CALLABLE: Final = frozenset({"loop", "caller", "loop.cycle", "loop.changed"})
_TAKEN: Final = frozenset({"loop", "self", "caller"})


@dataclass(slots=True)
class Frame:
    """An open block: the names it binds, and what is known to be there inside it.

    `loose` names may be undefined when they are read (a set inside an if, a macro's argument).
    """

    kind: str
    start: int = 0
    scoped: bool = True
    names: set[str] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    facts: frozenset[Place] = frozenset()
    otherwise: frozenset[Place] = frozenset()
    branches: int = 1
    target: str = ""
    pending: str = ""


class Blocks:
    """The stack of open blocks of one template."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.frames = [Frame("template")]
        self.macros: set[str] = set()
        self.values: set[str] = set()

    def names(self) -> frozenset[str]:
        """Give the names that the template binds here."""
        return frozenset().union(*(frame.names for frame in self.frames))

    def facts(self) -> frozenset[Place]:
        """Give the places that are certainly there here."""
        return frozenset().union(*(frame.facts for frame in self.frames))

    def loose(self) -> frozenset[str]:
        """Give the bound names that may be undefined here."""
        return frozenset().union(*(frame.loose for frame in self.frames))

    def open(self, kind: str, start: int, *, scoped: bool) -> Frame:
        """Begin a block; names set inside one that is not scoped stay after it."""
        if len(self.frames) > _MAX_BLOCKS:
            raise SyntaxProblem(f"blocks are nested more than {_MAX_BLOCKS} levels deep", self.source, start)
        frame = Frame(kind, start, scoped=scoped)
        self.frames.append(frame)
        return frame

    def close(self, kinds: tuple[str, ...], word: str, start: int) -> Frame:
        """End the innermost block, which must be of one of these kinds."""
        frame = self.frames[-1]
        if frame.kind not in kinds:
            there = f"{{% {frame.kind} %}} is open" if len(self.frames) > 1 else "no block is open"
            raise SyntaxProblem(f"{{% {word} %}} does not belong here: {there}", self.source, start)
        return self.frames.pop()

    def check_closed(self) -> None:
        """Raise for a block that is still open at the end."""
        if len(self.frames) > 1:
            frame = self.frames[-1]
            raise SyntaxProblem(f"{{% {frame.kind} %}} is not closed", self.source, frame.start)

    def bind(self, name: str, start: int, *, loose: bool, macro: bool = False) -> None:
        """Make a name the template's own, in the innermost block that has names."""
        self.check_name(name, start, macro=macro)
        frame = next(frame for frame in reversed(self.frames) if frame.scoped)
        frame.names.add(name)
        if loose:
            frame.loose.add(name)

    def check_name(self, name: str, start: int, *, macro: bool = False) -> None:
        """Raise for a name that a template cannot bind, or that it binds to a value and to a macro.

        Macros are called by minijinja itself; a name that could also hold a value might call an object.
        """
        if name.startswith("__") or name in _TAKEN:
            raise SyntaxProblem(f"a template cannot name a value {name!r}", self.source, start)
        mine, other = (self.macros, self.values) if macro else (self.values, self.macros)
        if name in other:
            raise SyntaxProblem(f"{name!r} names both a macro and a value", self.source, start)
        mine.add(name)

    def check_calls(self, node: Node) -> None:
        """Raise where something is called that is not a macro of the template."""
        if (
            isinstance(node, Call)
            and node.local
            and node.name not in _CALLABLE
            and node.name not in self.macros
        ):
            raise SyntaxProblem(f"{node.name!r} is not a macro", self.source, node.start)
        for part in children(node):
            self.check_calls(part)
