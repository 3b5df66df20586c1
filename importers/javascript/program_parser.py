"""Reads JavaScript programs: statements, functions, patterns. Classes, generators and labels are not read."""

from __future__ import annotations

from typing import Final

from interlace.importers.javascript.pattern_parser import PatternParser
from interlace.importers.javascript.syntax import (
    Assign,
    Await,
    Bind,
    Block,
    Declare,
    Delete,
    Do,
    For,
    ForEach,
    Function,
    If,
    Js,
    Jump,
    Member,
    Name,
    NotJavaScript,
    Return,
    Statement,
    Switch,
    Target,
    Throw,
    Try,
    Update,
)
from interlace.importers.javascript.tokens import tokenize

_ASSIGNS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "**=", "??=", "||=", "&&="})
_REFUSED: Final = frozenset({"class", "import", "export", "with", "debugger", "yield", "this", "super"})


def parse_statements(source: str) -> tuple[Statement, ...]:
    """The statements of a program.

    Raises:
        NotJavaScript: it cannot be read, or uses what is not read here.
    """
    return ProgramParser(tokenize(source)).statements_to_the_end()


class ProgramParser(PatternParser):
    """Reads statements."""

    # -- statements ----------------------------------------------------------------------------------------------------

    def statements_to_the_end(self) -> tuple[Statement, ...]:
        """All statements."""
        made = []
        while self._token.kind != "end":
            made.extend(self._statement())
        return tuple(made)

    def _block(self) -> Block:
        self._expect("{")
        made: list[Statement] = []
        while not self._is("}"):
            if self._token.kind == "end":
                raise NotJavaScript("a block is not closed")
            made.extend(self._statement())
        self._at += 1
        return Block(tuple(made))

    def _body(self) -> Block:
        """A block, or one statement in its place."""
        return self._block() if self._is("{") else Block(tuple(self._statement()))

    def _end(self) -> None:
        """A semicolon, or where one may be left out."""
        if self._is(";"):
            self._at += 1
        elif not (self._is("}") or self._token.kind == "end" or self._token.after_line):
            raise NotJavaScript(f"{self._token.text!r} is not expected here")

    def _statement(self) -> list[Statement]:
        token = self._token
        if self._is(";"):
            self._at += 1
            return []
        if self._is("{"):
            return [self._block()]
        if token.kind == "name" and token.text in _REFUSED:
            raise NotJavaScript(f"`{token.text}`")
        read = _STATEMENTS.get(token.text) if token.kind == "name" else None
        if read is not None:
            self._at += 1
            return [read(self)]
        if self._starts_function():
            return [self._function()]
        parts = self._sequence()
        return [self._done(Do(parts[0]) if len(parts) == 1 else Block(tuple(Do(one) for one in parts)))]

    def _sequence(self) -> tuple[Js, ...]:
        made = [self.expression()]
        while self._is(","):
            self._at += 1
            made.append(self.expression())
        return tuple(made)

    def _done(self, statement: Statement) -> Statement:
        self._end()
        return statement

    def _declare(self) -> Statement:
        return self._done(self._declaration(self._tokens[self._at - 1].text))

    def _declaration(self, word: str) -> Declare:
        bindings: list[tuple[Target, Js | None]] = []
        while True:
            target = self._target(with_default=False)
            value = None
            if self._is("="):
                self._at += 1
                value = self.expression()
            bindings.append((target, value))
            if not self._is(","):
                return Declare(word, tuple(bindings))
            self._at += 1

    def _if(self) -> Statement:
        test = self._in_brackets()
        then = self._body()
        otherwise = None
        if self._is("else"):
            self._at += 1
            otherwise = self._body()
        return If(test, then, otherwise)

    def _in_brackets(self) -> Js:
        self._expect("(")
        made = self.expression()
        self._expect(")")
        return made

    def _for(self) -> Statement:
        if self._is("await"):
            raise NotJavaScript("`for await`")
        self._expect("(")
        start: Statement | None = None
        if self._token.text in ("const", "let", "var") and self._token.kind == "name":
            word = self._take().text
            mark = self._at
            target = self._target(with_default=False)
            if self._token.text in ("of", "in") and self._token.kind == "name":
                return self._for_each(target)
            self._at = mark
            start = self._declaration(word)
        elif not self._is(";"):
            if self._token.kind == "name" and self._tokens[self._at + 1].text in ("of", "in"):
                return self._for_each(Bind(self._take().text))
            start = Block(tuple(Do(one) for one in self._sequence()))
        self._expect(";")
        test = None if self._is(";") else self.expression()
        self._expect(";")
        step = () if self._is(")") else self._sequence()
        self._expect(")")
        return For(start, test, step, self._body())

    def _for_each(self, target: Target) -> Statement:
        word = self._take().text
        source = self.expression()
        self._expect(")")
        return ForEach(target, word, source, self._body())

    def _while(self) -> Statement:
        return For(None, self._in_brackets(), (), self._body())

    def _do(self) -> Statement:
        body = self._body()
        self._expect("while")
        test = self._in_brackets()
        if self._is(";"):
            self._at += 1
        return For(None, test, (), body, first=True)

    def _return(self) -> Statement:
        if self._is(";") or self._is("}") or self._token.kind == "end" or self._token.after_line:
            return self._done(Return(None))
        return self._done(Return(self.expression()))

    def _throw(self) -> Statement:
        return self._done(Throw(self.expression()))

    def _try(self) -> Statement:
        body, caught, handler, final = self._block(), None, None, None
        if self._is("catch"):
            self._at += 1
            if self._is("("):
                self._at += 1
                caught = self._key()
                self._expect(")")
            handler = self._block()
        if self._is("finally"):
            self._at += 1
            final = self._block()
        return Try(body, caught, handler, final)

    def _switch(self) -> Statement:
        value = self._in_brackets()
        self._expect("{")
        cases: list[tuple[Js | None, Block]] = []
        while not self._is("}"):
            test = None
            if self._is("default"):
                self._at += 1
            else:
                self._expect("case")
                test = self.expression()
            self._expect(":")
            body: list[Statement] = []
            while not (self._is("case") or self._is("default") or self._is("}")):
                if self._token.kind == "end":
                    raise NotJavaScript("a switch is not closed")
                body.extend(self._statement())
            cases.append((test, Block(tuple(body))))
        self._at += 1
        return Switch(value, tuple(cases))

    def _jump(self) -> Statement:
        word = self._tokens[self._at - 1].text
        if self._token.kind == "name" and not self._token.after_line:
            raise NotJavaScript("a jump to a label")
        return self._done(Jump(word))

    # -- expressions ---------------------------------------------------------------------------------------------------

    def expression(self) -> Js:
        """An expression, an assignment or a function."""
        made = super().expression()
        if self._token.kind == "op" and self._token.text in _ASSIGNS and isinstance(made, Name | Member):
            operator = self._take().text
            made = Assign(made, operator[:-1], self.expression())
        return made

    def _unary(self) -> Js:
        if self._token.kind == "op" and self._token.text in ("++", "--"):
            step = 1 if self._take().text == "++" else -1
            return Update(self._unary(), step)
        if self._token.kind == "name" and self._token.text in ("await", "delete", "void"):
            word = self._take().text
            if word == "void":
                raise NotJavaScript("`void`")
            operand = self._unary()
            return Await(operand) if word == "await" else Delete(operand)
        return super()._unary()

    def _postfix(self, made: Js) -> Js:
        made = super()._postfix(made)
        token = self._token
        if token.kind == "op" and token.text in ("++", "--") and not token.after_line:
            self._at += 1
            return Update(made, 1 if token.text == "++" else -1)
        if token.kind == "template":
            raise NotJavaScript("a template with a function before it")
        return made

    def _named(self, name: str) -> Js:
        if name == "undefined":
            return Name(name)
        if name in _REFUSED:
            raise NotJavaScript(f"`{name}`")
        return super()._named(name)

    def _primary(self) -> Js:
        if self._starts_function():
            return self._function()
        return super()._primary()

    def _starts_function(self) -> bool:
        token = self._token
        if token.kind != "name":
            return False
        return token.text == "function" or (
            token.text == "async" and self._tokens[self._at + 1].text == "function"
        )

    def _function(self) -> Function:
        if self._is("async"):
            self._at += 1
        self._expect("function")
        if self._is("*"):
            raise NotJavaScript("a generator")
        name = None if self._is("(") else self._key()
        parameters, rest = self._parameters()
        return Function(name, parameters, rest, self._block())

    def _arrow(self) -> Js | None:
        start = self._at
        if self._is("async") and self._tokens[self._at + 1].text != "=>":
            self._at += 1
        parameters: tuple[Target, ...] = ()
        rest = None
        if self._token.kind == "name" and self._tokens[self._at + 1].text == "=>":
            parameters = (Bind(self._take().text),)
        elif self._is("(") and self._tokens[self._closing_bracket()].text == "=>":
            parameters, rest = self._parameters()
        if not self._is("=>"):
            self._at = start
            return None
        self._at += 1
        body = self._block() if self._is("{") else self.expression()
        return Function(None, parameters, rest, body)

    def _closing_bracket(self) -> int:
        """The number of the token after the bracket that closes the one here."""
        depth = 0
        for at in range(self._at, len(self._tokens)):
            token = self._tokens[at]
            if token.kind != "op":
                continue
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if depth == 0:
                return min(at + 1, len(self._tokens) - 1)
        return len(self._tokens) - 1


_STATEMENTS: Final = {
    "const": ProgramParser._declare, "let": ProgramParser._declare, "var": ProgramParser._declare, "if": ProgramParser._if,  # noqa: SLF001
    "for": ProgramParser._for, "while": ProgramParser._while, "do": ProgramParser._do, "return": ProgramParser._return,  # noqa: SLF001
    "throw": ProgramParser._throw, "try": ProgramParser._try, "switch": ProgramParser._switch, "break": ProgramParser._jump,  # noqa: SLF001
    "continue": ProgramParser._jump,  # noqa: SLF001
}  # fmt: skip
