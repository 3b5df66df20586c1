"""The syntax tree of the expression language, and the error for text that is not in it.

Nodes are never changed after parsing. They are not declared frozen because a frozen dataclass costs three times as much
to build, and validation builds hundreds of thousands of them. Spans are character offsets into the parsed text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from interlace.engine.errors import ExpressionError

MAX_EXPRESSION = 8 * 1024
MAX_TEMPLATE = 32 * 1024
MAX_NESTING = 64
MAX_DEPTH = 150

Key: TypeAlias = str | int


class SyntaxProblem(ExpressionError):  # noqa: N818 - a problem of the document, not a failure
    """The text is not an expression.

    Args:
        message: what is wrong and what to do.
        source: the whole text that was parsed.
        position: offset of the fault in `source`, in characters.

    `line` and `column` count from 1; `place` is the path to the text inside a structure that was compiled as a whole.
    """

    def __init__(self, message: str, source: str, position: int) -> None:
        position = max(0, min(position, len(source)))
        self.position = position
        self.line = source.count("\n", 0, position) + 1
        self.column = position - (source.rfind("\n", 0, position) + 1) + 1
        self.problem = message
        self.place: tuple[Key, ...] = ()
        super().__init__(f"{message} (line {self.line}, column {self.column})", kind="syntax")


@dataclass(slots=True)
class Literal:
    """A constant: a number, text, true, false, null, or a constant structure."""

    value: Any
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Path:
    """A name and the constant keys that follow it: `fetch.body['x-y'][0]`."""

    root: str
    keys: tuple[Key, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Local:
    """A name that the template itself binds, and the constant keys that follow it."""

    root: str
    keys: tuple[Key, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Item:
    """A field or item of any other expression; the key may be computed."""

    base: Node
    key: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Slice:
    """`base[first:last:step]`."""

    base: Node
    first: Node | None
    last: Node | None
    step: Node | None
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Sequence:
    """A list with at least one item that is not constant."""

    items: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Record:
    """A mapping with at least one part that is not constant."""

    pairs: tuple[tuple[Node, Node], ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Unary:
    """`-x`, `+x` or `not x`."""

    operator: str
    operand: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Binary:
    """Arithmetic, `and` or `or`."""

    operator: str
    left: Node
    right: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Concat:
    """`a ~ b ~ c`, or a text with `{{ }}` in it."""

    parts: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Comparison:
    """`a < b`, or a chain `a < b <= c`, which holds when every link holds."""

    first: Node
    links: tuple[tuple[str, Node], ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Conditional:
    """`then if test else otherwise`; without `else` the other value is missing."""

    test: Node
    then: Node
    otherwise: Node | None
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Filter:
    """`operand | name(arguments, key=value)`."""

    operand: Node
    name: str
    arguments: tuple[Node, ...]
    options: tuple[tuple[str, Node], ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Test:
    """`operand is name(arguments)`; `is not` is a `not` around it."""

    operand: Node
    name: str
    arguments: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Call:
    """A call of one of the language's functions, or of a macro of the template."""

    name: str
    arguments: tuple[Node, ...]
    options: tuple[tuple[str, Node], ...]
    local: bool = False
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(slots=True)
class Embedded:
    """An expression inside a larger JSON structure; `place` is the path to its text."""

    place: tuple[Key, ...]
    source: str = field(compare=False)
    node: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


Node: TypeAlias = (
    Literal
    | Path
    | Local
    | Item
    | Slice
    | Sequence
    | Record
    | Unary
    | Binary
    | Concat
    | Comparison
    | Conditional
    | Filter
    | Test
    | Call
    | Embedded
)


def children(node: Node) -> tuple[Node, ...]:  # noqa: C901, PLR0911, PLR0912 - one line a kind of node
    """Give the direct parts of a node, in source order."""
    match node:
        case Literal() | Path() | Local():
            return ()
        case Item():
            return (node.base, node.key)
        case Slice():
            return (node.base, *(part for part in (node.first, node.last, node.step) if part is not None))
        case Sequence():
            return node.items
        case Record():
            return tuple(part for pair in node.pairs for part in pair)
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.left, node.right)
        case Concat():
            return node.parts
        case Comparison():
            return (node.first, *(operand for _, operand in node.links))
        case Conditional():
            return tuple(part for part in (node.then, node.test, node.otherwise) if part is not None)
        case Filter():
            return (node.operand, *node.arguments, *(value for _, value in node.options))
        case Test():
            return (node.operand, *node.arguments)
        case Call():
            return (*node.arguments, *(value for _, value in node.options))
        case Embedded():
            return (node.node,)


def depth(node: Node) -> int:
    """Count the levels of the tree, without recursion: the tree may be too deep for it."""
    deepest = 0
    waiting: list[tuple[Node, int]] = [(node, 1)]
    while waiting:
        current, level = waiting.pop()
        deepest = max(deepest, level)
        waiting.extend((part, level + 1) for part in children(current))
    return deepest


def multiplies(node: Node) -> bool:
    """Whether the tree can put one value into a structure many times."""
    if isinstance(node, Sequence | Record) or (isinstance(node, Binary) and node.operator in ("*", "+")):
        return True
    return any(map(multiplies, children(node)))
