"""A cursor over tokens, with the messages for what cannot stand where it does."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, NoReturn

from interlace.engine.expressions.syntax import MAX_NESTING, SyntaxProblem
from interlace.engine.expressions.tokens import END, Tokens

NO_LOCALS: Final[frozenset[str]] = frozenset()


class Cursor:
    """A position in a list of tokens."""

    __slots__ = ("at", "ends", "kind", "kinds", "level", "local", "source", "starts", "texts")

    def __init__(self, source: str, tokens: Tokens, local: AbstractSet[str] = NO_LOCALS) -> None:
        self.source = source
        self.kinds, self.texts, self.starts, self.ends, _ = tokens
        self.at = 0
        self.kind = self.kinds[0]
        self.level = 0
        self.local = local

    def advance(self) -> None:
        """Step to the next token."""
        self.at += 1
        self.kind = self.kinds[self.at]

    def expect(self, kind: str) -> None:
        """Step over a token of this kind."""
        if self.kind != kind:
            self.fail(f"expected {kind!r} {self.before()}")
        self.advance()

    def name(self) -> str:
        """Step over a name and give it."""
        if self.kind != "name":
            self.fail(f"expected a name {self.before()}")
        text = self.texts[self.at]
        self.advance()
        return text

    def fail(self, message: str) -> NoReturn:
        """Raise the problem at the current token."""
        raise SyntaxProblem(message, self.source, self.starts[self.at])

    def unexpected(self) -> NoReturn:
        """Raise for a token that cannot stand here."""
        if self.kind == END:
            self.fail("the expression ends too early" if self.at else "the expression is empty")
        if self.kind == "=":
            self.fail("'=' is not a comparison; write '=='")
        if self.kind == "|" or (self.at and self.kinds[self.at - 1] == "|"):
            self.fail("a filter's name must follow '|' (for a choice write 'or')")
        self.fail(f"unexpected {self.texts[self.at]!r}")

    def before(self) -> str:
        """Say in words what the current token is before."""
        return "at the end" if self.kind == END else f"before {self.texts[self.at]!r}"

    def deeper(self) -> None:
        """Count one more level of nesting."""
        self.level += 1
        if self.level > MAX_NESTING:
            self.fail(f"the expression is nested more than {MAX_NESTING} levels deep")
