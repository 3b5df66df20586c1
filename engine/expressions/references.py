"""Finds the references of a tree, and renames the name they start from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlace.engine.expressions.predicates import NULL_SAFE
from interlace.engine.expressions.syntax import (
    Binary,
    Comparison,
    Conditional,
    Embedded,
    Filter,
    Item,
    Literal,
    Node,
    Path,
    Slice,
    Test,
    Unary,
    children,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that an expression reads, and the way from there.

    `path` holds the keys; None stands for a computed one. `span` gives the offsets in the source. `guarded` says that
    the expression copes with the value being missing.
    """

    root: str
    path: tuple[str | int | None, ...]
    span: tuple[int, int]
    guarded: bool


Place = tuple[str, tuple[str | int, ...]]
_NOTHING: frozenset[Place] = frozenset()


def references(
    node: Node, known: frozenset[Place] = _NOTHING, *, tested: bool = False
) -> tuple[Reference, ...]:
    """Give the references in the order in which they are written.

    `known` places are certainly there; `tested` says that only the truth of the value counts.
    """
    if node.__class__ is Path and not known and not tested:
        assert isinstance(node, Path)
        return (Reference(node.root, node.keys, (node.start, node.end), guarded=False),)
    found = list(_walk(node, tested, known))
    if node.end or isinstance(node, Path):
        found.sort(key=_position)
    return tuple(found)


def _position(reference: Reference) -> tuple[int, int]:
    return reference.span


def _walk(node: Node, guarded: bool, known: frozenset[Place]) -> Iterator[Reference]:  # noqa: C901, PLR0912 - one case a kind of node
    """Go through a tree; `known` holds places that the way here has shown to be there."""
    match node:
        case Literal():
            return
        case Path():
            safe = guarded or (bool(known) and any(_covers(place, node) for place in known))
            yield Reference(node.root, node.keys, (node.start, node.end), safe)
        case Item() | Slice():
            yield from _walk_item(node, guarded, known)
        case Binary(operator="and" | "or"):
            yield from _walk(node.left, True, known)
            there = shown(node.left, holds=node.operator == "and")
            yield from _walk(node.right, guarded, known | there)
        case Conditional():
            yield from _walk(node.test, True, known)
            yield from _walk(node.then, guarded, known | shown(node.test, holds=True))
            if node.otherwise is not None:
                yield from _walk(node.otherwise, guarded, known | shown(node.test, holds=False))
        case Unary(operator="not"):
            yield from _walk(node.operand, True, known)
        case Filter():
            yield from _walk(node.operand, node.name == "default", known)
            for part in (*node.arguments, *(value for _, value in node.options)):
                yield from _walk(part, guarded and node.name == "default", known)
        case Test():
            for part in (node.operand, *node.arguments):
                yield from _walk(
                    part, node.name in NULL_SAFE or (part is node.operand and _mild(node)), known
                )
        case Comparison():
            yield from _walk_comparison(node, known)
        case Embedded():
            yield from references(node.node)
        case _:
            for part in children(node):
                yield from _walk(part, False, known)


def _mild(node: Test) -> bool:
    """Whether the test just says no for a missing value."""
    return not node.arguments and node.name not in ("even", "odd")


def _walk_item(node: Item | Slice, guarded: bool, known: frozenset[Place]) -> Iterator[Reference]:
    keys: list[str | int | None] = []
    base: Node = node
    parts: list[Node] = []
    while isinstance(base, Item | Slice):
        if isinstance(base, Item):
            value = base.key.value if isinstance(base.key, Literal) else None
            keys.append(value if isinstance(value, str | int) else None)
            parts.append(base.key)
        else:
            keys.clear()
            parts.extend(part for part in (base.first, base.last, base.step) if part is not None)
        base = base.base
    if isinstance(base, Path):
        safe = guarded or any(_covers(place, base) for place in known)
        yield Reference(base.root, (*base.keys, *reversed(keys)), (base.start, node.end), safe)
    else:
        yield from _walk(base, guarded, known)
    for part in parts:
        yield from _walk(part, guarded, known)


def _walk_comparison(node: Comparison, known: frozenset[Place]) -> Iterator[Reference]:
    """Equality copes with a missing side; an order and `in` do not."""
    left = node.first
    mild = [True] * (len(node.links) + 1)
    for index, (operator, _) in enumerate(node.links):
        if operator not in ("==", "!="):
            mild[index] = mild[index + 1] = False
    for part, safe in zip((left, *(operand for _, operand in node.links)), mild, strict=True):
        yield from _walk(part, safe, known)


def _covers(place: Place, path: Path) -> bool:
    root, keys = place
    return root == path.root and (path.keys[: len(keys)] == keys or keys[: len(path.keys)] == path.keys)


def shown(test: Node, *, holds: bool) -> frozenset[Place]:  # noqa: PLR0911 - one case a kind of test
    """Give the places that are certainly there when a test holds (or does not hold)."""
    match test:
        case Unary(operator="not"):
            return shown(test.operand, holds=not holds)
        case Binary(operator="and") if holds:
            return shown(test.left, holds=True) | shown(test.right, holds=True)
        case Binary(operator="or") if not holds:
            return shown(test.left, holds=False) | shown(test.right, holds=False)
        case Path() if holds:
            return frozenset({(test.root, test.keys)})
        case Test(operand=Path() as path):
            absent = test.name in ("undefined", "empty", "none")
            if test.name == "defined" or absent:
                return frozenset({(path.root, path.keys)}) if holds is not absent else _NOTHING
            return frozenset({(path.root, path.keys)}) if holds and test.name != "ne" else _NOTHING
        case Comparison(first=Path() as path, links=((operator, Literal() as other),)):
            # `x == 1` shows that x is there, and so does `x != none`.
            there = operator == ("==" if holds is (other.value is not None) else "!=")
            return frozenset({(path.root, path.keys)}) if there else _NOTHING
        case _:
            return _NOTHING


def root_spans(nodes: Iterable[Node], root: str) -> Iterator[tuple[int, int]]:
    """Give the offsets of every place where a name stands as the start of a reference."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Path):
            if node.root == root:
                yield (node.start, node.start + len(root))
        else:
            waiting.extend(children(node))
