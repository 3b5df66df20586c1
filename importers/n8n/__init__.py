"""n8n's workflows: nodes, connections, expressions; lists of items become ITERATION and LIST_OPERATION."""

from __future__ import annotations

from typing import Any

from interlace.importers.build import Draft
from interlace.importers.n8n.file import read_file, recognizes
from interlace.importers.n8n.workflow import draft_of
from interlace.importers.report import Report

__all__ = ["convert", "recognizes"]


def convert(data: Any, report: Report) -> Draft:
    """The draft of a workflow.

    Raises:
        NotImported: the data is no workflow of n8n, or it is damaged.
    """
    return draft_of(read_file(data), report)
