"""The tree of a JavaScript expression, and of a program: statements, assignments, functions with bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


class NotJavaScript(Exception):  # noqa: N818 - what it says
    """The text is no expression that this parser reads."""


@dataclass(frozen=True, slots=True)
class Const:
    """A number, text, true, false, null; undefined is null."""

    value: Any


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression."""

    source: str
    flags: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name."""

    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """A template literal: texts and expressions."""

    parts: tuple[Js, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """`base.key`, `base[key]`, also with `?.`."""

    base: Js
    key: Js
    optional: bool = False
    """Whether it stands after `?.`."""


@dataclass(frozen=True, slots=True)
class Call:
    """`callee(arguments)`; `new` where it constructs."""

    callee: Js
    arguments: tuple[Js, ...]
    new: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Unary:
    """`!x`, `-x`, `+x`, `typeof x`."""

    operator: str
    operand: Js


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands."""

    operator: str
    left: Js
    right: Js


@dataclass(frozen=True, slots=True)
class Ternary:
    """`test ? then : otherwise`."""

    test: Js
    then: Js
    otherwise: Js


@dataclass(frozen=True, slots=True)
class Array:
    """`[…]`."""

    items: tuple[Js, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """`{…}`; a key of None is a spread."""

    pairs: tuple[tuple[Js | None, Js], ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """`…x` in a list or a call."""

    value: Js


@dataclass(frozen=True, slots=True)
class Arrow:
    """`(a, b) => body`; the body is one expression."""

    parameters: tuple[str, ...]
    body: Js


@dataclass(frozen=True, slots=True)
class Bind:
    """A name that takes a value, `default` where there is none."""

    name: str
    default: Js | None = None


@dataclass(frozen=True, slots=True)
class BindFields:
    """`{a, b: c = 1, ...rest}`: fields by key."""

    fields: tuple[tuple[str, Target], ...]
    rest: str | None = None
    default: Js | None = None


@dataclass(frozen=True, slots=True)
class BindList:
    """`[a, , b, ...rest]`: entries by place; None where one is left out."""

    entries: tuple[Target | None, ...]
    rest: str | None = None
    default: Js | None = None


Target: TypeAlias = Bind | BindFields | BindList


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`, also with an operator before the `=`."""

    target: Js
    operator: str
    value: Js


@dataclass(frozen=True, slots=True)
class Update:
    """`x++`, `--x`."""

    target: Js
    step: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function; `rest` takes the arguments that are left."""

    name: str | None
    parameters: tuple[Target, ...]
    rest: str | None
    body: Block | Js


@dataclass(frozen=True, slots=True)
class Await:
    """`await x`."""

    value: Js


@dataclass(frozen=True, slots=True)
class Delete:
    """`delete x.y`."""

    target: Js


@dataclass(frozen=True, slots=True)
class Declare:
    """`const`, `let`, `var`."""

    word: str
    bindings: tuple[tuple[Target, Js | None], ...]


@dataclass(frozen=True, slots=True)
class Do:
    """An expression as a statement."""

    value: Js


@dataclass(frozen=True, slots=True)
class Block:
    """`{ … }`."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`if`."""

    test: Js
    then: Block
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class For:
    """`for (start; test; step)`, and `while` without start and step; `first` is whether the body comes before the test."""

    start: Statement | None
    test: Js | None
    step: tuple[Js, ...]
    body: Block
    first: bool = False


@dataclass(frozen=True, slots=True)
class ForEach:
    """`for (target of source)`, or `in`."""

    target: Target
    word: str
    source: Js
    body: Block


@dataclass(frozen=True, slots=True)
class Return:
    """`return`."""

    value: Js | None


@dataclass(frozen=True, slots=True)
class Throw:
    """`throw`."""

    value: Js


@dataclass(frozen=True, slots=True)
class Try:
    """`try`; `caught` is the name of the failure."""

    body: Block
    caught: str | None
    handler: Block | None
    final: Block | None


@dataclass(frozen=True, slots=True)
class Switch:
    """`switch`; a test of None is the default."""

    value: Js
    cases: tuple[tuple[Js | None, Block], ...]


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    word: str


Statement: TypeAlias = (
    Declare | Do | Block | If | For | ForEach | Return | Throw | Try | Switch | Jump | Function
)


Js: TypeAlias = (
    Const | Pattern | Name | Template | Member | Call | Unary | Binary | Ternary | Array | Record | Spread | Arrow | Assign | Update
    | Function | Await | Delete
)  # fmt: skip
