"""How the output of a node is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlace.importers.expressions import Ref, path
from interlace.importers.fim_one.context import Context
from interlace.importers.fim_one.file import FimNode


def output(*keys: str, is_text: bool = False) -> Any:
    """How a node's output is read: the keys after our id; other fields under their own names."""

    def read(node: FimNode, rest: Sequence[str | int], ctx: Context) -> Ref:
        del ctx
        if rest and rest[0] == "":
            return Ref(path(node.name, *rest[1:]))
        return Ref(path(node.name, *keys, *rest), is_text=is_text and not rest)

    return read
