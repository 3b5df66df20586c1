"""Which reads of an expression only happen where another one found nothing: `a.text | default(b.text)`, `a or b`."""

from __future__ import annotations

from collections.abc import Iterator

from interlace.engine.expressions.syntax import Binary, Conditional, Filter, Node, Path, Test, Unary, children


def alternatives(node: Node, span: tuple[int, int]) -> frozenset[str]:
    """The names that were looked at in vain before the reference at `span` is read."""
    found: set[str] = set()
    todo: list[Node] = [node]
    while todo:
        here = todo.pop()
        for fallback, tried in _fallbacks(here):
            if fallback.start <= span[0] and span[1] <= fallback.end:
                found.update(tried)
        todo.extend(children(here))
    return frozenset(found)


def _fallbacks(node: Node) -> Iterator[tuple[Node, frozenset[str]]]:
    """The parts that are computed only where certain names gave nothing, with these names."""
    match node:
        case Filter(name="default"):
            for argument in (*node.arguments, *(value for _, value in node.options)):
                yield argument, _roots(node.operand)
        case Binary(operator="or"):
            yield node.right, _roots(node.left)
        case Conditional():
            if node.otherwise is not None:
                yield node.otherwise, _asked(node.test, there=True)
            yield node.then, _asked(node.test, there=False)


def _asked(test: Node, *, there: bool) -> frozenset[str]:
    """The names whose presence (or absence) a test asks for, so that its other outcome says that they are missing."""
    match test:
        case Unary(operator="not"):
            return _asked(test.operand, there=not there)
        case Path() if there:
            return frozenset({test.root})
        case Test(name="defined", operand=Path() as path) if there:
            return frozenset({path.root})
        case Test(name="undefined" | "empty" | "none", operand=Path() as path) if not there:
            return frozenset({path.root})
        case _:
            return frozenset()


def _roots(node: Node) -> frozenset[str]:
    found: set[str] = set()
    todo: list[Node] = [node]
    while todo:
        here = todo.pop()
        if isinstance(here, Path):
            found.add(here.root)
        todo.extend(children(here))
    return frozenset(found)
