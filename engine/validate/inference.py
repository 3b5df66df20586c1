"""Goes through the nodes in order: checks their expressions and computes the type of what each gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from interlace.engine.document import RESERVED, Document, NodeSpec
from interlace.engine.expressions import (
    Compiled,
    ExpressionError,
    SyntaxProblem,
    compile_expression,
    compile_template,
    compile_text,
    infer,
)
from interlace.engine.fields import Expression, FieldExpression, expressions
from interlace.engine.problems import Severity
from interlace.engine.protocols import Workflows
from interlace.engine.schema import Schema, compatible, described, of_value, union
from interlace.engine.source.places import steps
from interlace.engine.validate.graph import START, Entry, Graph, Scope
from interlace.engine.validate.names import PLACED, variable_schema
from interlace.engine.validate.references import TOLERANT, Place, References, home_of
from interlace.engine.validate.report import Report
from interlace.engine.validate.wanted import part_of, wanted

_UNTIL = Expression()
_CODES = {"unknown_field": "unknown_output", "bad_comparison": "bad_comparison"}
_SEES_MISSING = frozenset({"exists", "is empty", "is not empty"})
_CALL = re.compile(r"\w+\(")


class Inference:
    """Types of all nodes of a document, computed in the order in which they run."""

    def __init__(
        self, graph: Graph, references: References, workflows: Workflows | None, report: Report
    ) -> None:
        self.graph = graph
        self.workflows = workflows
        self._references = references
        self._report = report
        self._known: dict[tuple[str, str], Schema] = {}
        """Types already inferred in the node at hand, by scope and text."""

    def run(self) -> None:
        """Check and type every node; outer ones first."""
        self._scope(self.graph.root)

    def _scope(self, scope: Scope) -> None:
        for entry in scope.order:
            self._entry(entry)

    def _entry(self, entry: Entry) -> None:
        self._known.clear()
        node = entry.node
        types = NodeTypes(self, entry)
        fields = list(expressions(node.config)) if node is not None else []
        for field in fields:
            if field.scope != "body":
                self._check_field(entry, field)
        wait = entry.spec.wait
        if wait is not None and wait.until is not None:
            place = Place(entry, "node", "wait.until")
            self._check_value(place, wait.until, _UNTIL, {"type": ["string", "number"]})
        if entry.body is not None:
            self._enter(entry, entry.body, types)
            self._known.clear()
            for field in fields:
                if field.scope == "body":
                    self._check_field(entry, field)
        if node is not None:
            # A schema that is wrong itself says nothing of the outputs.
            usable = entry.sound and (entry.spec.type != START or self.graph.inputs)
            entry.output = node.output_schema(types) if usable else {}

    def _enter(self, entry: Entry, body: Scope, types: NodeTypes) -> None:
        """Give the body its names, then go through its nodes."""
        if entry.node is not None:
            body.own_names = entry.node.body_names(types)
        else:
            body.own_names = _guessed_names(entry.spec)
        for name in body.own_names:
            if name not in PLACED and (
                name in self.graph.by_id or name in entry.scope.names or name in RESERVED
            ):
                self._report.add(
                    "name_taken", f"The loop variable {name!r} of {entry.id!r} has a name that stands for something else there.",
                    node=entry.id, field=f"config.variables.{name}", occurrence=entry.occurrence, fix="Give it another name.",
                )  # fmt: skip
        body.names = {**entry.scope.names, **body.own_names}
        self._scope(body)

    # -- fields ---------------------------------------------------------------------------------------------------

    def _check_field(self, entry: Entry, field: FieldExpression) -> None:
        tolerant = entry.spec.type in TOLERANT
        place = Place(entry, field.scope, field.path, secret=field.marker.secret, tolerant=tolerant)
        if field.path.endswith((".left", ".right")):
            place.tolerant = _sibling(entry.spec, field.path) in _SEES_MISSING
        if field.marker.syntax == "value":
            self._check_value(place, field.value, field.marker, wanted(field.model, field.field))
        elif isinstance(field.value, str):
            compile_ = compile_expression if field.marker.syntax == "expression" else compile_template
            self._check_source(place, field.value, compile_)

    def _check_value(self, place: Place, value: Any, marker: Expression, want: Schema) -> None:
        if isinstance(value, str):
            if "{{" in value:
                given = self._check_source(place, value, compile_text)
                if given is not None and want and not compatible(given, want):
                    self._report_type(place, given, want)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self._check_value(_inner(place, f".{key}"), inner, marker, part_of(want, key))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self._check_value(_inner(place, f"[{index}]"), inner, marker, part_of(want, index))

    def _check_source(self, place: Place, source: str, compile_: Callable[[str], Compiled]) -> Schema | None:
        """Check one expression or text and give its type; None where it is wrong."""
        try:
            compiled = compile_(source)
        except SyntaxProblem as error:
            code = error.kind if error.kind.startswith("unknown_") else "expression_syntax"
            where = f" (column {error.column})" if "\n" not in source else ""
            self._add(code, place, sentence(error.problem.rstrip(".") + where), inner=error.line - 1)
            return None
        except ExpressionError as error:
            self._add("expression_syntax", place, sentence(error.message))
            return None
        place.node = compiled.node
        wrong = []
        many_lines = "\n" in source
        for reference in compiled.references:
            inner = source.count("\n", 0, reference.span[0]) if many_lines else 0
            if not self._references.check(place, reference, inner):
                wrong.append(reference.span)
        return self._infer(place, source, compiled, wrong)

    def _infer(
        self, place: Place, source: str, compiled: Compiled, wrong: list[tuple[int, int]]
    ) -> Schema | None:
        result = infer(compiled, partial(self._references.schema, place))
        for finding in result.findings:
            start, end = finding.span
            if any(start < last and first < end for first, last in wrong):
                continue
            self._add(
                _CODES.get(finding.code, "expression_type"), place, sentence(finding.message),
                severity=finding.severity, inner=source.count("\n", 0, start),
            )  # fmt: skip
            if finding.severity == "error":
                wrong.append(finding.span)
        if not wrong:
            self._known[place.scope, source] = result.schema
        return None if wrong else result.schema

    def type_of(self, entry: Entry, scope: str, value: Any) -> Schema:
        """Type of a ƒ value, without reporting what is wrong with it."""
        place = Place(entry, scope)  # type: ignore[arg-type]
        return self._type_of(place, value)

    def _type_of(self, place: Place, value: Any) -> Schema:
        if isinstance(value, str) and "{{" in value:
            known = self._known.get((place.scope, value))
            if known is not None:
                return known
            try:
                return infer(compile_text(value), partial(self._references.schema, place)).schema
            except ExpressionError:
                return {}
        if isinstance(value, dict):
            properties = {key: self._type_of(place, inner) for key, inner in value.items()}
            return {"type": "object", "properties": properties, "required": list(value)}
        if isinstance(value, list):
            return {"type": "array", "items": union([self._type_of(place, inner) for inner in value])}
        return of_value(value)

    def variable(self, entry: Entry, name: Any) -> Schema | None:
        """Type of a run or loop variable as a node sees it, None when it is not declared."""
        if home_of(entry.scope, name) is not None:
            return entry.scope.names[name]
        declared = self.graph.document.variables.get(name)
        return variable_schema(declared) if declared is not None else None

    def expression_type(self, entry: Entry, source: str, names: Mapping[str, Schema]) -> Schema:
        """Type of a bare expression with extra names, without reporting what is wrong with it."""
        place = Place(entry, "item")

        def lookup(root: str) -> Schema | None:
            return names[root] if root in names else self._references.schema(place, root)

        try:
            return infer(compile_expression(source), lookup).schema
        except ExpressionError:
            return {}

    def _report_type(self, place: Place, given: Schema, want: Schema) -> None:
        self._add(
            "wrong_type",
            place,
            f"The field takes {described(want)}, but the expression gives {described(given)}.",
        )

    def _add(
        self, code: str, place: Place, message: str, *, severity: Severity | None = None, inner: int = 0
    ) -> None:
        entry = place.entry
        self._report.add(
            code,
            message,
            node=entry.id,
            field=place.field,
            severity=severity,
            inner=inner,
            occurrence=entry.occurrence,
        )


class NodeTypes:
    """What one node type may ask about its own node. Implements `TypeContext`."""

    def __init__(self, inference: Inference, entry: Entry) -> None:
        self._inference = inference
        self._entry = entry
        self.document: Document = inference.graph.document
        self.spec: NodeSpec = entry.spec

    def infer(self, value: Any) -> Schema:
        """Type of a ƒ value in the node's scope."""
        return self._inference.type_of(self._entry, "node", value)

    def infer_expression(self, source: str, names: Mapping[str, Schema] | None = None) -> Schema:
        """Type of a bare expression in the node's scope, with extra names."""
        return self._inference.expression_type(self._entry, source, names or {})

    def infer_in_body(self, value: Any) -> Schema:
        """Type of a ƒ value inside the node's body."""
        return self._inference.type_of(self._entry, "body", value)

    def variable(self, name: str) -> Schema | None:
        """Type of a run or loop variable, None when it is not declared."""
        return self._inference.variable(self._entry, name)

    def child_outputs(self, workflow: str, version: str | int) -> Schema:
        """Output schema of another workflow; {} when unknown."""
        known = self._inference.workflows
        signature = known.signature(workflow, version) if known is not None else None
        return signature[1] if signature is not None else {}


def _inner(place: Place, step: str) -> Place:
    return Place(place.entry, place.scope, place.field + step, place.secret, place.tolerant)


def sentence(text: str) -> str:
    """A finding of another part as a message of the report: a capital first, but for code, a full stop last."""
    return (text if _CALL.match(text) else text[:1].upper() + text[1:]) + (
        "" if text.endswith((".", "?", "!")) else "."
    )


def _guessed_names(spec: NodeSpec) -> Mapping[str, Schema]:
    """The names of a body whose container's config is wrong: enough to raise no false alarms inside."""
    variables = spec.config.get("variables")
    names = [*variables] if isinstance(variables, dict) else []
    return {name: {} for name in (*names, "item", "index", "loop")}


def _sibling(spec: NodeSpec, path: str) -> str | None:
    """The operator beside the `left` or `right` of a rule."""
    here: Any = {"config": spec.config}
    for step in steps(path)[:-1]:
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            return None
    operator = here.get("operator") if isinstance(here, dict) else None
    return operator if isinstance(operator, str) else None
