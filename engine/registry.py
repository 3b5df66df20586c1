"""Node types by name: those of a package's modules, and plug-ins through the entry-point group `interlace.nodes`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from interlace.engine.errors import InterlaceError
from interlace.engine.node import Node
from interlace.engine.problems import nearest

ENTRY_POINTS = "interlace.nodes"

NodeType = type[Node[Any, Any]]


class Registry:
    """The node types that documents may use."""

    def __init__(self) -> None:
        self._types: dict[str, NodeType] = {}

    def add(self, node_type: NodeType) -> None:
        """Register a type.

        Raises:
            InterlaceError: its name is taken by another class.
        """
        known = self._types.get(node_type.kind)
        if known is not None and known is not node_type:
            raise InterlaceError(
                f"two node types are called {node_type.kind!r}: {known.__module__} and {node_type.__module__};"
                " rename one of them"
            )
        self._types[node_type.kind] = node_type

    def discover(self, package: ModuleType) -> None:
        """Register the types defined in the public modules of a package."""
        for info in pkgutil.iter_modules(package.__path__):
            if not info.name.startswith("_"):
                self.add_module(importlib.import_module(f"{package.__name__}.{info.name}"))

    def add_module(self, module: ModuleType) -> None:
        """Register the types defined in a module (those it only imports do not count)."""
        for entry in vars(module).values():
            if isinstance(entry, type) and issubclass(entry, Node) and entry.__module__ == module.__name__:
                self.add(entry)

    def discover_plugins(self) -> None:
        """Register what installed distributions offer under `interlace.nodes`: a node class or a module of them."""
        for point in entry_points(group=ENTRY_POINTS):
            loaded = point.load()
            if isinstance(loaded, ModuleType):
                self.add_module(loaded)
            else:
                self.add(loaded)

    def __getitem__(self, kind: str) -> NodeType:
        try:
            return self._types[kind]
        except KeyError:
            raise KeyError(self.unknown(kind)) from None

    def get(self, kind: str) -> NodeType | None:
        """The type of that name, None when there is none."""
        return self._types.get(kind)

    def unknown(self, kind: str) -> str:
        """The message for a name that is no type."""
        guess = nearest(kind.upper(), self._types)
        hint = f"; did you mean {guess!r}?" if guess else ""
        return f"no node type {kind!r}{hint} Known: {', '.join(sorted(self._types))}"

    def __contains__(self, kind: str) -> bool:
        return kind in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._types))

    def __len__(self) -> int:
        return len(self._types)
