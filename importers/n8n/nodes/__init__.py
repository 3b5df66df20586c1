"""One file for each family of n8n's nodes. A new kind: a converter in one of them, found by its name in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Kind
from interlace.importers.n8n.nodes import ai, branches, control, http, integrations, lists, merge, values_set
from interlace.importers.n8n.nodes.code import kind_of_code
from interlace.importers.n8n.nodes.control import kind_of_call
from interlace.importers.n8n.nodes.integrations import kind_of_product

KINDS: Final[dict[str, Kind]] = {
    **values_set.KINDS, **branches.KINDS, **lists.KINDS, **merge.KINDS, **control.KINDS, **ai.KINDS, **integrations.KINDS,
}  # fmt: skip
BY_NODE: Final[dict[str, Callable[[N8nNode], Kind]]] = {
    **dict.fromkeys(("code", "function", "functionItem"), kind_of_code), "executeWorkflow": kind_of_call, **http.KINDS,
}  # fmt: skip
"""Kinds whose way with items depends on the node's settings."""


def kind_of(node: N8nNode) -> Kind:
    """How a node is carried over."""
    chosen = BY_NODE.get(node.kind)
    if chosen is not None:
        return chosen(node)
    return KINDS.get(node.kind) or kind_of_product(node)
