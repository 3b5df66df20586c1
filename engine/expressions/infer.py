"""Infers the type of an expression from the types of the names it reads, and reports what cannot work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field as default_field
from typing import Any, Final
from typing import Literal as OneOf

from interlace.engine.expressions.compiled import Compiled
from interlace.engine.expressions.infer_filters import FIELD_ARGUMENTS, INPUTS, RESULTS, RESULTS_BY_INPUT
from interlace.engine.expressions.infer_operators import (
    arithmetic,
    equality_problem,
    membership_problem,
    order_problem,
)
from interlace.engine.expressions.references import Reference, references
from interlace.engine.expressions.syntax import (
    Binary,
    Call,
    Comparison,
    Concat,
    Conditional,
    Embedded,
    Filter,
    Item,
    Key,
    Literal,
    Local,
    Node,
    Path,
    Record,
    Sequence,
    Slice,
    Test,
    Unary,
)
from interlace.engine.expressions.unparse import path_text
from interlace.engine.schema import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    STRING,
    UNKNOWN,
    Absent,
    Schema,
    described,
    field,
    kinds,
    of_value,
    union,
    without_null,
)

_RESERVED: Final = frozenset({"inputs", "vars", "env", "secrets", "run", "trigger", "item", "index", "loop"})
_ERROR: Final[Schema] = {
    "type": ["object", "null"],
    "properties": {
        "type": STRING,
        "message": STRING,
        "node": STRING,
        "path": STRING,
        "attempt": INTEGER,
        "retryable": BOOLEAN,
    },
    "additionalProperties": True,
}


@dataclass(slots=True)
class Finding:
    """Something in an expression that cannot work, or surely is not meant.

    `code`: unknown_field, wrong_type or bad_comparison. `span` gives offsets in the source; for a structure `place` is
    the path to the text and the span counts in that text.
    """

    code: str
    message: str
    span: tuple[int, int]
    severity: OneOf["error", "warning"] = "error"
    place: tuple[Key, ...] = ()


@dataclass(slots=True)
class Inferred:
    """The type of an expression, and what was found on the way."""

    schema: Schema
    findings: list[Finding] = default_field(default_factory=list)


def infer(compiled: Compiled, lookup: Callable[[str], Schema | None]) -> Inferred:
    """Infer the type of a compiled expression.

    Args:
        compiled: the expression.
        lookup: gives the type of a name; None or `{}` where nothing is known.
    """
    inference = _Inference(lookup)
    schema = inference.of(compiled.node)
    if inference.findings:
        _soften([finding for finding in inference.findings if not finding.place], compiled.references)
    return Inferred(schema, inference.findings)


def _soften(findings: list[Finding], found: tuple[Reference, ...]) -> None:
    """A field that is not there is only a warning where the expression copes with its absence."""
    guarded = {reference.span for reference in found if reference.guarded}
    for finding in findings:
        if finding.code == "unknown_field" and finding.span in guarded:
            finding.severity = "warning"


class _Inference:
    """One walk over a tree."""

    __slots__ = ("findings", "lookup", "place")

    def __init__(self, lookup: Callable[[str], Schema | None]) -> None:
        self.lookup = lookup
        self.findings: list[Finding] = []
        self.place: tuple[Key, ...] = ()

    def of(self, node: Node) -> Schema:
        """Give the type of a tree."""
        return _RULES[node.__class__](self, node)

    def report(
        self, code: str, message: str, node: Node, severity: OneOf["error", "warning"] = "error"
    ) -> None:
        """Note a finding at a node."""
        self.findings.append(Finding(code, message, (node.start, node.end), severity, self.place))

    def literal(self, node: Literal) -> Schema:
        return of_value(node.value)

    def local(self, node: Local) -> Schema:  # noqa: ARG002 - every rule has the same shape
        return UNKNOWN

    def path(self, node: Path) -> Schema:
        schema = self.lookup(node.root)
        if schema is None:
            return UNKNOWN
        keys = node.keys
        for index, key in enumerate(keys):
            found = field(schema, key)
            if isinstance(found, Absent):
                if index == 0 and key == "error" and node.root not in _RESERVED:
                    found = _ERROR
                else:
                    self._absent(node, index, found)
                    return UNKNOWN
            schema = found
        return schema

    def _absent(self, node: Path, index: int, absent: Absent) -> None:
        owner = path_text(node.root, node.keys[:index])
        self.report(
            "unknown_field",
            f"`{path_text(node.root, node.keys)}`: {absence(owner, node.keys[index], absent)}",
            node,
        )

    def item(self, node: Item) -> Schema:
        base = self.of(node.base)
        self.of(node.key)
        key: Any = node.key.value if isinstance(node.key, Literal) else None
        found = field(base, key if isinstance(key, str | int) else None)
        if isinstance(found, Absent):
            if key is not None:
                self.report("unknown_field", absence("the value", key, found), node)
            return UNKNOWN
        return found

    def slice(self, node: Slice) -> Schema:
        base = self.of(node.base)
        for part in (node.first, node.last, node.step):
            if part is not None:
                self.of(part)
        possible = kinds(base)
        if not possible & {"array", "string"}:
            self.report("wrong_type", f"only a text or a list can be sliced, not {described(base)}", node)
        return STRING if possible == {"string"} else base if possible == {"array"} else UNKNOWN

    def sequence(self, node: Sequence) -> Schema:
        return {"type": "array", "items": union([self.of(item) for item in node.items])}

    def record(self, node: Record) -> Schema:
        fields: dict[str, Schema] = {}
        closed = True
        for key, value in node.pairs:
            schema = self.of(value)
            if isinstance(key, Literal):
                fields[str(key.value)] = schema
            else:
                self.of(key)
                closed = False
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": not closed,
        }

    def unary(self, node: Unary) -> Schema:
        operand = self.of(node.operand)
        if node.operator == "not":
            return BOOLEAN
        if not kinds(operand) & {"integer", "number"}:
            self.report("wrong_type", f"'{node.operator}' takes a number, not {described(operand)}", node)
        return INTEGER if kinds(operand) == {"integer"} else {"type": "number"}

    def binary(self, node: Binary) -> Schema:
        left, right = self.of(node.left), self.of(node.right)
        if node.operator == "or":
            return union([without_null(left), right])
        if node.operator == "and":
            return BOOLEAN if kinds(left) == kinds(right) == {"boolean"} else union([left, right])
        schema, problem = arithmetic(node.operator, left, right)
        if problem:
            self.report("wrong_type", problem, node)
        return schema

    def concat(self, node: Concat) -> Schema:
        for part in node.parts:
            self.of(part)
        return STRING

    def comparison(self, node: Comparison) -> Schema:
        left = self.of(node.first)
        for operator, operand in node.links:
            right = self.of(operand)
            if operator in ("==", "!="):
                problem = equality_problem(left, right)
                if problem:
                    self.report("bad_comparison", problem, node, "warning")
            else:
                check = membership_problem if operator in ("in", "not in") else order_problem
                problem = check(operator, left, right)
                if problem:
                    self.report("bad_comparison", problem, node)
            left = right
        return BOOLEAN

    def conditional(self, node: Conditional) -> Schema:
        self.of(node.test)
        then = self.of(node.then)
        return then if node.otherwise is None else union([then, self.of(node.otherwise)])

    def test(self, node: Test) -> Schema:
        self.of(node.operand)
        for argument in node.arguments:
            self.of(argument)
        return BOOLEAN

    def call(self, node: Call) -> Schema:
        options = {name: self.of(value) for name, value in node.options}
        for argument in node.arguments:
            self.of(argument)
        if node.local:
            return UNKNOWN
        if node.name == "range":
            return {"type": "array", "items": INTEGER}
        return (
            STRING
            if node.name == "now"
            else {"type": "object", "properties": options, "additionalProperties": True}
        )

    def filter(self, node: Filter) -> Schema:
        operand = self.of(node.operand)
        arguments = [self.of(argument) for argument in node.arguments]
        options = {name: self.of(value) for name, value in node.options}
        name = node.name
        if name == "default":
            fallback = arguments[0] if arguments else options.get("default", STRING)
            return union([without_null(operand), fallback])
        accepted = INPUTS.get(name)
        if accepted is not None and not kinds(operand) & accepted:
            self.report("wrong_type", f"the filter {name!r} cannot take {described(operand)}", node)
            return UNKNOWN
        result = RESULTS.get(name)
        if result is not None:
            self._field_argument(node, operand)
            return result
        if name == "map":
            return self._map(node, operand)
        self._field_argument(node, operand)
        rule = RESULTS_BY_INPUT.get(name)
        return rule(operand, node, arguments) if rule is not None else UNKNOWN

    def _map(self, node: Filter, operand: Schema) -> Schema:
        attribute = next((value for name, value in node.options if name == "attribute"), None)
        if attribute is None:
            first = node.arguments[0] if node.arguments else None
            inner = (
                RESULTS.get(first.value)
                if isinstance(first, Literal) and isinstance(first.value, str)
                else None
            )
            return {"type": "array", "items": inner} if inner else ARRAY
        safe = any(name == "default" for name, _ in node.options)
        found = self._attribute(node, operand, attribute, safe=safe)
        return ARRAY if safe or not found else {"type": "array", "items": found}

    def _field_argument(self, node: Filter, operand: Schema) -> None:
        """Check the name of a field that a filter such as `selectattr` or `sum(attribute=…)` reads."""
        position = FIELD_ARGUMENTS.get(node.name)
        if position is None:
            return
        named = next((value for name, value in node.options if name == "attribute"), None)
        if named is None and position < len(node.arguments):
            named = node.arguments[position]
        if named is not None:
            self._attribute(node, operand, named, safe=node.name in ("selectattr", "rejectattr"))

    def _attribute(self, node: Filter, operand: Schema, attribute: Node, *, safe: bool) -> Schema:
        if not isinstance(attribute, Literal) or not isinstance(attribute.value, str):
            return UNKNOWN
        if kinds(operand) != {"array"}:
            return UNKNOWN
        items = field(operand, None)
        schema: Schema = items if not isinstance(items, Absent) else UNKNOWN
        for key in attribute.value.split("."):
            found = field(schema, int(key) if key.isdecimal() else key)
            if isinstance(found, Absent):
                message = absence("an item", key, found)
                self.report("unknown_field", message, node, "warning" if safe else "error")
                return UNKNOWN
            schema = found
        return schema

    def embedded(self, node: Embedded) -> Schema:
        before = len(self.findings)
        self.place = node.place
        schema = self.of(node.node)
        self.place = ()
        if len(self.findings) > before:
            _soften(self.findings[before:], references(node.node))
        return schema


def absence(owner: str, key: str | int, absent: Absent) -> str:
    """Say that a value has no such field, and which one was perhaps meant."""
    if absent.kind is not None:
        return f"{owner} is {described({'type': absent.kind})} and has no field {key!r}"
    return f"{owner} has no field {key!r}" + (f"; did you mean {absent.near!r}?" if absent.near else "")


_RULES: Final[dict[type, Callable[[_Inference, Any], Schema]]] = {
    Literal: _Inference.literal,
    Local: _Inference.local,
    Path: _Inference.path,
    Item: _Inference.item,
    Slice: _Inference.slice,
    Sequence: _Inference.sequence,
    Record: _Inference.record,
    Unary: _Inference.unary,
    Binary: _Inference.binary,
    Concat: _Inference.concat,
    Comparison: _Inference.comparison,
    Conditional: _Inference.conditional,
    Filter: _Inference.filter,
    Test: _Inference.test,
    Call: _Inference.call,
    Embedded: _Inference.embedded,
}
