"""All kinds of defects: `mutations(document, registry)` seeds them, `missed(mutation, registry)` says what was found
instead of one.
"""

from __future__ import annotations

from tests.engine.validate import body_defects, document_defects, edge_defects, node_defects, text_defects
from tests.engine.validate.seeding import MAKERS, Mutation, missed, mutations

KINDS = (body_defects, document_defects, edge_defects, node_defects, text_defects)
__all__ = ["KINDS", "MAKERS", "Mutation", "missed", "mutations"]
