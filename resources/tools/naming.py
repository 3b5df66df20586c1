"""Names as models' providers take them: `[A-Za-z0-9_-]`, at most 64 characters, one for each thing, always the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, Final

from interlace.resources.connectors.names import MAX_NAME, ascii_name

JOINT: Final = "__"
_DIGEST: Final = 8
_LABELLED: Final = re.compile(rf"@.{{{_DIGEST}}}$")
"""The end of the label of a resource whose name a nearer one has."""


def tool_name(owner: str, part: str) -> str:
    """The name of a part of a resource as a tool of its own: `{owner}__{part}`.

    Two different pairs never get one name: where letters are lost (Japanese names, long names), or where it could not be
    told which `__` is the joint, a digest of the pair ends it.
    """
    joined = f"{owner}{JOINT}{part}"
    plain = ascii_name(joined)
    clear = plain == joined and JOINT not in owner and not owner.endswith("_") and not part.startswith("_")
    return plain if clear else with_digest(plain, owner, part)


def with_digest(name: str, *of: str) -> str:
    """A name ended by a digest of what it stands for."""
    told = "\0".join(of).encode("utf-8", "surrogatepass")
    tail = "_" + hashlib.sha256(told).hexdigest()[:_DIGEST]
    return name[: MAX_NAME - len(tail)].rstrip("_") + tail


def free_tool_name(name: str, taken: Container[str], *of: str) -> str:
    """The name, or where another tool has it already the name with a digest of what it stands for."""
    return with_digest(name, *of) if name in taken else name


def labels(things: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What models call resources by, to their ids, of pairs of name and id in the order of nearness.

    It is the name; where several resources of one name are visible, the nearest has it (as in every look-up), and the
    others carry the end of their ids.
    """
    found: dict[str, str] = {}
    for name, key in things:
        found[name if name not in found else f"{name}@{key[-_DIGEST:]}"] = key
    return found


_PARTS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("connector", "execute"): ("connector", "action"),
    ("mcp", "call"): ("server", "tool"),
}
"""Meta-tools by subcommand: the arguments that name what is called."""
_OPERATIONS: Final[Mapping[str, str]] = {
    "list_tables": "list_tables", "discover": "describe_table", "query": "query",
}  # fmt: skip


def called_as(
    tool: str, arguments: Mapping[str, Any], part_of: tuple[str, str] | None = None
) -> tuple[str, ...]:
    """The names that a call goes by: the tool's, and those of the part of a resource that it calls, as if it was a tool.

    So a rule for `shop__order` holds whichever way the action is called, and also where another resource of that name
    is nearer, so that this one has the end of its id in its label.

    Args:
        tool: the name of the tool.
        arguments: what it is called with.
        part_of: of a tool that is a part of a resource, the resource's label and the part's name.
    """
    owner, part = part_of or _called_by_meta_tool(tool, arguments)
    if not isinstance(owner, str) or not isinstance(part, str):
        return (tool,)
    owners = dict.fromkeys((owner, _LABELLED.sub("", owner)))
    return tuple(
        dict.fromkeys(
            (tool, *(name for of in owners for name in (tool_name(of, part), f"{of}{JOINT}{part}")))
        )
    )


def _called_by_meta_tool(tool: str, arguments: Mapping[str, Any]) -> tuple[Any, Any]:
    subcommand = str(arguments.get("subcommand"))
    owner = part = None
    if (tool, subcommand) in _PARTS:
        owner, part = (arguments.get(name) for name in _PARTS[tool, subcommand])
    elif tool == "database" and subcommand in _OPERATIONS:
        owner, part = arguments.get("database"), _OPERATIONS[subcommand]
    if isinstance(part, list):
        part = part[0] if part else None
    return owner, part
