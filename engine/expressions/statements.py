"""What a template's expressions become in minijinja source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from interlace.engine.expressions.references import Reference
from interlace.engine.expressions.syntax import (
    Binary,
    Call,
    Conditional,
    Local,
    Node,
    SyntaxProblem,
    children,
)

_CALLBACKS: Final = {"value": "__value", "output": "__output", "items": "__items", "block": "__block"}
_MAX_NATIVE: Final = 20
_LOOP_NUMBERS: Final = frozenset({"index", "index0", "revindex", "revindex0", "length", "depth", "depth0"})
_LOOP_FLAGS: Final = frozenset({"first", "last"})


@dataclass(slots=True)
class Entry:
    """One expression of a template: its tree, its line, and the local values it is called with.

    `locals` names them: a plain name, `loop.key` for one field of the loop, `#offset` for the result of a macro.
    """

    node: Node
    line: int
    locals: tuple[str, ...]


class Emitter:
    """Collects the expressions of a template and writes the calls that stand for them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.nodes: list[Entry] = []

    def emit(self, node: Node, form: str, loose: frozenset[str], level: int = 0) -> str:
        """Write what stands for an expression; calls of macros stay calls, around and inside our own."""
        if level > _MAX_NATIVE:
            raise SyntaxProblem("calls of macros are nested too deep", self.source, node.start)
        if _calls_macro(node) and (text := self._native(node, loose, level)) is not None:
            return text if form in ("value", "block") else f"{_CALLBACKS[form]}({self._passed(node)}, {text})"
        if isinstance(node, Local) and node.root == "loop" and len(node.keys) == 1:
            # Numbers read the same in minijinja; a table asks for them in every row.
            if node.keys[0] in _LOOP_NUMBERS and form in ("value", "output"):
                return f"loop.{node.keys[0]}"
            if node.keys[0] in _LOOP_FLAGS and form == "value":
                return f"loop.{node.keys[0]}"
        arguments = list(self._locals(node, loose, level))
        number = len(self.nodes)
        names = tuple(name for name, _ in arguments)
        self.nodes.append(Entry(node, self.source.count("\n", 0, node.start) + 1, names))
        return f"{_CALLBACKS[form]}({', '.join((str(number), *(text for _, text in arguments)))})"

    def _passed(self, node: Node) -> int:
        """Register a value that minijinja has computed already."""
        line = self.source.count("\n", 0, node.start) + 1
        self.nodes.append(Entry(Local("#passed", (), node.start, node.end), line, ("#passed",)))
        return len(self.nodes) - 1

    def _native(self, node: Node, loose: frozenset[str], level: int) -> str | None:
        """Write a call, or an operator that must not compute both sides, in minijinja's own terms."""
        match node:
            case Call(local=True):
                return self.call(node, loose, level)
            case Conditional():
                then, test = (
                    self.emit(node.then, "value", loose, level + 1),
                    self.emit(node.test, "value", loose, level + 1),
                )
                otherwise = (
                    "__absent"
                    if node.otherwise is None
                    else self.emit(node.otherwise, "value", loose, level + 1)
                )
                return f"({then} if {test} else {otherwise})"
            case Binary(operator="and" | "or"):
                left, right = (self.emit(part, "value", loose, level + 1) for part in (node.left, node.right))
                return f"({left} {node.operator} {right})"
            case _:
                return None

    def call(self, node: Call, loose: frozenset[str], level: int = 0) -> str:
        """Write the call of a macro."""
        arguments = [self.emit(argument, "value", loose, level + 1) for argument in node.arguments]
        arguments += [f"{name}={self.emit(value, 'value', loose, level + 1)}" for name, value in node.options]
        return f"{node.name}({', '.join(arguments)})"

    def _locals(self, node: Node, loose: frozenset[str], level: int) -> Iterator[tuple[str, str]]:
        """Give the local values that an expression reads, by name, with the text that passes each."""
        seen: set[str] = set()
        for part in _outermost(node):
            if isinstance(part, Call):
                yield f"#{part.start}", self.call(part, loose, level)
                continue
            name = part.root
            if name == "loop" and part.keys:
                name = f"loop.{part.keys[0]}"
            if name in seen:
                continue
            seen.add(name)
            yield name, f"({name} if {name} is defined else __missing)" if name in loose else name


@dataclass(slots=True)
class Translation:
    """A template in minijinja's terms.

    `emitter.nodes` holds its expressions, each with the line where it stands. `pieces` are its texts and the numbers of
    the expressions between them, where it holds nothing else.
    """

    source: str
    emitter: Emitter
    references: list[Reference] = field(default_factory=list)
    pieces: tuple[str | int, ...] | None = None


def _calls_macro(node: Node) -> bool:
    return (isinstance(node, Call) and node.local) or any(map(_calls_macro, children(node)))


def _outermost(node: Node) -> Iterator[Local | Call]:
    """Go through the local names and macro calls, not entering the calls' arguments."""
    if isinstance(node, Local) or (isinstance(node, Call) and node.local):
        yield node
    else:
        for part in children(node):
            yield from _outermost(part)
