"""Arithmetic on text, exact where it can be: fractions for + - * / and whole powers, 34 digits for the rest.

Every step is bounded before it is made, so that no text keeps the process busy: the length of the text, the depth of
its parentheses, and the size of each number.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from interlace.engine.errors import NodeError
from interlace.resources.tools.arithmetic import (
    CONSTANTS,
    CONTEXT,
    FUNCTIONS,
    PRODUCTS,
    Number,
    add,
    bad_expression,
    by_zero,
    divide,
    factorial,
    power,
    read_number,
    too_large,
)

MAX_LENGTH: Final = 2000
_MAX_DEPTH: Final = 60
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d{1,5})?)|(?P<name>[A-Za-z_πτ][\w]*)"
    r"|(?P<sign>\*\*|//|[-+*/%^!(),×÷−√]))"  # noqa: RUF001 - signs that people write
)
_SIGNS: Final = {"×": "*", "÷": "/", "−": "-", "^": "**", "√": "sqrt"}  # noqa: RUF001


def calculate(text: str, variables: Mapping[str, Number] | None = None) -> Number:
    """The value of an arithmetic expression.

    Raises:
        NodeError: `bad_expression` with the place, `division_by_zero`, `too_large`.
    """
    if len(text) > MAX_LENGTH:
        raise bad_expression(f"the expression has {len(text):,} characters; {MAX_LENGTH:,} are allowed")
    try:
        with decimal.localcontext(CONTEXT):
            return _Parser(text, variables or {}).value()
    except decimal.DivisionByZero:
        raise by_zero() from None
    except decimal.Overflow:
        raise too_large() from None
    except (decimal.InvalidOperation, ValueError):
        raise bad_expression(
            "a function has no value there, as the root or the logarithm of a negative number"
        ) from None


# -- text to value -----------------------------------------------------------------------------------------------------


class _Parser:
    """One walk over the text; values are made on the way."""

    def __init__(self, text: str, variables: Mapping[str, Number]) -> None:
        self._text = text
        self._variables = variables
        self._tokens = self._split()
        self._at = 0
        self._depth = 0

    def _split(self) -> list[tuple[str, str, int]]:
        tokens, position = [], 0
        while self._text[position:].strip():
            match = _TOKEN.match(self._text, position)
            if match is None:
                wrong = self._text[position:].lstrip()[0]
                hint = "; == and < belong into conditions" if wrong in "=<>" else ""
                raise bad_expression(f"{wrong!r} cannot stand in an expression{hint}")
            kind = str(match.lastgroup)
            tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        return [*tokens, ("end", "", len(self._text))]

    def value(self) -> Number:
        """The whole text."""
        if len(self._tokens) == 1:
            raise bad_expression("the expression is empty")
        value = self._sum()
        if self._tokens[self._at][0] != "end":
            raise self._unexpected()
        return value

    def _peek(self) -> str:
        kind, text, _ = self._tokens[self._at]
        return _SIGNS.get(text, text) if kind == "sign" else kind

    def _take(self) -> str:
        text = self._tokens[self._at][1]
        self._at += 1
        return _SIGNS.get(text, text)

    def _sum(self) -> Number:
        value = self._product()
        while self._peek() in ("+", "-"):
            sign = self._take()
            value = add(value, self._product(), -1 if sign == "-" else 1)
        return value

    def _product(self) -> Number:
        value = self._signed()
        while self._peek() in ("*", "/", "//", "%"):
            if self._is_percent():
                break
            value = PRODUCTS[self._take()](value, self._signed())
        return value

    def _signed(self) -> Number:
        negative = False
        while self._peek() in ("+", "-"):
            negative ^= self._take() == "-"
        value = self._power()
        return -value if negative else value

    def _power(self) -> Number:
        base = self._marked()
        if self._peek() != "**":
            return base
        self._take()
        self._deeper()
        value = power(base, self._signed())
        self._depth -= 1
        return value

    def _marked(self) -> Number:
        """A number with what stands behind it: `5!`, `15%`."""
        value = self._one()
        while True:
            if self._peek() == "!":
                self._take()
                value = factorial(value)
            elif self._is_percent():
                self._take()
                value = divide(value, Fraction(100))
            else:
                return value

    def _is_percent(self) -> bool:
        """Whether `%` is no remainder: nothing follows that could be divided by."""
        if self._peek() != "%":
            return False
        kind, text, _ = self._tokens[self._at + 1]
        return kind == "end" or text in (")", ",", "+", "-", "−", "*", "/", "×", "÷", "%", "//")  # noqa: RUF001

    def _one(self) -> Number:
        kind, text, place = self._tokens[self._at]
        if kind == "number":
            self._at += 1
            return read_number(text)
        if self._peek() == "(":
            self._take()
            return self._inside()
        if self._peek() == "sqrt":
            self._take()
            self._deeper()
            value = FUNCTIONS["sqrt"](self._one())
            self._depth -= 1
            return value
        if kind == "name":
            self._at += 1
            if self._peek() == "(":
                self._take()
                return self._call(text, place)
            return self._constant(text)
        raise self._unexpected()

    def _inside(self) -> Number:
        self._deeper()
        value = self._sum()
        self._depth -= 1
        self._close()
        return value

    def _close(self) -> None:
        if self._peek() != ")":
            raise self._unexpected("a parenthesis is not closed")
        self._take()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise bad_expression(f"the expression is nested more than {_MAX_DEPTH} levels deep")

    def _call(self, name: str, place: int) -> Number:
        function = FUNCTIONS.get(name.lower())
        if function is None:
            known = ", ".join(sorted(FUNCTIONS))
            raise bad_expression(f"there is no function {name!r} (character {place + 1}); there are {known}")
        self._deeper()
        arguments: list[Number] = []
        while self._peek() != ")":
            arguments.append(self._sum())
            if self._peek() != ",":
                break
            self._take()
        self._close()
        self._depth -= 1
        try:
            return function(*arguments)
        except TypeError:
            raise bad_expression(f"{name}() does not take {len(arguments)} numbers") from None

    def _constant(self, name: str) -> Number:
        if name in self._variables:
            return self._variables[name]
        found = CONSTANTS.get(name.lower())
        if found is None:
            known = ", ".join([*self._variables, *CONSTANTS])
            raise bad_expression(f"there is no value {name!r}; there are {known}")
        return found

    def _unexpected(self, why: str = "") -> NodeError:
        kind, text, place = self._tokens[self._at]
        what = (
            "the expression ends too early"
            if kind == "end"
            else f"{text!r} is not expected at character {place + 1}"
        )
        return bad_expression(f"{why}: {what}" if why else what)
