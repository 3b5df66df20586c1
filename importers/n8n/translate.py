"""From the tree of a JavaScript expression to our language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from interlace.importers import expressions
from interlace.importers.expressions import constant, grouped, is_valid
from interlace.importers.javascript import NotJavaScript, parse
from interlace.importers.javascript.syntax import (
    Array,
    Arrow,
    Binary,
    Call,
    Const,
    Js,
    Member,
    Name,
    Pattern,
    Record,
    Spread,
    Template,
    Ternary,
    Unary,
)
from interlace.importers.n8n import dates, lambdas, nodes_read
from interlace.importers.n8n.functions import FUNCTIONS, NAMES
from interlace.importers.n8n.methods import METHODS, PROPERTIES
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.values import NOTHING, NotTranslated, Value, record
from interlace.importers.neat import neat

_COMPARISONS: Final = {
    "==": "==",
    "===": "==",
    "!=": "!=",
    "!==": "!=",
    "<": "<",
    ">": ">",
    "<=": "<=",
    ">=": ">=",
}
_ARITHMETIC: Final = frozenset({"-", "*", "/", "%", "**"})
_KINDS: Final = {
    "text": "string",
    "number": "number",
    "bool": "boolean",
    "list": "object",
    "object": "object",
}


def translate(source: str, scope: Scope) -> Value:
    """An expression of n8n as one of ours.

    Raises:
        NotTranslated: it cannot be read, or has no counterpart.
    """
    try:
        made = Translator(scope).value(parse(source))
    except NotJavaScript as error:
        raise NotTranslated(str(error)) from None
    except RecursionError:
        raise NotTranslated("it is nested too deep") from None
    if made.kind in ("node", "global", "arrow", "pattern"):
        raise NotTranslated("it is no value")
    if made.kind == "item":
        made = record({"json": made.get("json")})
    if not is_valid(made.code):
        raise NotTranslated("our language does not read the result")
    return Value(neat(made.code), made.kind, made.fields, made.base)


def failing(source: str, why: str) -> str:
    """An expression that fails, whatever is around it, and says what it stands for."""
    return expressions.failing(f"an expression of n8n that was not translated ({why}): {source.strip()}")


class Translator:
    """Translates one expression in one scope."""

    def __init__(self, scope: Scope, names: Mapping[str, Value] | None = None) -> None:
        self.scope = scope
        self.names = dict(names or {})
        """Names that the program itself gives, with what they stand for."""

    def value(self, js: Js) -> Value:
        """A part of the tree."""
        return _TRANSLATE[type(js)](self, js)

    def const(self, js: Js) -> Value:
        """A constant."""
        assert isinstance(js, Const)
        kinds = {str: "text", bool: "bool", int: "number", float: "number"}
        return Value(constant(js.value), kinds.get(type(js.value), "any"))  # type: ignore[arg-type]

    def pattern(self, js: Js) -> Value:
        """A regular expression."""
        assert isinstance(js, Pattern)
        flags = "".join(flag for flag in js.flags if flag in "ims")
        return Value(
            constant(f"(?{flags}){js.source}" if flags else js.source),
            "pattern",
            {"g": Value(str("g" in js.flags))},
        )

    def name(self, js: Js) -> Value:
        """A name."""
        assert isinstance(js, Name)
        if js.name in self.names:
            return self.names[js.name]
        found = NAMES.get(js.name)
        if found is not None:
            return found(self.scope)
        if js.name in FUNCTIONS or js.name in (
            "Math",
            "JSON",
            "Object",
            "Array",
            "Number",
            "String",
            "Boolean",
            "Date",
            "DateTime",
        ):
            return Value(js.name, "global")
        raise NotTranslated(f"the name {js.name!r}")

    def template(self, js: Js) -> Value:
        """A template literal."""
        assert isinstance(js, Template)
        return self.joined([self.value(part) for part in js.parts])

    def joined(self, parts: list[Value]) -> Value:
        """Texts joined."""
        if not parts:
            return Value("''", "text")
        if len(parts) == 1 and parts[0].kind != "text":
            return Value(f"{grouped(parts[0].code)} | string", "text")
        return Value(" ~ ".join(_operand(part.code) for part in parts), "text")

    def member(self, js: Js) -> Value:  # noqa: C901, PLR0911 - one return a case
        """A field."""
        assert isinstance(js, Member)
        base = self.value(js.base)
        if not isinstance(js.key, Const):
            return self._computed(base, js.key)
        key = js.key.value
        named = self._by_name(base, key)
        if named is not None:
            return named
        if base.kind == "node":
            return nodes_read.member(base, key, self.scope)
        if base.kind == "item":
            return base.get(key) if key == "json" else self._binary(key)
        if base.kind == "items" and isinstance(key, int):
            return Value("", "item", {"json": nodes_read.numbered(base, key)})
        if base.kind == "global":
            return (
                FUNCTIONS[base.code, key](self, ())
                if (base.code, key) in FUNCTIONS
                else _unknown(f"{base.code}.{key}")
            )
        if base.kind == "date" and isinstance(key, str):
            return dates.member(base, key)
        if base.code == NOTHING.code:
            return base
        if isinstance(key, str) and key in PROPERTIES and not (base.fields and key in base.fields):
            return PROPERTIES[key](base)
        if isinstance(key, int | str) and not isinstance(key, bool):
            return base.get(key)
        return _unknown("such a key")

    def _by_name(self, base: Value, key: object) -> Value | None:
        """A node of `$node`, a setting of `$env`."""
        if base.code == "$node" and base.kind == "global":
            return nodes_read.node(str(key))
        return self.scope.environment(key) if base.code == "env" and isinstance(key, str) else None

    def _binary(self, key: object) -> Value:
        return _unknown(f"{key} of an item")

    def _computed(self, base: Value, key: Js) -> Value:
        if base.kind == "items":
            return Value("", "item", {"json": Value(f"{grouped(base.code)}[{self.value(key).code}]")})
        if base.kind in ("node", "global", "item"):
            return _unknown("a computed key")
        return Value(f"{grouped(base.code)}[{self.value(key).code}]")

    def call(self, js: Js) -> Value:
        """A call."""
        assert isinstance(js, Call)
        if js.new:
            return dates.constructed(js, self.value)
        if isinstance(js.callee, Name):
            found = FUNCTIONS.get(js.callee.name)
            return (
                found(self, js.arguments)
                if found is not None
                else _unknown(f"the function {js.callee.name!r}")
            )
        if not isinstance(js.callee, Member) or not isinstance(js.callee.key, Const):
            return _unknown("a computed function")
        return self._method(js.callee.base, str(js.callee.key.value), js.arguments)

    def _method(self, owner: Js, name: str, arguments: tuple[Js, ...]) -> Value:  # noqa: PLR0911 - one return a case
        base = self.value(owner)
        if base.code == "none" and base.kind == "any":
            raise NotTranslated("a method of a field that the item does not have")
        if base.kind == "global":
            found = FUNCTIONS.get((base.code, name))
            return found(self, arguments) if found is not None else _unknown(f"{base.code}.{name}")
        if base.kind == "node":
            return nodes_read.method(base, name, [self.value(one) for one in arguments], self.scope)
        if base.kind == "items" and name in ("first", "last"):
            return Value("", "item", {"json": Value(f"({grouped(base.code)} | {name})")})
        if arguments and isinstance(arguments[0], Arrow):
            return lambdas.apply(base, name, arguments, self)
        if base.kind == "date" or name in dates.ONLY_DATES:
            made = dates.method(base, name, [self._argument(one) for one in arguments])
            if made is not None:
                return made
        method = METHODS.get(name)
        if method is None:
            return _unknown(f"the method {name!r}")
        made = method(base, [self._argument(one) for one in arguments])
        return made if made is not None else _unknown(f"the method {name!r} with these arguments")

    def _argument(self, js: Js) -> Value:
        return self.value(js)

    def unary(self, js: Js) -> Value:
        """One operand."""
        assert isinstance(js, Unary)
        operand = self.value(js.operand)
        if js.operator == "!":
            if isinstance(js.operand, Unary) and js.operand.operator == "!":
                return Value(f"{grouped(self.value(js.operand.operand).code)} | bool", "bool")
            return Value(f"not {_operand(operand.code)}", "bool")
        if js.operator == "-":
            return Value(f"-{_operand(operand.code)}", "number")
        if js.operator == "+":
            return Value(f"{grouped(operand.code)} | number", "number")
        known = _KINDS.get(operand.kind)
        return (
            Value(constant(known), "text") if known else _unknown("typeof of a value whose type is not known")
        )

    def binary(self, js: Js) -> Value:  # noqa: PLR0911 - one return a case
        """Two operands."""
        assert isinstance(js, Binary)
        if js.operator == "+":
            return self._plus(js)
        typed = lambdas.type_test(js, self.value)
        if typed is not None:
            return typed
        left, right = self.value(js.left), self.value(js.right)
        if js.operator == "??":
            return Value(
                f"{grouped(left.code)} | default({right.code})",
                right.kind if left.kind == "any" else left.kind,
            )
        if js.operator == "||" and right.code == "none":
            return left
        if js.operator in ("||", "&&"):
            word = "or" if js.operator == "||" else "and"
            kind = left.kind if left.kind == right.kind else "any"
            return Value(f"{_operand(left.code)} {word} {_operand(right.code)}", kind)
        if js.operator in _COMPARISONS:
            return Value(f"{_operand(left.code)} {_COMPARISONS[js.operator]} {_operand(right.code)}", "bool")
        if js.operator in _ARITHMETIC and NOTHING.code in (left.code, right.code):
            raise NotTranslated("arithmetic with a field that the item does not have")
        if js.operator in _ARITHMETIC:
            return Value(f"{_operand(left.code)} {js.operator} {_operand(right.code)}", "number")
        if js.operator == "in":
            return Value(f"{_operand(left.code)} in {_operand(right.code)}", "bool")
        return _unknown(f"the operator {js.operator!r}")

    def _plus(self, js: Binary) -> Value:
        left, right = self.value(js.left), self.value(js.right)
        if "text" in (left.kind, right.kind) or "date" in (left.kind, right.kind):
            return Value(f"{_tilde(left)} ~ {_tilde(right)}", "text")
        kind = "number" if left.kind == right.kind == "number" else "any"
        return Value(f"{_operand(left.code)} + {_operand(right.code)}", kind)  # type: ignore[arg-type]

    def ternary(self, js: Js) -> Value:
        """A choice."""
        assert isinstance(js, Ternary)
        test, then, otherwise = self.value(js.test), self.value(js.then), self.value(js.otherwise)
        kind = then.kind if then.kind == otherwise.kind else "any"
        return Value(f"{_operand(then.code)} if {test.code} else {_operand(otherwise.code)}", kind)

    def array(self, js: Js) -> Value:
        """A list."""
        assert isinstance(js, Array)
        if not any(isinstance(item, Spread) for item in js.items):
            return Value(f"[{', '.join(self.value(item).code for item in js.items)}]", "list")
        parts = [
            grouped(self.value(item.value).code) if isinstance(item, Spread) else f"[{self.value(item).code}]"
            for item in js.items
        ]
        return Value(" + ".join(parts), "list")

    def record(self, js: Js) -> Value:
        """An object."""
        assert isinstance(js, Record)
        made: Value | None = None
        fields: dict[str, Value] = {}
        for key, part in js.pairs:
            if key is None:
                spread = self.value(part)
                made = spread if made is None and not fields else record({}, _combined(made, fields, spread))
                fields = {}
            elif isinstance(key, Const):
                fields[str(key.value)] = self.value(part)
            else:
                return _unknown("a computed key")
        return record(fields, made)

    def spread(self, js: Js) -> Value:
        """`…x`, where it has no place."""
        del js
        return _unknown("`…` here")

    def arrow(self, js: Js) -> Value:
        """A function, where it has no place."""
        del js
        return _unknown("a function as a value")


def _combined(base: Value | None, fields: dict[str, Value], other: Value) -> Value:
    before = record(fields, base)
    return Value(f"{grouped(before.code)} | combine({other.code})", "object")


def _operand(code: str) -> str:
    return grouped(code)


def _tilde(value: Value) -> str:
    plain = (
        value.kind == "text"
        and " ~ " in value.code
        and not any(mark in value.code for mark in (" if ", "|", "("))
    )
    return value.code if plain else grouped(value.code)


def _unknown(what: str) -> Value:
    raise NotTranslated(what)


_TRANSLATE: Final[dict[type, Callable[[Translator, Js], Value]]] = {
    Const: Translator.const, Pattern: Translator.pattern, Name: Translator.name, Template: Translator.template,
    Member: Translator.member, Call: Translator.call, Unary: Translator.unary, Binary: Translator.binary,
    Ternary: Translator.ternary, Array: Translator.array, Record: Translator.record, Spread: Translator.spread,
    Arrow: Translator.arrow,
}  # fmt: skip
