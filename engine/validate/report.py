"""Collects problems with their severity and line."""

from __future__ import annotations

from collections.abc import Collection

from interlace.engine.problems import Problem, Severity, nearest
from interlace.engine.source import Source
from interlace.engine.validate.codes import CODES

_COMPARISONS = 50_000
"""Most names compared for suggestions: in a document with thousands of mistakes the first ones get them."""


class Report:
    """The problems found so far, each once."""

    def __init__(self, source: Source | None) -> None:
        self._source = source
        self._found: dict[Problem, None] = {}
        self._errors: set[tuple[str | None, str | None]] = set()
        self._comparisons = _COMPARISONS

    def add(
        self,
        code: str,
        message: str,
        *,
        node: str | None = None,
        field: str | None = None,
        fix: str | None = None,
        severity: Severity | None = None,
        inner: int = 0,
        occurrence: int = 0,
    ) -> None:
        """Add a problem; its line comes from the source, its severity from the table of codes.

        Args:
            code: one of `CODES`, or a node type's own.
            message: what is wrong, in plain words.
            node: id of the node it stands at.
            field: path inside the node, or inside the document when no node is named.
            fix: what to do.
            severity: where it differs from the code's.
            inner: line inside a text value, from 0.
            occurrence: which of several nodes with the same id.
        """
        line = None
        if self._source is not None:
            line = self._source.line(node, field, inner=inner, occurrence=occurrence)
        severity = severity or CODES[code].severity
        self._keep(
            Problem(code=code, message=message, severity=severity, node=node, field=field, line=line, fix=fix)
        )

    def add_edge(
        self, code: str, message: str, *, node: str, container: str | None, index: int, fix: str | None
    ) -> None:
        """Add a problem of an edge, which stands at its source node.

        Args:
            code: one of `CODES`.
            message: what is wrong.
            node: the edge's source as it is written.
            container: the node whose body lists the edge, None for the document.
            index: place in that list.
            fix: what to do.
        """
        line = self._source.edge_line(container, index) if self._source is not None else None
        severity = CODES[code].severity
        field = f"edges[{index}]"
        self._keep(
            Problem(code=code, message=message, severity=severity, node=node, field=field, line=line, fix=fix)
        )

    def _keep(self, problem: Problem) -> None:
        if problem.severity == "error":
            self._errors.add((problem.node, problem.field))
        self._found[problem] = None

    def nearest(self, name: str, known: Collection[str]) -> str | None:
        """The known name most like `name`, None where nothing is close or too much was compared already."""
        if len(known) > self._comparisons:
            return None
        self._comparisons -= len(known)
        return nearest(name, known)

    def has(self, node: str | None, field: str) -> bool:
        """Whether an error stands at exactly this place already."""
        return (node, field) in self._errors

    def problems(self) -> tuple[Problem, ...]:
        """Everything found, by line where lines are known, else as found."""
        return tuple(sorted(self._found, key=lambda problem: problem.line or 0))
