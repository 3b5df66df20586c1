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
        self.failures: dict[str, str] = {}
        """Plug-ins that could not be loaded: why, by the name of the entry point and its distribution."""

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
        """Register what installed distributions offer under `interlace.nodes`: a node class or a module of them.

        One that cannot be loaded is left out and noted in `failures`.
        """
        for point in entry_points(group=ENTRY_POINTS):
            try:
                self._add_plugin(point.load())
            except Exception as error:  # noqa: BLE001 - foreign code: its fault must not end what does not need it
                source = f" ({point.dist.name})" if point.dist is not None else ""
                self.failures[f"{point.name}{source}"] = f"{type(error).__name__}: {error}"

    def _add_plugin(self, loaded: object) -> None:
        if isinstance(loaded, ModuleType):
            self.add_module(loaded)
        elif isinstance(loaded, type) and issubclass(loaded, Node):
            self.add(loaded)
        else:
            raise InterlaceError(f"{loaded!r} is neither a node class nor a module")

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
        return f"no node type {kind!r}{hint + ' ' if guess else '. '}Known: {', '.join(sorted(self._types)) or 'none'}"

    def __contains__(self, kind: str) -> bool:
        return kind in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._types))

    def __len__(self) -> int:
        return len(self._types)
