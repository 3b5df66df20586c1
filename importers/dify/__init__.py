"""Dify's DSL: apps of every mode, from version 0.1 on."""

from __future__ import annotations

from typing import Any

from interlace.importers.build import Draft
from interlace.importers.dify import apps, workflow
from interlace.importers.dify.file import read_file, recognizes
from interlace.importers.report import Report

__all__ = ["convert", "recognizes"]


def convert(data: Any, report: Report) -> Draft:
    """The draft of an export.

    Raises:
        NotImported: the data is no export of Dify, or it is damaged.
    """
    file = read_file(data)
    return (
        workflow.draft_of(file, report)
        if file.nodes or not file.model_config
        else apps.draft_of(file, report)
    )
