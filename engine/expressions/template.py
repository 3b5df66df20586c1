"""Translates a template into minijinja source whose expressions are calls back into our closures.

Text and statements stay where they are, line for line; minijinja runs the statements with limited fuel. Each expression
becomes `__value(number, locals…)`, so comparison, missing values and filters follow the same rules as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from interlace.engine.expressions.blocks import Blocks, Frame
from interlace.engine.expressions.parser import Parser
from interlace.engine.expressions.references import Reference, references, shown
from interlace.engine.expressions.statements import Emitter, Translation
from interlace.engine.expressions.syntax import MAX_EXPRESSION, MAX_TEMPLATE, Call, Node, SyntaxProblem
from interlace.engine.expressions.tokens import END, tokenize

_OPENING: Final = re.compile(r"\{[{%#]")
_TAG_WORD: Final = re.compile(r"\{%[-+]?\s*(\w+)")
_RAW_END: Final = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_MAX_BRANCHES: Final = 200
_MAX_EXPRESSIONS: Final = 4000
_INHERITANCE: Final = frozenset({"include", "import", "from", "extends", "block", "endblock"})


def translate(source: str) -> Translation:
    """Translate a template.

    Raises:
        SyntaxProblem: a tag or an expression is not valid, or the template is too long or nested too deep.
    """
    if len(source) > MAX_TEMPLATE:
        raise SyntaxProblem(f"a template has at most {MAX_TEMPLATE:,} characters", source, MAX_TEMPLATE)
    return _Translator(source).run()


class _Translator:
    """Walks over the tags of one template, keeping the names and facts of the open blocks."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.written: list[str] = []
        self.blocks = Blocks(source)
        self.emitter = Emitter(source)
        self.references: list[Reference] = []
        self.plain = True
        self.start = 0
        self.parser: Parser

    def run(self) -> Translation:
        while (match := _OPENING.search(self.source, self.position)) is not None:
            self.start = match.start()
            self.written.append(self.source[self.position : self.start])
            opening = match.group()
            if opening != "{{":
                self.plain = False
            if opening == "{#":
                self._comment()
            elif opening == "{{":
                self._output()
            else:
                self._tag()
            if len(self.emitter.nodes) > _MAX_EXPRESSIONS:
                raise SyntaxProblem(
                    f"a template has at most {_MAX_EXPRESSIONS} expressions", self.source, self.start
                )
        self.written.append(self.source[self.position :])
        self.blocks.check_closed()
        return Translation("".join(self.written), self.emitter, self.references, self._pieces())

    def _pieces(self) -> tuple[str | int, ...] | None:
        """Give the texts and the numbers of the expressions between them, unless there are statements."""
        if not self.plain:
            return None
        pieces: list[str | int] = [*self.written]
        pieces[1::2] = range(len(self.emitter.nodes))
        return tuple(piece for piece in pieces if piece != "")

    def _comment(self) -> None:
        stop = self.source.find("#}", self.start + 2)
        if stop < 0:
            raise SyntaxProblem("{# is not closed by #}", self.source, self.start)
        self.position = stop + 2
        self.written.append(self.source[self.start : self.position])

    def _open(self, closer: str) -> tuple[str, str]:
        """Tokenize the tag; give its opening and closing marks."""
        inner = self.start + 2
        opening = self.source[self.start : inner]
        if self.source[inner : inner + 1] in ("-", "+") and self.source[inner : inner + 1]:
            opening += self.source[inner]
            inner += 1
        tokens = tokenize(self.source, inner, closer=closer)
        if tokens.stop - inner > MAX_EXPRESSION:
            raise SyntaxProblem(f"a tag has at most {MAX_EXPRESSION:,} characters", self.source, self.start)
        self.position = tokens.stop
        closing = self.source[tokens.stop - 3 : tokens.stop]
        self.parser = Parser(self.source, tokens, self.blocks.names())
        return opening, closing if closing[0] in "-+" and tokens.starts[-1] == tokens.stop - 3 else closing[
            1:
        ]

    def _write(self, opening: str, inner: str, closing: str) -> None:
        """Write a tag with as many lines as it had, so that minijinja counts as the user does."""
        lines = self.source.count("\n", self.start, self.position)
        self.written.append(f"{opening} {inner}{chr(10) * lines} {closing}")

    def _output(self) -> None:
        opening, closing = self._open("}}")
        number = len(self.emitter.nodes)
        text = self._value("output")
        self._end()
        self.plain = self.plain and (opening, text, closing) == ("{{", f"__output({number})", "}}")
        self._write(opening, text, closing)

    def _value(self, form: str = "value", *, conditional: bool = True) -> str:
        """Parse an expression here and give what stands for it."""
        return self._emit(self._node(conditional=conditional), form)

    def _node(self, *, conditional: bool = True, tested: bool = False) -> Node:
        node = self.parser.expression() if conditional else self.parser.without_condition()
        self.blocks.check_calls(node)
        self.references.extend(references(node, self.blocks.facts(), tested=tested))
        return node

    def _emit(self, node: Node, form: str = "value") -> str:
        return self.emitter.emit(node, form, self.blocks.loose())

    def _end(self) -> None:
        if self.parser.kind != END:
            self.parser.unexpected()

    def _tag(self) -> None:
        match = _TAG_WORD.match(self.source, self.start)
        word = match[1] if match else ""
        if word == "raw":
            self._raw()
            return
        opening, closing = self._open("%}")
        handler = _HANDLERS.get(word)
        if handler is None:
            raise SyntaxProblem(_unknown_tag(word), self.source, self.start)
        self.parser.advance()
        inner = handler(self)
        self._end()
        # The end of a filter block is where its text comes out.
        self._write(opening, inner, closing.replace("%", "}") if word == "endfilter" else closing)

    def _raw(self) -> None:
        match = _RAW_END.search(self.source, self.start)
        if match is None:
            raise SyntaxProblem("{% raw %} is not closed by {% endraw %}", self.source, self.start)
        self.position = match.end()
        self.written.append(self.source[self.start : self.position])

    def _open_block(self, kind: str, *, scoped: bool = True) -> Frame:
        return self.blocks.open(kind, self.start, scoped=scoped)

    def _close_block(self, *kinds: str) -> Frame:
        return self.blocks.close(kinds, self.parser.texts[self.parser.at - 1], self.start)

    def _bind(self, name: str, *, loose: bool, macro: bool = False) -> str:
        self.blocks.bind(name, self.start, loose=loose, macro=macro)
        self.parser.local = self.blocks.names()
        return name

    # The tags, each giving what stands inside the translated tag.

    def if_(self) -> str:
        node = self._node(tested=True)
        frame = self._open_block("if", scoped=False)
        frame.facts = shown(node, holds=True)
        frame.otherwise = shown(node, holds=False)
        return f"if {self._emit(node)}"

    def elif_(self) -> str:
        frame = self._close_block("if")
        node_frame = Frame("if", frame.start, scoped=False, branches=frame.branches + 1)
        if node_frame.branches > _MAX_BRANCHES:
            raise SyntaxProblem(f"an if has at most {_MAX_BRANCHES} branches", self.source, self.start)
        node_frame.facts = frame.otherwise
        self.blocks.frames.append(node_frame)
        node = self._node(tested=True)
        node_frame.facts = frame.otherwise | shown(node, holds=True)
        node_frame.otherwise = frame.otherwise | shown(node, holds=False)
        return f"elif {self._emit(node)}"

    def else_(self) -> str:
        frame = self._close_block("if", "for")
        self.blocks.frames.append(
            Frame(frame.kind + " else", frame.start, scoped=frame.scoped, facts=frame.otherwise)
        )
        return "else"

    def endif(self) -> str:
        self._close_block("if", "if else")
        return "endif"

    def for_(self) -> str:
        targets = self._targets()
        if self.parser.kind != "in":
            self.parser.expect("in")
        self.parser.advance()
        items = self._value("items", conditional=False)
        frame = self._open_block("for")
        frame.names.update(targets, ("loop",))
        self.parser.local = self.blocks.names()
        text = f"for {', '.join(targets)} in {items}"
        if self.parser.kind == "if":
            self.parser.advance()
            node = self._node(tested=True)
            frame.facts = shown(node, holds=True)
            text += f" if {self._emit(node)}"
        if self.parser.texts[self.parser.at] == "recursive":
            self.parser.advance()
            text += " recursive"
        return text

    def _targets(self) -> list[str]:
        bracket = self.parser.kind == "("
        if bracket:
            self.parser.advance()
        names = [self.parser.name()]
        while self.parser.kind == ",":
            self.parser.advance()
            names.append(self.parser.name())
        if bracket:
            self.parser.expect(")")
        for name in names:
            self.blocks.check_name(name, self.start)
        return names

    def endfor(self) -> str:
        self._close_block("for", "for else")
        return "endfor"

    def set_(self) -> str:
        parser = self.parser
        if parser.kind == "name" and parser.kinds[parser.at + 1] == ".":
            return self._set_field()
        targets = self._targets()
        if parser.kind == "=":
            parser.advance()
            text = f"set {', '.join(targets)} = {self._value()}"
            for name in targets:
                self._bind(name, loose=True)
            return text
        frame = self._open_block("set", scoped=False)
        frame.target = targets[0]
        return f"set {targets[0]}"

    def _set_field(self) -> str:
        parser = self.parser
        name = parser.name()
        if name not in self.blocks.names():
            parser.fail(f"{name!r} is not a namespace() of this template")
        parser.advance()
        key = parser.name()
        parser.expect("=")
        return f"do __assign({name}, '{key}', {self._value()})"

    def endset(self) -> str:
        self._bind(self._close_block("set").target, loose=True)
        return "endset"

    def with_(self) -> str:
        pairs: list[tuple[str, str]] = []
        while self.parser.kind == "name":
            name = self.parser.name()
            self.parser.expect("=")
            pairs.append((name, self._value()))
            if self.parser.kind != ",":
                break
            self.parser.advance()
        self._open_block("with")
        for name, _ in pairs:
            self._bind(name, loose=False)
        return "with " + ", ".join(f"{name} = {value}" for name, value in pairs)

    def endwith(self) -> str:
        self._close_block("with")
        return "endwith"

    def macro(self) -> str:
        name = self._bind(self.parser.name(), loose=False, macro=True)
        parameters = self._parameters()
        frame = self._open_block("macro")
        for parameter, _ in parameters:
            self._bind(parameter, loose=True)
        frame.names.add("caller")
        return f"macro {name}({', '.join(text for _, text in parameters)})"

    def _parameters(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        self.parser.expect("(")
        while self.parser.kind == "name":
            name = self.parser.name()
            text = name
            if self.parser.kind == "=":
                self.parser.advance()
                text = f"{name}={self._value()}"
            found.append((name, text))
            if self.parser.kind != ",":
                break
            self.parser.advance()
        self.parser.expect(")")
        return found

    def endmacro(self) -> str:
        self._close_block("macro")
        if self.parser.kind == "name":
            self.parser.advance()
        return "endmacro"

    def call(self) -> str:
        parameters = self._parameters() if self.parser.kind == "(" else []
        node = self._node()
        if not (isinstance(node, Call) and node.local):
            raise SyntaxProblem("{% call %} takes a call of a macro", self.source, self.start)
        text = self._emit(node)
        self._open_block("call")
        for parameter, _ in parameters:
            self._bind(parameter, loose=True)
        return (
            f"call({', '.join(written for _, written in parameters)}) {text}"
            if parameters
            else f"call {text}"
        )

    def endcall(self) -> str:
        self._close_block("call")
        return "endcall"

    def filter_(self) -> str:
        frame = self._open_block("filter", scoped=False)
        frame.target = f"__text{len(self.emitter.nodes)}"
        node = self.parser.filtered(frame.target)
        self.references.extend(references(node, self.blocks.facts()))
        frame.pending = self.emitter.emit(node, "block", frozenset())
        return f"set {frame.target}"

    def endfilter(self) -> str:
        frame = self._close_block("filter")
        return f"endset %}}{{{{ {frame.pending}"

    def autoescape(self) -> str:
        text = self.parser.texts[self.parser.at]
        if text not in ("true", "false"):
            self.parser.fail("{% autoescape %} takes true or false")
        self.parser.advance()
        self._open_block("autoescape", scoped=False)
        return f"autoescape {text}"

    def endautoescape(self) -> str:
        self._close_block("autoescape")
        return "endautoescape"

    def do(self) -> str:
        return f"set __done = {self._value()}"

    def leave(self) -> str:
        if not any(frame.kind == "for" for frame in self.blocks.frames):
            raise SyntaxProblem("{% break %} and {% continue %} stand inside a for", self.source, self.start)
        return self.parser.texts[self.parser.at - 1]


def _unknown_tag(word: str) -> str:
    if word in _INHERITANCE:
        return f"a template stands alone: {{% {word} %}} does not exist"
    return f"no tag {word!r}"


_HANDLERS: Final[dict[str, Callable[[_Translator], str]]] = {
    "if": _Translator.if_,
    "elif": _Translator.elif_,
    "else": _Translator.else_,
    "endif": _Translator.endif,
    "for": _Translator.for_,
    "endfor": _Translator.endfor,
    "set": _Translator.set_,
    "endset": _Translator.endset,
    "with": _Translator.with_,
    "endwith": _Translator.endwith,
    "macro": _Translator.macro,
    "endmacro": _Translator.endmacro,
    "call": _Translator.call,
    "endcall": _Translator.endcall,
    "filter": _Translator.filter_,
    "endfilter": _Translator.endfilter,
    "autoescape": _Translator.autoescape,
    "endautoescape": _Translator.endautoescape,
    "do": _Translator.do,
    "break": _Translator.leave,
    "continue": _Translator.leave,
}
