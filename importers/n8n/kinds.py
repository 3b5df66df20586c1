"""The three ways in which a node of n8n treats its items, and what its converter gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlace.importers.n8n.context import Site
from interlace.importers.n8n.fields import Fields
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.values import Flow, Value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a node makes of one item: an item, or (`listed`) a list of items."""

    value: Value
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Each:
    """A node that does the same for every item.

    `pure` gives the new item as an expression, where the node is no more than that; `convert` adds steps instead. `lists`
    says that it gives a list of items for each.
    """

    convert: Callable[[N8nNode, Site], Outcome] | None = None
    pure: Callable[[N8nNode, Fields], Value] | None = None
    lists: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """A node that runs once for all its items; it gives the flow of each output.

    `needs_items` says that it does not run without any.
    """

    convert: Callable[[N8nNode, Site, list[Flow]], dict[int, Flow]]
    needs_items: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """One way on: an output, the condition for it, and what its handle is called."""

    output: int
    when: str
    name: str


@dataclass(frozen=True, slots=True)
class Cases:
    """The ways on of a branching node; `rest` is the output for what fits none, None where such items are dropped."""

    cases: tuple[Case, ...]
    rest: int | None = None
    every: bool = False


@dataclass(frozen=True, slots=True)
class Ways:
    """The flow of each output, and the handles that lead nowhere."""

    outputs: dict[int, Flow]
    loose: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A node that sends each item one way or another: by conditions, or (`convert`) by steps that handle one item."""

    cases: Callable[[N8nNode, Fields], Cases] | None = None
    convert: Callable[[N8nNode, Site, Flow], Ways] | None = None


Kind = Each | Whole | Branch
