"""What the names of n8n's expressions stand for at one place of the workflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from interlace.importers.expressions import grouped, path
from interlace.importers.n8n.values import Flow, Kind, NotTranslated, Value, shaped


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The current item, all items, and the nodes that can be read.

    `item` is the current item (`$json`), None where a node runs once for a list. `index` is its number. `nodes` are the
    outputs of nodes by name. `aligned` names the nodes that can be read at `index`.
    """

    items: Value
    item: Value | None
    index: str = "0"
    nodes: Mapping[str, Flow] = field(default_factory=dict)
    aligned: frozenset[str] = field(default_factory=frozenset)
    environment: Callable[[str], Value] = lambda name: Value(path("env", name))
    shape: Mapping[str, Kind] | None = None
    """The fields of every item, where these are all that there are."""
    rounds: str = "0"
    workflow: str = ""
    previous: str = ""

    def current(self) -> Value:
        """The current item; the first one where the node runs once."""
        if self.item is not None:
            return self.item
        return shaped(f"({grouped(self.items.code)} | first)", self.shape)

    def flow(self, name: str) -> Flow:
        """A node's output.

        Raises:
            NotTranslated: the node cannot be read here.
        """
        found = self.nodes.get(name)
        if found is None:
            raise NotTranslated(f"the node {name!r} cannot be read here")
        return found

    def paired(self, name: str) -> Value:
        """The item of another node that belongs to the current one.

        Raises:
            NotTranslated: which one that is cannot be told.
        """
        found = self.flow(name)
        if found.one is not None:
            return found.one
        if name in self.aligned and self.item is not None:
            return found.item(f"{grouped(found.many.code)}[{self.index}]")
        if self.item is None:
            return found.item(f"({grouped(found.many.code)} | first)")
        raise NotTranslated(f"which item of {name!r} belongs to the current one cannot be told here")
