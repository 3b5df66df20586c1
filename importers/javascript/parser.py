"""Reads a JavaScript expression by precedence climbing."""

from __future__ import annotations

from typing import Final

from interlace.importers.javascript.syntax import (
    Array,
    Arrow,
    Binary,
    Call,
    Const,
    Js,
    Member,
    Name,
    NotJavaScript,
    Pattern,
    Record,
    Spread,
    Template,
    Ternary,
    Unary,
)
from interlace.importers.javascript.tokens import Token, tokenize

_BINARY: Final = {
    "??": 1, "||": 2, "&&": 3, "==": 4, "!=": 4, "===": 4, "!==": 4, "<": 5, ">": 5, "<=": 5, ">=": 5, "in": 5, "+": 6, "-": 6,
    "*": 7, "/": 7, "%": 7, "**": 8,
}  # fmt: skip
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "undefined": None}
_UNARY: Final = frozenset({"!", "-", "+", "typeof"})
_STATEMENTS: Final = frozenset(
    {"const", "let", "var", "function", "return", "if", "for", "while", "class", "await", "async", "throw"}
)
_DEEPEST: Final = 80


def parse(source: str) -> Js:
    """The tree of an expression; a semicolon at its end means nothing.

    Raises:
        NotJavaScript: the text is no expression.
    """
    return Parser(tokenize(source)).whole()


def parse_program(source: str) -> tuple[list[tuple[str, Js]], Js]:
    """A program of nothing but constants and a `return` at its end: the constants in order, and what is returned.

    Raises:
        NotJavaScript: the text is anything else.
    """
    return Parser(tokenize(source)).program()


class Parser:
    """Reads expressions; `ProgramParser` adds statements."""

    def __init__(self, tokens: list[Token], depth: int = 0) -> None:
        self._tokens, self._at, self._depth = tokens, 0, depth

    def whole(self) -> Js:
        """An expression, and nothing after it."""
        made = self.expression()
        while self._is(";"):
            self._at += 1
        if self._token.kind != "end":
            raise NotJavaScript(f"{self._token.text!r} is not expected here")
        return made

    def program(self) -> tuple[list[tuple[str, Js]], Js]:
        """Constants, and a `return` at the end."""
        constants: list[tuple[str, Js]] = []
        while self._token.text in ("const", "let", "var") and self._token.kind == "name":
            self._at += 1
            name = self._key()
            self._expect("=")
            constants.append((name, self.expression()))
            while self._is(";"):
                self._at += 1
        if not self._is("return"):
            raise NotJavaScript(f"the statement {self._token.text!r}")
        self._at += 1
        return constants, self.whole()

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _is(self, text: str) -> bool:
        token = self._token
        return token.text == text and token.kind in ("op", "name")

    def _take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, text: str) -> None:
        if not self._is(text):
            raise NotJavaScript(f"{text!r} is missing before {self._token.text!r}")
        self._at += 1

    def expression(self) -> Js:
        """An expression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotJavaScript("the expression is nested too deep")
        made = self._arrow() or self._ternary()
        self._depth -= 1
        return made

    def _arrow(self) -> Js | None:
        """`x => …` or `(x, y) => …`, if one begins here."""
        start = self._at
        parameters: list[str] = []
        if self._token.kind == "name":
            parameters.append(self._take().text)
        elif self._is("("):
            self._at += 1
            while self._token.kind == "name":
                parameters.append(self._take().text)
                if not self._is(","):
                    break
                self._at += 1
            if not self._is(")"):
                self._at = start
                return None
            self._at += 1
        if not self._is("=>") or self._at == start:
            self._at = start
            return None
        self._at += 1
        if self._is("{"):
            return self._returning(tuple(parameters))
        return Arrow(tuple(parameters), self.expression())

    def _returning(self, parameters: tuple[str, ...]) -> Js:
        """`{ return x; }`, the only kind of block that is an expression."""
        self._expect("{")
        if not self._is("return"):
            raise NotJavaScript("a function with statements")
        self._at += 1
        body = self.expression()
        while self._is(";"):
            self._at += 1
        self._expect("}")
        return Arrow(parameters, body)

    def _ternary(self) -> Js:
        test = self._binary(0)
        if not self._is("?"):
            return test
        self._at += 1
        then = self.expression()
        self._expect(":")
        return Ternary(test, then, self.expression())

    def _binary(self, least: int) -> Js:
        left = self._unary()
        while True:
            token = self._token
            level = _BINARY.get(token.text, 0) if token.kind in ("op", "name") else 0
            if level == 0 or level <= least:
                return left
            self._at += 1
            right = self._binary(level - 1 if token.text == "**" else level)
            left = Binary(token.text, left, right)

    def _unary(self) -> Js:
        token = self._token
        if token.text in _UNARY and token.kind in ("op", "name"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise NotJavaScript("the expression is nested too deep")
            self._at += 1
            operand = self._unary()
            self._depth -= 1
            return Unary(token.text, operand)
        return self._postfix(self._primary())

    def _postfix(self, made: Js) -> Js:
        while True:
            if self._is("."):
                self._at += 1
                made = Member(made, Const(self._key()))
            elif self._is("?."):
                self._at += 1
                if self._is("("):
                    made = Call(made, self._arguments(), optional=True)
                elif self._is("["):
                    made = self._indexed(made, optional=True)
                else:
                    made = Member(made, Const(self._key()), optional=True)
            elif self._is("["):
                made = self._indexed(made)
            elif self._is("("):
                made = Call(made, self._arguments())
            else:
                return made

    def _key(self) -> str:
        if self._token.kind != "name":
            raise NotJavaScript(f"a field's name is missing before {self._token.text!r}")
        return self._take().text

    def _indexed(self, base: Js, *, optional: bool = False) -> Js:
        self._expect("[")
        key = self.expression()
        self._expect("]")
        return Member(base, key, optional=optional)

    def _arguments(self) -> tuple[Js, ...]:
        self._expect("(")
        return self._list(")")

    def _list(self, closer: str) -> tuple[Js, ...]:
        made: list[Js] = []
        while not self._is(closer):
            if self._is("..."):
                self._at += 1
                made.append(Spread(self.expression()))
            else:
                made.append(self.expression())
            if not self._is(closer):
                self._expect(",")
        self._at += 1
        return tuple(made)

    def _primary(self) -> Js:  # noqa: PLR0911 - one return a kind of token
        token = self._take()
        if token.kind == "number":
            return Const(_number(token.text))
        if token.kind == "string":
            return Const(token.text)
        if token.kind == "regex":
            return Pattern(token.text, token.parts[0])
        if token.kind == "template":
            return self._template(token)
        if token.kind == "name":
            return self._named(token.text)
        if token.text == "(":
            made = self.expression()
            self._expect(")")
            return made
        if token.text == "[":
            return Array(self._list("]"))
        if token.text == "{":
            return self._record()
        raise NotJavaScript(f"{token.text or 'the end'!r} is not expected here")

    def _named(self, name: str) -> Js:
        if name in _CONSTANTS:
            return Const(_CONSTANTS[name])
        if name in _STATEMENTS:
            raise NotJavaScript(f"the statement {name!r}")
        if name == "new":
            callee: Js = Name(self._key())
            while self._is("."):
                self._at += 1
                callee = Member(callee, Const(self._key()))
            return Call(callee, self._arguments() if self._is("(") else (), new=True)
        return Name(name)

    def _template(self, token: Token) -> Js:
        parts: list[Js] = []
        for index, part in enumerate(token.parts):
            if index % 2:
                parts.append(type(self)(tokenize(part), self._depth + 1).whole())
            elif part:
                parts.append(Const(part))
        return Template(tuple(parts))

    def _record(self) -> Js:
        pairs: list[tuple[Js | None, Js]] = []
        while not self._is("}"):
            if self._is("..."):
                self._at += 1
                pairs.append((None, self.expression()))
            else:
                pairs.append(self._pair())
            if not self._is("}"):
                self._expect(",")
        self._at += 1
        return Record(tuple(pairs))

    def _pair(self) -> tuple[Js, Js]:
        token = self._token
        if self._is("["):
            self._at += 1
            key = self.expression()
            self._expect("]")
        elif token.kind in ("name", "string", "number"):
            self._at += 1
            key = Const(token.text)
            if token.kind == "name" and (self._is(",") or self._is("}")):
                return key, self._named(token.text)
        else:
            raise NotJavaScript(f"a key is missing before {token.text!r}")
        self._expect(":")
        return key, self.expression()


def _number(text: str) -> int | float:
    clean = text.replace("_", "")
    try:
        if clean[:2].lower() == "0x":
            return int(clean, 16)
        value = float(clean)
    except ValueError:
        raise NotJavaScript(f"the number {text}") from None
    if value.is_integer() and not any(mark in clean for mark in ".eE") and abs(value) < 2**53:
        return int(clean)
    return value
