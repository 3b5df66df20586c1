"""Reads texts, lists, mappings and what stands in brackets."""

from __future__ import annotations

from abc import ABC, abstractmethod

from interlace.engine.expressions.cursor import Cursor
from interlace.engine.expressions.syntax import Literal, Node, Record, Sequence, SyntaxProblem
from interlace.engine.expressions.tokens import string_value


class Displays(Cursor, ABC):
    """A cursor that reads displays; what stands inside them is read by the parser."""

    __slots__ = ()

    @abstractmethod
    def expression(self) -> Node:
        """Read one whole expression."""

    def string(self, start: int) -> Node:
        """Read a text; neighbours join."""
        parts = []
        while self.kind == "string":
            parts.append(string_value(self.texts[self.at], self.source, self.starts[self.at]))
            self.advance()
        return Literal("".join(parts), start, self.ends[self.at - 1])

    def grouped(self, start: int) -> Node:
        """Read what stands in round brackets: an expression, or a list."""
        self.advance()
        if self.kind == ")":
            self.advance()
            return Literal([], start, self.ends[self.at - 1])
        node = self.expression()
        if self.kind == ",":
            self.advance()
            return self.display([node, *self.items(")")], start)
        self.expect(")")
        return node

    def items(self, closer: str) -> list[Node]:
        """Read expressions up to the closing bracket."""
        items: list[Node] = []
        while self.kind != closer:
            items.append(self.expression())
            if self.kind != ",":
                break
            self.advance()
        self.expect(closer)
        return items

    def display(self, items: list[Node], start: int) -> Node:
        """Give a list, constant where all its items are."""
        end = self.ends[self.at - 1]
        constants = [item.value for item in items if isinstance(item, Literal)]
        if len(constants) == len(items):
            return Literal(constants, start, end)
        return Sequence(tuple(items), start, end)

    def record(self, start: int) -> Node:
        """Read a mapping, constant where all its parts are."""
        self.advance()
        pairs: list[tuple[Node, Node]] = []
        while self.kind != "}":
            key = self.expression()
            if isinstance(key, Literal) and not isinstance(key.value, str | int):
                raise SyntaxProblem("a mapping's key must be text", self.source, key.start)
            self.expect(":")
            pairs.append((key, self.expression()))
            if self.kind != ",":
                break
            self.advance()
        self.expect("}")
        end = self.ends[self.at - 1]
        constants = {
            _key_text(k.value): v.value for k, v in pairs if isinstance(k, Literal) and isinstance(v, Literal)
        }
        if all(isinstance(k, Literal) and isinstance(v, Literal) for k, v in pairs):
            return Literal(constants, start, end)
        return Record(tuple(pairs), start, end)


def _key_text(key: str | int) -> str:
    return key if isinstance(key, str) else str(key)
