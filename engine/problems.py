"""A problem of a document: what a validator found, where, and the fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding of the validator.

    `code` is stable and documented; `node` is the id of the node it stands at (an edge's problem stands at the
    edge's source node), `field` a dotted path inside that node (`config.cases[0].when`) or inside the document
    when no node is named; `line` counts from 1 in the source text.
    """

    code: str
    message: str
    severity: Severity = "error"
    node: str | None = None
    field: str | None = None
    line: int | None = None
    fix: str | None = None

    def as_json(self) -> dict[str, str | int | None]:
        """The problem as `validate --json` and the API show it."""
        return {
            "severity": self.severity, "code": self.code, "node": self.node, "field": self.field, "line": self.line,
            "message": self.message, "fix": self.fix,
        }  # fmt: skip

    def __str__(self) -> str:
        where = ".".join(part for part in (self.node, self.field) if part)
        line = f"line {self.line}: " if self.line else ""
        return f"{line}{where + ': ' if where else ''}{self.message}" + (f" {self.fix}" if self.fix else "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None where nothing is close."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else None
