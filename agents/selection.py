"""Which of many tools a request is shown: ranked here, by a model only where the ranking leaves it open."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import structlog

from interlace.agents.meta.request_tools import entry_of_tool
from interlace.agents.modes import Discovery
from interlace.agents.search import Finder, Found
from interlace.engine.chat import CallSite, ChatModel, ChatRequest, Message
from interlace.engine.errors import NodeError
from interlace.resources.tools.tool import Category, Tool

log = structlog.get_logger("interlace.agents")

PINNED: Final[frozenset[Category]] = frozenset({"knowledge", "skills", "agents", "selection"})
"""Categories whose tools are never selected away; the meta-tools of the others are told by their names."""
META: Final = frozenset({"connector", "database", "mcp"})
_STRONG: Final = 0.35
_ALIKE: Final = 0.9
_CANDIDATES: Final = 20
_ASKED: Final = 4000
"""Characters of a request that a model reads."""


async def select(
    tools: Sequence[Tool],
    request: str,
    finder: Finder,
    how: Discovery,
    *,
    models: ChatModel | None = None,
    site: CallSite | None = None,
    used: Collection[str] = (),
) -> tuple[list[Tool], list[Tool]]:
    """The tools that are shown, and those that may be asked for; all are shown where there are few, or nothing to go by.

    Meta-tools count as one each and stay, as do tools that the conversation has used.

    Args:
        tools: all tools of the turn.
        request: what the user asks for.
        finder: ranks.
        how: from how many tools on, and how many are shown.
        models: asked where more tools than may be shown fit about equally well; never, if None.
        site: who asks.
        used: names of tools that the conversation has used.
    """
    if len(tools) <= how.threshold:
        return list(tools), []
    fixed = {tool.name for tool in tools if is_pinned(tool) or tool.name in used}
    rest = [tool for tool in tools if tool.name not in fixed]
    if len(rest) <= how.most or not request.strip():
        return list(tools), []
    try:
        entries = [entry_of_tool(tool) for tool in rest]
        ranked = await finder.find(entries, request, limit=len(rest), wait=False)
        names = [hit.entry.key for hit in ranked]
        if how.ask and models is not None and is_open(ranked, how.most):
            names = [*await _asked(ranked, request, how.most, models, site or CallSite()), *names]
    except Exception as error:  # noqa: BLE001 - whatever fails here, a turn with all tools is better than none
        log.warning("tools could not be selected, all are shown", error=str(error))
        return list(tools), []
    order = list(dict.fromkeys([*names, *(tool.name for tool in rest)]))
    chosen = fixed | set(order[: how.most])
    return [tool for tool in tools if tool.name in chosen], [
        tool for tool in tools if tool.name not in chosen
    ]


def is_pinned(tool: Tool) -> bool:
    """Whether a tool is never selected away: it stands for many."""
    return tool.category in PINNED or tool.name in META


def is_open(ranked: Sequence[Found], most: int) -> bool:
    """Whether the ranking leaves open what to show: the first one left out fits well, and nearly as well as the best.

    A request that no tool fits is not open: nothing is gained by asking.
    """
    if len(ranked) <= most:
        return False
    return ranked[most].score >= _STRONG and ranked[most].score >= _ALIKE * ranked[0].score


async def _asked(
    ranked: Sequence[Found], request: str, most: int, models: ChatModel, site: CallSite
) -> list[str]:
    """The names that the quick model chooses out of the best ones; none where it cannot be asked."""
    best = ranked[:_CANDIDATES]
    listed = "\n".join(f"- {hit.entry.name}: {hit.entry.description[:200]}" for hit in best)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "tools": {
                "type": "array",
                "items": {"enum": [hit.entry.key for hit in best]},
                "maxItems": most,
            }
        },
        "required": ["tools"],
        "additionalProperties": False,
    }
    question = f"Choose at most {most} tools that this request needs.\n\nTools:\n{listed}\n\nRequest:\n{request[:_ASKED]}"
    asked = ChatRequest(
        messages=(Message(role="user", content=question),),
        model="fast",
        output_schema=schema,
        temperature=0.0,
    )
    known = {hit.entry.key for hit in best}
    try:
        answer = await models.chat(asked, site=site)
        chosen = _names(answer.text)
    except NodeError as error:
        log.info("no model to choose tools by, the ranking decides", error=error.message)
        return []
    return [name for name in chosen if name in known]


def _names(text: str) -> list[str]:
    import orjson  # noqa: PLC0415 - only where a model was asked

    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    names = found.get("tools") if isinstance(found, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else []
