"""Loops that count: `for (let i = 0; i < n; i++)` as `for i in range(…)`, where the count cannot change on the way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from interlace.importers.javascript.syntax import (
    Assign,
    Binary,
    Bind,
    Block,
    Call,
    Const,
    Declare,
    For,
    Function,
    Js,
    Member,
    Name,
    Update,
)

if TYPE_CHECKING:
    from interlace.importers.javascript.python.statements import Body

_CHANGES = frozenset({"push", "pop", "shift", "unshift", "splice"})


def counted(loop: For, body: Body) -> list[str] | None:
    """The lines of a loop that counts, None where it does more than that."""
    start = _start(loop)
    step = _step(loop, start[0]) if start is not None else None
    if start is None or step is None or loop.first:
        return None
    name, first = start
    test = loop.test
    if not isinstance(test, Binary) or test.operator not in ("<", "<=") or test.left != Name(name):
        return None
    end = _end(test.right, loop.body, body)
    if end is None or _is_changed(name, loop.body) or _in_a_function(name, loop.body):
        return None
    if test.operator == "<=":
        end = f"{end} + 1"
    body.scope.blocks.append({})
    ours = body.scope.declare(name)
    body.scope.kinds[ours] = "number"
    numbers = [str(first), end, str(step)] if step != 1 else [str(first), end] if first else [end]
    lines = body.looped(loop.body, [])
    body.scope.blocks.pop()
    return [
        f"for {ours} in range({', '.join(numbers)}):",
        *(f"    {line}" for line in "\n".join(lines).split("\n")),
    ]


def _start(loop: For) -> tuple[str, int] | None:
    start = loop.start
    if not isinstance(start, Declare) or len(start.bindings) != 1 or start.word == "var":
        return None
    target, value = start.bindings[0]
    if isinstance(target, Bind) and isinstance(value, Const) and type(value.value) is int:
        return target.name, value.value
    return None


def _step(loop: For, name: str) -> int | None:
    match loop.step:
        case (Update(target=Name(name=found), step=1),) if found == name:
            return 1
        case (Assign(target=Name(name=found), operator="+", value=Const(value=int(by))),) if (
            found == name and by > 0
        ):
            return by
    return None


def _end(js: Js, block: Block, body: Body) -> str | None:
    """The end of the count: a whole number, or the length of a list that the loop leaves as long as it is."""
    if isinstance(js, Const):
        return str(js.value) if type(js.value) is int else None
    if isinstance(js, Member) and js.key == Const("length") and isinstance(js.base, Name) and not js.optional:
        name = js.base.name
        if _is_changed(name, block) or body.scope.find(name) is None:
            return None
        return body.writer().text(js)
    return None


def _is_changed(name: str, block: Block) -> bool:
    changes = {Member(Name(name), Const(method)) for method in _CHANGES}
    for part in _parts(block):
        if isinstance(part, Assign | Update) and _root(part.target) == name:
            return True
        if isinstance(part, Call) and part.callee in changes:
            return True
    return False


def _root(js: Js) -> str | None:
    while isinstance(js, Member):
        js = js.base
    return js.name if isinstance(js, Name) else None


def _in_a_function(name: str, block: Block) -> bool:
    """Whether a function that may outlive the round reads the number."""
    return any(isinstance(part, Function) and Name(name) in set(_names(part)) for part in _parts(block))


def _names(value: Any) -> Iterator[Name]:
    return (part for part in _parts(value) if isinstance(part, Name))


def _parts(value: Any) -> Iterator[Any]:
    """Everything inside a part of a program, itself included."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, tuple):
            waiting.extend(current)
        elif dataclasses.is_dataclass(current):
            yield current
            waiting.extend(getattr(current, one.name) for one in dataclasses.fields(current))
