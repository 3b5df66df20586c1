"""One file for each family of n8n's nodes. A new kind: a converter in one of them, found by its name in `KINDS`."""

from __future__ import annotations

from typing import Final

from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Kind
from interlace.importers.n8n.nodes import ai, branches, control, http, integrations, lists, merge, values_set
from interlace.importers.n8n.nodes.code import kind_of_code
from interlace.importers.n8n.nodes.control import kind_of_call
from interlace.importers.n8n.nodes.integrations import kind_of_product

KINDS: Final[dict[str, Kind]] = {
    **values_set.KINDS, **branches.KINDS, **lists.KINDS, **merge.KINDS, **control.KINDS, **http.KINDS, **ai.KINDS,
    **integrations.KINDS,
}  # fmt: skip
CODE_KINDS: Final = frozenset({"code", "function", "functionItem"})


def kind_of(node: N8nNode) -> Kind:
    """How a node is carried over."""
    if node.kind in CODE_KINDS:
        return kind_of_code(node)
    if node.kind == "executeWorkflow":
        return kind_of_call(node)
    return KINDS.get(node.kind) or kind_of_product(node)
