"""Parses Jinja's expression syntax into the tree: precedence climbing over a token list."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from interlace.engine.expressions.catalogue import (
    check_call_arguments,
    check_filter,
    check_filter_arguments,
    check_function,
    check_test,
    method_hint,
)
from interlace.engine.expressions.cursor import NO_LOCALS
from interlace.engine.expressions.displays import Displays
from interlace.engine.expressions.syntax import (
    MAX_DEPTH,
    Binary,
    Call,
    Comparison,
    Concat,
    Conditional,
    Filter,
    Item,
    Key,
    Literal,
    Local,
    Node,
    Path,
    Slice,
    SyntaxProblem,
    Test,
    Unary,
    depth,
)
from interlace.engine.expressions.tokens import END, Tokens, number_value, string_value

_OR, _AND, _NOT, _COMPARE, _ADD, _CONCAT, _MULTIPLY, _POWER = range(1, 9)
_BINARY: Final = {
    "or": _OR, "and": _AND,
    "==": _COMPARE, "!=": _COMPARE, "<": _COMPARE, "<=": _COMPARE, ">": _COMPARE, ">=": _COMPARE,
    "in": _COMPARE, "not": _COMPARE,
    "+": _ADD, "-": _ADD, "~": _CONCAT, "*": _MULTIPLY, "/": _MULTIPLY, "//": _MULTIPLY, "%": _MULTIPLY,
    "**": _POWER,
}  # fmt: skip
_CONSTANTS: Final = {"true": True, "True": True, "false": False, "False": False, "none": None, "None": None}
_ARGUMENT_STARTS: Final = frozenset({"name", "number", "string", "(", "[", "{"})
_POSTFIX: Final = frozenset({".", "[", "("})
# Below this many tokens no tree can be deeper than MAX_DEPTH.
_SHALLOW: Final = MAX_DEPTH - 2


def parse(source: str, tokens: Tokens, local: AbstractSet[str] = NO_LOCALS) -> Node:
    """Parse all tokens as one expression.

    Args:
        source: the whole text, for positions in messages.
        tokens: the tokens of the expression.
        local: names that the surrounding template binds.

    Raises:
        SyntaxProblem: the tokens are not one expression of the language.
    """
    parser = Parser(source, tokens, local)
    node = parser.expression()
    if parser.kind != END:
        parser.unexpected()
    return node


class Parser(Displays):
    """Reads expressions from the cursor; templates use it to read several in a row."""

    __slots__ = ()

    def expression(self) -> Node:
        """Parse one whole expression, inline if included."""
        outermost = self.level == 0
        self.deeper()
        node = self._binary(0)
        if self.kind == "if":
            node = self._conditional(node)
        self.level -= 1
        if outermost and self.at > _SHALLOW and depth(node) > MAX_DEPTH:
            raise SyntaxProblem(
                f"the expression is nested more than {MAX_DEPTH} levels deep", self.source, self.starts[0]
            )
        return node

    def without_condition(self) -> Node:
        """Parse an expression that may be followed by a template's own `if`."""
        self.deeper()
        node = self._binary(0)
        self.level -= 1
        if self.at > _SHALLOW and depth(node) > MAX_DEPTH:
            raise SyntaxProblem(
                f"the expression is nested more than {MAX_DEPTH} levels deep", self.source, self.starts[0]
            )
        return node

    def _conditional(self, then: Node) -> Node:
        self.advance()
        test = self._binary(0)
        otherwise = None
        if self.kind == "else":
            self.advance()
            otherwise = self.expression()
        return Conditional(test, then, otherwise, then.start, self.ends[self.at - 1])

    def _binary(self, above: int) -> Node:
        left = self._negated(above) if self.kind == "not" else self._unary()
        while (level := _BINARY.get(self.kind, 0)) > above:
            operator = self.kind
            if level == _COMPARE:
                left = self._comparison(left)
                continue
            self.advance()
            if level == _CONCAT:
                left = self._concat(left)
                continue
            right = self._binary(level)
            left = Binary(operator, left, right, left.start, right.end)
        return left

    def _negated(self, above: int) -> Node:
        if above > _NOT:
            self.unexpected()
        start = self.starts[self.at]
        self.deeper()
        self.advance()
        operand = self._binary(_NOT)
        self.level -= 1
        return Unary("not", operand, start, operand.end)

    def _concat(self, first: Node) -> Node:
        parts = [first, self._binary(_CONCAT)]
        while self.kind == "~":
            self.advance()
            parts.append(self._binary(_CONCAT))
        return Concat(tuple(parts), first.start, parts[-1].end)

    def _comparison(self, first: Node) -> Node:
        links: list[tuple[str, Node]] = []
        operand = first
        while _BINARY.get(self.kind) == _COMPARE:
            operator = self.kind
            self.advance()
            if operator == "not":
                self.expect("in")
                operator = "not in"
            operand = self._binary(_COMPARE)
            links.append((operator, operand))
        return Comparison(first, tuple(links), first.start, operand.end)

    def _unary(self) -> Node:
        kind = self.kind
        if kind in ("-", "+"):
            node = self._signed(kind)
        else:
            node = self._primary()
            if self.kind in _POSTFIX:
                node = self._postfix(node)
        while True:
            if self.kind == "|":
                node = self._filter(node)
            elif self.kind == "is":
                node = self._test(node)
            else:
                return node

    def _signed(self, sign: str) -> Node:
        start = self.starts[self.at]
        self.deeper()
        self.advance()
        operand = self._signed(self.kind) if self.kind in ("-", "+") else self._postfix(self._primary())
        self.level -= 1
        if isinstance(operand, Literal) and type(operand.value) in (int, float):
            return Literal(-operand.value if sign == "-" else operand.value, start, operand.end)
        return Unary(sign, operand, start, operand.end)

    def _primary(self) -> Node:  # noqa: PLR0911 - one case a kind of token
        at = self.at
        kind = self.kind
        start = self.starts[at]
        if kind == "name":
            return self._named(self.texts[at], start)
        if kind == "string":
            return self.string(start)
        if kind == "number":
            self.advance()
            return Literal(number_value(self.texts[at], self.source, start), start, self.ends[at])
        if kind == "(":
            return self.grouped(start)
        if kind == "[":
            self.advance()
            return self.display(self.items("]"), start)
        if kind == "{":
            return self.record(start)
        return self.unexpected()

    def _named(self, text: str, start: int) -> Node:
        """Parse a constant, or a name with the constant keys after it."""
        if text in _CONSTANTS:
            self.advance()
            return Literal(_CONSTANTS[text], start, self.ends[self.at - 1])
        kinds = self.kinds
        texts = self.texts
        at = self.at + 1
        keys: list[Key] = []
        while (kind := kinds[at]) == "." or kind == "[":
            if kind == ".":
                if not (text_key := texts[at + 1]).isidentifier():
                    break
                keys.append(text_key)
                at += 2
            elif kinds[at + 1] in ("string", "number") and kinds[at + 2] == "]":
                key = self._constant_key(at + 1)
                if key is None:
                    break
                keys.append(key)
                at += 3
            else:
                break
        self.at = at
        self.kind = kinds[at]
        kind_of_name = Local if text in self.local else Path
        return kind_of_name(text, tuple(keys), start, self.ends[at - 1])

    def _constant_key(self, at: int) -> Key | None:
        value: object
        if self.kinds[at] == "string":
            value = string_value(self.texts[at], self.source, self.starts[at])
        else:
            value = number_value(self.texts[at], self.source, self.starts[at])
        return value if isinstance(value, str | int) else None

    def _postfix(self, node: Node) -> Node:
        while self.kind in _POSTFIX:
            if self.kind == "(":
                node = self._call(node)
            elif self.kind == ".":
                node = self._attribute(node)
            else:
                node = self._subscript(node)
        return node

    def _attribute(self, node: Node) -> Node:
        self.advance()
        text = self.texts[self.at]
        key: Node
        if text.isidentifier():
            key = Literal(text, self.starts[self.at], self.ends[self.at])
        elif text.isdecimal() and text.isascii():
            key = Literal(
                number_value(text, self.source, self.starts[self.at]),
                self.starts[self.at],
                self.ends[self.at],
            )
        else:
            self.fail(f"expected a field's name {self.before()}; write other names as ['…']")
        self.advance()
        return extended(node, key, self.ends[self.at - 1])

    def _subscript(self, node: Node) -> Node:
        self.advance()
        first = None if self.kind == ":" else self.expression()
        if self.kind != ":":
            self.expect("]")
            assert first is not None
            return extended(node, first, self.ends[self.at - 1])
        self.advance()
        last = None if self.kind in (":", "]") else self.expression()
        step = None
        if self.kind == ":":
            self.advance()
            step = None if self.kind == "]" else self.expression()
        self.expect("]")
        return Slice(node, first, last, step, node.start, self.ends[self.at - 1])

    def _call(self, node: Node) -> Node:
        if isinstance(node, Path | Local) and not node.keys:
            name, is_local = node.root, isinstance(node, Local)
            if not is_local:
                check_function(name, self.source, node.start)
        elif isinstance(node, Local) and node.root == "loop" and node.keys in (("cycle",), ("changed",)):
            name, is_local = f"loop.{node.keys[0]}", True
        else:
            method = node.keys[-1] if isinstance(node, Path | Local) else ""
            raise SyntaxProblem(method_hint(method), self.source, node.start)
        arguments, options = self._arguments()
        if not is_local:
            check_call_arguments(name, arguments, options, self.source, node.start)
        return Call(name, arguments, options, is_local, node.start, self.ends[self.at - 1])

    def _arguments(self) -> tuple[tuple[Node, ...], tuple[tuple[str, Node], ...]]:
        self.expect("(")
        arguments: list[Node] = []
        options: list[tuple[str, Node]] = []
        while self.kind != ")":
            if self.kind == "name" and self.kinds[self.at + 1] == "=":
                key = self.name()
                self.advance()
                if any(key == other for other, _ in options):
                    self.fail(f"the argument {key!r} is given twice")
                options.append((key, self.expression()))
            elif options:
                self.fail("an argument without a name cannot follow one with a name")
            else:
                arguments.append(self.expression())
            if self.kind != ",":
                break
            self.advance()
        self.expect(")")
        return tuple(arguments), tuple(options)

    def filtered(self, name: str) -> Node:
        """Parse the filters of a `{% filter %}` block, as applied to a local value."""
        node: Node = Local(name, (), self.starts[self.at], self.starts[self.at])
        self.at -= 1
        while True:
            node = self._filter(node)
            if self.kind != "|":
                return node

    def _filter(self, operand: Node) -> Node:
        self.advance()
        at = self.at
        if self.kind != "name":
            self.unexpected()
        name = check_filter(self.name(), self.source, self.starts[at])
        arguments, options = self._arguments() if self.kind == "(" else ((), ())
        check_filter_arguments(name, arguments, options, self.source, self.starts[at])
        return Filter(operand, name, arguments, options, operand.start, self.ends[self.at - 1])

    def _test(self, operand: Node) -> Node:
        self.advance()
        negated = self.kind == "not"
        if negated:
            self.advance()
        at = self.at
        name = "in" if self.kind == "in" else self.texts[at]
        if self.kind not in ("name", "in"):
            self.fail(f"a test's name must follow 'is' {self.before()}")
        name = check_test(name, self.source, self.starts[at])
        self.advance()
        arguments: tuple[Node, ...] = ()
        if self.kind == "(":
            arguments, options = self._arguments()
            if options:
                self.fail("the arguments of a test have no names")
        elif self.kind in _ARGUMENT_STARTS:
            arguments = (self._postfix(self._primary()),)
        end = self.ends[self.at - 1]
        node: Node = Test(operand, name, arguments, operand.start, end)
        return Unary("not", node, operand.start, end) if negated else node


def extended(base: Node, key: Node, end: int) -> Node:
    """Give `base[key]`: a path where base is one and the key is constant."""
    if isinstance(base, Path | Local) and isinstance(key, Literal):
        value = key.value
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return type(base)(base.root, (*base.keys, value), base.start, end)
    return Item(base, key, base.start, end)
