"""The node types that this installation has."""

from __future__ import annotations

import interlace.nodes
from interlace.engine.registry import Registry


def node_types() -> Registry:
    """Every node type: the built-in ones and those of plug-ins."""
    registry = Registry()
    registry.discover(interlace.nodes)
    registry.discover_plugins()
    return registry
