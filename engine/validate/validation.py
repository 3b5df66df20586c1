"""The one entrance: a document in, all problems and all types out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from interlace.engine.collection import collection_paused
from interlace.engine.document import Document
from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.protocols import Workflows
from interlace.engine.registry import Registry
from interlace.engine.schema import Schema
from interlace.engine.source import Source
from interlace.engine.validate.assignments import check_assignments
from interlace.engine.validate.calls import check_calls, check_failure_handler, check_outputs
from interlace.engine.validate.configs import check_ends, check_nodes
from interlace.engine.validate.declarations import check_declarations
from interlace.engine.validate.edges import check_handles, connect
from interlace.engine.validate.graph import Graph, build
from interlace.engine.validate.inference import Inference, sentence
from interlace.engine.validate.order import note_conditions, sort
from interlace.engine.validate.references import References
from interlace.engine.validate.report import Report
from interlace.engine.validate.variables import Accesses, check_races

_OF_ON_ERROR = frozenset({"error_edge_without_branch", "unused_default_output"})


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found: problems in the order of the text, and what an editor asks of each node, by id."""

    problems: tuple[Problem, ...]
    types: Mapping[str, Schema] = field(default_factory=dict)
    """The output schema of each node."""
    inside: Mapping[str, Mapping[str, Schema]] = field(default_factory=dict)
    """The extra names of each body (item, index, loop, loop variables) with their types."""
    handles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The handles that edges may leave from, where they are known."""

    @property
    def valid(self) -> bool:
        """Whether there is no error; warnings do not count."""
        return not self.errors

    @property
    def errors(self) -> Sequence[Problem]:
        """The problems that block running and publishing."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def with_more(self, problems: Sequence[Problem]) -> Validation:
        """The same with problems that somebody else found, in the order of the text."""
        every = sorted((*self.problems, *problems), key=lambda problem: problem.line or 0)
        return replace(self, problems=tuple(every))

    def require(self) -> None:
        """Do nothing for a valid document.

        Raises:
            InvalidDocument: carries all problems.
        """
        if not self.valid:
            raise InvalidDocument(self.problems)


def check(source: Source, registry: Registry, *, workflows: Workflows | None = None) -> Validation:
    """Validate a loaded text: its shape and, as far as the shape allows, all the rest at once."""
    document = source.document or source.salvaged
    if document is None:
        return Validation(source.problems)
    found = validate(document, registry, workflows=workflows, source=source)
    if not source.problems:
        return found
    faulty = {(problem.node, _place(problem.field)) for problem in source.problems}
    rest = [problem for problem in found.problems if not _follows(problem, faulty)]
    return replace(
        found, problems=tuple(sorted((*source.problems, *rest), key=lambda problem: problem.line or 0))
    )


def _follows(problem: Problem, faulty: set[tuple[str | None, str]]) -> bool:
    """Whether a problem may only be there because a faulty part was left out."""
    if problem.code in _OF_ON_ERROR and (problem.node, "on_error") in faulty:
        return True
    return (problem.node, _place(problem.field)) in faulty


def _place(path: str | None) -> str:
    """The part of a node that a field belongs to: what is left of a faulty part raises no further alarms."""
    return (path or "").partition(".")[0]


def validate(
    document: Document,
    registry: Registry,
    *,
    workflows: Workflows | None = None,
    source: Source | None = None,
) -> Validation:
    """Check a document and compute the types of its nodes' outputs, in time linear in its size.

    Args:
        document: what to check.
        registry: the node types it may use.
        workflows: the other workflows; calls are not checked where it is not given.
        source: the text it came from, for lines.
    """
    with collection_paused():
        return _validate(document, registry, workflows, source)


def _validate(
    document: Document, registry: Registry, workflows: Workflows | None, source: Source | None
) -> Validation:
    report = Report(source)
    graph = build(document)
    check_declarations(graph, report)
    check_nodes(graph, registry, report)
    check_ends(graph, report)
    connect(graph, report)
    sort(graph, report)
    check_handles(graph, report)
    conditions = note_conditions(graph, report)
    accesses = Accesses()
    inference = Inference(graph, References(graph, conditions, accesses, report), workflows, report)
    inference.run()
    for entry in graph.entries:
        check_assignments(entry, graph, inference, accesses, report)
    check_races(accesses, conditions, report)
    check_outputs(graph, conditions, report)
    check_calls(graph, workflows, inference, report)
    check_failure_handler(graph, report)
    _ask_types(graph, report)
    return Validation(
        report.problems(),
        {entry.id: entry.output for entry in graph.entries if entry.output is not None},
        {entry.id: entry.body.own_names for entry in graph.entries if entry.body is not None},
        {entry.id: entry.handles for entry in graph.entries if entry.handles is not None},
    )


def _ask_types(graph: Graph, report: Report) -> None:
    """What the node types themselves find."""
    for entry in graph.entries:
        if entry.node is None:
            continue
        for finding in entry.node.check(entry.spec):
            if not report.has(entry.id, finding.field):
                report.add(
                    finding.code, sentence(finding.message), node=entry.id, field=finding.field, fix=finding.fix,
                    severity=finding.severity, occurrence=entry.occurrence,
                )  # fmt: skip
