"""One file for each family of Dify's nodes. A new kind: a `Kind` in one of them, found by its name in `KINDS`."""

from __future__ import annotations

from typing import Final

from interlace.importers.dify.context import Kind
from interlace.importers.dify.nodes import (
    bodies,
    branches,
    code,
    ends,
    extract,
    http,
    human,
    knowledge,
    lists,
    llm,
    template,
    tools,
    triggers,
    unknown,
    variables,
)

KINDS: Final[dict[str, Kind]] = {
    **ends.KINDS, **triggers.KINDS, **llm.KINDS, **code.KINDS, **template.KINDS, **branches.KINDS, **extract.KINDS,
    **http.KINDS, **knowledge.KINDS, **tools.KINDS, **bodies.KINDS, **variables.KINDS, **lists.KINDS, **human.KINDS,
    **unknown.KINDS,
}  # fmt: skip
