"""JavaScript expressions as Python expressions, with what is known of their type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from interlace.importers.javascript.python.calls import call, chained
from interlace.importers.javascript.python.known import CONSTANTS, FUNCTIONS, NAMES
from interlace.importers.javascript.python.patterns import python_pattern
from interlace.importers.javascript.python.scopes import NotPython, Scope
from interlace.importers.javascript.syntax import (
    Array,
    Assign,
    Await,
    Binary,
    Call,
    Const,
    Delete,
    Function,
    Js,
    Member,
    Name,
    Pattern,
    Record,
    Spread,
    Template,
    Ternary,
    Unary,
    Update,
)


class Code(NamedTuple):
    """A Python expression; `kind` is text, number, bool, list, object, or any."""

    text: str
    kind: str = "any"


class Host(Protocol):
    """What the product gives to its programs: names and functions that are not JavaScript's own."""

    def value(self, js: Js, writer: Writer) -> Code | None:
        """What an expression stands for, None where it is none of the product's."""


_COMPARISONS: Final = frozenset({"<", ">", "<=", ">="})
_EQUALITY: Final = frozenset({"===", "!==", "==", "!="})


@dataclass(slots=True)
class Writer:
    """Writes the expressions of one function. `before` takes functions that have to stand before the statement."""

    scope: Scope
    host: Host
    function: Callable[[Function, Writer], Code]
    before: list[str] = field(default_factory=list)

    def value(self, js: Js) -> Code:
        """The expression.

        Raises:
            NotPython: it has no certain counterpart.
        """
        found = self.host.value(js, self)
        return found if found is not None else _WRITE[type(js)](self, js)

    def text(self, js: Js) -> str:
        """The expression's text."""
        return self.value(js).text

    def truth(self, js: Js) -> str:
        """The expression where only its truth counts."""
        if isinstance(js, Binary) and js.operator in ("&&", "||"):
            word = "and" if js.operator == "&&" else "or"
            return f"({self.truth(js.left)} {word} {self.truth(js.right)})"
        if isinstance(js, Unary) and js.operator == "!":
            return f"(not {self.truth(js.operand)})"
        made = self.value(js)
        return made.text if made.kind == "bool" else f"js_truthy({made.text})"

    def is_safe(self, js: Js) -> bool:
        """Whether the expression can be evaluated without need: it changes nothing and cannot fail."""
        if isinstance(js, Const | Name) or (isinstance(js, Array | Record) and js in (Array(()), Record(()))):
            return True
        return (
            isinstance(js, Binary)
            and js.operator in ("||", "??")
            and self.is_safe(js.left)
            and self.is_safe(js.right)
        )

    # -- the kinds -----------------------------------------------------------------------------------------------------

    def const(self, js: Const) -> Code:
        """A constant."""
        kinds = {str: "text", bool: "bool", int: "number", float: "number"}
        return Code(repr(js.value), kinds.get(type(js.value), "any"))

    def name(self, js: Name) -> Code:
        """A name of the program, or one of JavaScript's own."""
        found = self.scope.find(js.name)
        if found is not None:
            return Code(found[0], found[1].kinds.get(found[0], "any"))
        if js.name in NAMES:
            return Code(*NAMES[js.name])
        if js.name in FUNCTIONS:
            return Code(FUNCTIONS[js.name].name, "function")
        raise NotPython(f"the name {js.name!r}")

    def pattern(self, js: Pattern) -> Code:
        """A regular expression."""
        return Code(f"Expression({python_pattern(js.source, js.flags)!r}, {js.flags!r})", "pattern")

    def template(self, js: Template) -> Code:
        """A template literal."""
        return Code(f"js_template({', '.join(self.text(part) for part in js.parts)})", "text")

    def member(self, js: Member) -> Code:
        """A field; with `?.` on the way to it nothing where something on the way is missing."""
        if isinstance(js.base, Name) and isinstance(js.key, Const) and self.scope.find(js.base.name) is None:
            known = CONSTANTS.get((js.base.name, str(js.key.value)))
            if known is not None:
                return Code(known, "number")
        return chained(js, self)

    def call(self, js: Call) -> Code:
        """A call."""
        return call(js, self)

    def unary(self, js: Unary) -> Code:
        """One operand."""
        if js.operator == "!":
            return Code(self.truth(js), "bool")
        if js.operator == "typeof":
            undeclared = (
                isinstance(js.operand, Name)
                and self.scope.find(js.operand.name) is None
                and js.operand.name not in NAMES
            )
            if undeclared and self.host.value(js.operand, self) is None:
                return Code("'undefined'", "text")
            return Code(f"js_type({self.text(js.operand)})", "text")
        operand = self.value(js.operand)
        number = operand.text if operand.kind == "number" else f"js_number({operand.text})"
        return Code(f"(-{number})" if js.operator == "-" else number, "number")

    def binary(self, js: Binary) -> Code:
        """Two operands."""
        if js.operator in ("&&", "||", "??"):
            return self._choice(js)
        if js.operator in _EQUALITY:
            return Code(self._equality(js), "bool")
        left, right = self.value(js.left), self.value(js.right)
        numbers = left.kind == right.kind == "number"
        if js.operator in _COMPARISONS:
            simple = numbers or left.kind == right.kind == "text"
            code = (
                f"({left.text} {js.operator} {right.text})"
                if simple
                else f"js_compare({left.text}, {js.operator!r}, {right.text})"
            )
            return Code(code, "bool")
        if js.operator == "in":
            return Code(f"js_in({left.text}, {right.text})", "bool")
        if js.operator == "instanceof":
            raise NotPython("`instanceof`")
        return self.arithmetic(left, js.operator, right)

    def arithmetic(self, left: Code, operator: str, right: Code) -> Code:
        """A sum, product and so on."""
        numbers = left.kind == right.kind == "number"
        if operator == "+":
            if numbers or left.kind == right.kind == "text":
                return Code(f"({left.text} + {right.text})", left.kind)
            return Code(
                f"js_add({left.text}, {right.text})", "text" if "text" in (left.kind, right.kind) else "any"
            )
        named = {"/": "js_divide", "%": "js_remainder", "**": "js_power"}.get(operator)
        if named is not None:
            return Code(f"{named}({left.text}, {right.text})", "number")
        if operator not in ("-", "*"):
            raise NotPython(f"the operator {operator!r}")
        parts = [one.text if one.kind == "number" else f"js_number({one.text})" for one in (left, right)]
        return Code(f"({parts[0]} {operator} {parts[1]})", "number")

    def _equality(self, js: Binary) -> str:
        negated, strict = js.operator.startswith("!"), len(js.operator) == 3  # noqa: PLR2004 - `===`
        for one, other in ((js.left, js.right), (js.right, js.left)):
            missing = (isinstance(other, Const) and other.value is None) or other == Name("undefined")
            if missing and strict:
                word = "None" if isinstance(other, Const) else "undefined"
                return f"({self.text(one)} is {'not ' if negated else ''}{word})"
            if missing:
                return f"({'not ' if negated else ''}js_missing({self.text(one)}))"
        left, right = self.value(js.left), self.value(js.right)
        if "text" in (left.kind, right.kind) and (strict or left.kind == right.kind):
            return f"({left.text} {'!=' if negated else '=='} {right.text})"
        if left.kind == right.kind == "number":
            return f"({left.text} {'!=' if negated else '=='} {right.text})"
        return (
            f"({'not ' if negated else ''}{'js_same' if strict else 'js_equal'}({left.text}, {right.text}))"
        )

    def _choice(self, js: Binary) -> Code:
        left = self.value(js.left)
        if js.operator == "&&" and left.kind == "bool":
            right = self.value(js.right)
            return Code(f"({left.text} and {right.text})", "bool" if right.kind == "bool" else "any")
        named = {"||": "js_either", "??": "js_present"}.get(js.operator)
        if named is not None and self.is_safe(js.right):
            right = self.value(js.right)
            longer = (
                isinstance(js.left, Binary)
                and js.left.operator == js.operator
                and left.text.startswith(f"{named}(")
            )
            code = f"{left.text[:-1]}, {right.text})" if longer else f"{named}({left.text}, {right.text})"
            return Code(code, left.kind if left.kind == right.kind else "any")
        held, right = self.scope.fresh("held"), self.value(js.right)
        test = (
            f"js_missing({held} := {left.text})"
            if js.operator == "??"
            else f"js_truthy({held} := {left.text})"
        )
        then, otherwise = (held, right.text) if js.operator == "||" else (right.text, held)
        return Code(f"({then} if {test} else {otherwise})", left.kind if left.kind == right.kind else "any")

    def ternary(self, js: Ternary) -> Code:
        """A choice."""
        then, otherwise = self.value(js.then), self.value(js.otherwise)
        return Code(
            f"({then.text} if {self.truth(js.test)} else {otherwise.text})",
            then.kind if then.kind == otherwise.kind else "any",
        )

    def array(self, js: Array) -> Code:
        """A list."""
        return Code(f"[{', '.join(self.entry(item) for item in js.items)}]", "list")

    def entry(self, js: Js) -> str:
        """An entry of a list, or an argument of a call."""
        return f"*js_iterate({self.text(js.value)})" if isinstance(js, Spread) else self.text(js)

    def record(self, js: Record) -> Code:
        """An object."""
        made = []
        for key, part in js.pairs:
            if key is None:
                made.append(f"**js_spread({self.text(part)})")
            elif isinstance(key, Const):
                made.append(f"{str(key.value)!r}: {self.text(part)}")
            else:
                made.append(f"js_text({self.text(key)}): {self.text(part)}")
        return Code("{" + ", ".join(made) + "}", "object")

    def written_function(self, js: Function) -> Code:
        """A function."""
        return self.function(js, self)

    def awaited(self, js: Await) -> Code:
        """`await`: nothing here takes time."""
        return self.value(js.value)

    def assign(self, js: Assign) -> Code:
        """An assignment whose value is used: to a name of this function, or to a field."""
        if js.operator in ("??", "||", "&&"):
            raise NotPython("an assignment inside an expression")
        value = self.value(js.value)
        if js.operator:
            value = self.arithmetic(self.value(js.target), js.operator, value)
        if isinstance(js.target, Member) and not js.target.optional:
            return Code(
                f"js_put({self.text(js.target.base)}, {self.text(js.target.key)}, {value.text})", value.kind
            )
        found = self.scope.find(js.target.name) if isinstance(js.target, Name) else None
        if found is None or found[1] is not self.scope:
            raise NotPython("an assignment inside an expression")
        return Code(f"({found[0]} := {value.text})", value.kind)

    def refused(self, js: Update | Delete | Spread) -> Code:
        """What is a statement only."""
        raise NotPython(f"`{type(js).__name__.lower()}` inside an expression")


_WRITE: Final[dict[type, Callable[..., Code]]] = {
    Const: Writer.const, Name: Writer.name, Pattern: Writer.pattern, Template: Writer.template, Member: Writer.member, Call: Writer.call,
    Unary: Writer.unary, Binary: Writer.binary, Ternary: Writer.ternary, Array: Writer.array, Record: Writer.record, Spread: Writer.refused,
    Function: Writer.written_function, Await: Writer.awaited, Assign: Writer.assign, Update: Writer.refused, Delete: Writer.refused,
}  # fmt: skip
