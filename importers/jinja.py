"""Python's Jinja into our dialect: methods become filters, and names of a template's own become references.

The tags are split by the engine's own tokens; what is not a name or a method stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import compile_template
from interlace.engine.expressions.tokens import END, Tokens, tokenize
from interlace.importers.jinja_methods import METHODS

Names = Callable[[str], str | None]
"""The expression that a name stands for; None where there is no such name."""

_OPENING: Final = re.compile(r"\{[{%#]")
_BINDS: Final = re.compile(r"\{%[-+]?\s*(for|set|macro|with)\b(.*?)%\}", re.DOTALL)
_NAME: Final = re.compile(r"[^\W\d]\w*")
_WORDS: Final = frozenset({
    "and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None", "loop", "range", "dict",
    "namespace", "recursive",
})  # fmt: skip
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}


class NotTranslated(Exception):  # noqa: N818 - what it says
    """The template uses what our dialect does not have."""


def translate(source: str, names: Names) -> str:
    """The template in our dialect.

    Args:
        source: a template of Python's Jinja.
        names: what its names stand for; one that is unknown reads as nothing, as Jinja has it.

    Raises:
        NotTranslated: a tag, filter or method has no counterpart.
    """
    try:
        made = _Translation(source, names).run()
        compile_template(made)
    except ExpressionError as error:
        raise NotTranslated(error.message) from None
    except RecursionError:
        raise NotTranslated("it is nested too deep") from None
    return made


def rewrite(source: str, names: Names) -> str:
    """One expression, without braces, in our dialect.

    Raises:
        NotTranslated: it cannot be read, or a method has no counterpart.
    """
    try:
        return Rewriter(source, tokenize(source), names, frozenset()).everything()
    except ExpressionError as error:
        raise NotTranslated(error.message) from None


class _Translation:
    def __init__(self, source: str, names: Names) -> None:
        self._source, self._names = source, names
        self._own = frozenset(_own_names(source))

    def run(self) -> str:
        made, position = [], 0
        while (match := _OPENING.search(self._source, position)) is not None:
            made.append(self._source[position : match.start()])
            start, mark = match.start(), match.group()
            if mark == "{#":
                stop = self._source.find("#}", start)
                position = len(self._source) if stop < 0 else stop + 2
                made.append(self._source[start:position])
                continue
            if mark == "{%" and re.match(r"\{%[-+]?\s*raw\b", self._source[start:]):
                end = re.search(r"\{%[-+]?\s*endraw\s*[-+]?%\}", self._source[start:])
                position = len(self._source) if end is None else start + end.end()
                made.append(self._source[start:position])
                continue
            text, position = self._tag(start, mark)
            made.append(text)
        made.append(self._source[position:])
        return "".join(made)

    def _tag(self, start: int, mark: str) -> tuple[str, int]:
        inner = start + 2
        if self._source[inner : inner + 1] in ("-", "+"):
            inner += 1
        tokens = tokenize(self._source, inner, closer="}}" if mark == "{{" else "%}")
        rewriter = Rewriter(self._source, tokens, self._names, self._own)
        body = rewriter.everything() if mark == "{{" else rewriter.statement()
        end = tokens.starts[-1]
        before = self._source[start:inner]
        lead = self._source[inner : tokens.starts[0]] or " "
        tail = self._source[tokens.ends[-2] : end] if len(tokens.kinds) > 1 else ""
        return f"{before}{lead}{body}{tail or ' '}{self._source[end : tokens.stop]}", tokens.stop


def _own_names(source: str) -> set[str]:
    found: set[str] = set()
    for match in _BINDS.finditer(source):
        word, rest = match.groups()
        if word == "for":
            rest = re.split(r"\bin\b", rest, maxsplit=1)[0]
        elif word in ("set", "with"):
            rest = " ".join(re.findall(r"([\w ,]+)=(?!=)", rest)) if "=" in rest else rest
        found.update(_NAME.findall(rest))
    return found - _WORDS


class Rewriter:
    """Rewrites the tokens of one tag."""

    def __init__(self, source: str, tokens: Tokens, names: Names, own: frozenset[str]) -> None:
        self._source, self._tokens, self._names, self._own = source, tokens, names, own
        self._at = 0

    def statement(self) -> str:
        """The inside of a `{% … %}`: the word and the names it binds stay."""
        if self._kind() == END:
            return ""
        word = self._texts()
        made = self._take()
        if word in ("macro", "block", "include", "import", "from", "extends", "call"):
            if word != "macro":
                raise NotTranslated(f"the tag {word!r} has no counterpart")
            return made + self._rest()
        if word == "for":
            while self._kind() not in (END, "in"):
                made += self._gap() + self._take()
        elif word in ("set", "with"):
            while self._kind() not in (END, "=", ".") and word == "set":
                made += self._gap() + self._take()
        elif word.startswith("end") or word in ("raw", "else"):
            return made + self._rest()
        return made + self.everything()

    def _rest(self) -> str:
        made = ""
        while self._kind() != END:
            made += self._gap() + self._take()
        return made

    def everything(self, *closers: str) -> str:
        """All tokens up to one of the closers, or the end."""
        made, first = "", True
        while self._kind() != END and self._kind() not in closers:
            gap = "" if first and not closers and self._at == 0 else self._gap()
            first = False
            if self._kind() in ("|", "is"):
                made += gap + self._named()
            elif self._starts_operand():
                made += gap + self._operand()
            else:
                made += gap + self._take()
        return made

    def _named(self) -> str:
        """A filter's or test's name, which is no reference."""
        made = self._take()
        if self._kind() == "not":
            made += self._gap() + self._take()
        if self._kind() in ("name", "in"):
            made += self._gap() + self._take()
        return made

    def _starts_operand(self) -> bool:
        return self._kind() in ("name", "string", "(", "[", "{")

    def _operand(self) -> str:
        kind = self._kind()
        if kind == "name":
            name = self._take()
            if self._kind() == "=" and self._previous_opens(2):
                return name
            made = self._reference(name)
        elif kind == "string":
            made = self._take()
        else:
            opening = self._take()
            inside = self.everything(_CLOSERS[opening])
            made = opening + inside + self._gap() + self._take_closer(_CLOSERS[opening])
        return self._postfix(made)

    def _previous_opens(self, back: int) -> bool:
        at = self._at - back
        return at >= 0 and self._tokens.kinds[at] in ("(", ",")

    def _reference(self, name: str) -> str:
        if name in _WORDS or name in self._own:
            return name
        found = self._names(name)
        if found is None:
            return "none"
        return (
            found
            if re.fullmatch(r"[\w.\[\]'\"]+", found) or self._kind() not in (".", "[", "(")
            else f"({found})"
        )

    def _postfix(self, made: str) -> str:
        piped = False
        while True:
            kind = self._kind()
            if kind == "." and self._kind(1) == "name" and self._kind(2) == "(":
                made = self._method(made)
                piped = True
            elif kind == ".":
                made = (f"({made})" if piped else made) + self._take() + self._take()
                piped = False
            elif kind == "[":
                made = (f"({made})" if piped else made) + self._take()
                made += self.everything("]") + self._take_closer("]")
                piped = False
            elif kind == "(":
                made += self._take() + self.everything(")") + self._take_closer(")")
            else:
                return made

    def _method(self, operand: str) -> str:
        self._take()
        name = self._take()
        self._take()
        arguments = []
        while self._kind() not in (")", END):
            arguments.append(self.everything(",", ")").strip())
            if self._kind() == ",":
                self._take()
        self._take_closer(")")
        write = METHODS.get(name)
        made = write(operand, arguments) if write is not None else None
        if made is None:
            raise NotTranslated(f"the method {name!r} has no counterpart among our filters")
        return made

    def _kind(self, ahead: int = 0) -> str:
        at = min(self._at + ahead, len(self._tokens.kinds) - 1)
        return self._tokens.kinds[at]

    def _texts(self) -> str:
        return self._tokens.texts[self._at]

    def _gap(self) -> str:
        if self._at == 0:
            return ""
        return self._source[self._tokens.ends[self._at - 1] : self._tokens.starts[self._at]]

    def _take(self) -> str:
        if self._kind() == END:
            return ""
        self._at += 1
        return self._tokens.texts[self._at - 1]

    def _take_closer(self, closer: str) -> str:
        if self._kind() != closer:
            raise NotTranslated(f"a bracket is not closed by {closer}")
        return self._take()
