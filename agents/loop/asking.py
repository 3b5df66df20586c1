"""Requests to people about calls: whether one may be made, and whether an interrupted one was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from interlace.agents.loop.work import Work
from interlace.engine.errors import NodeError
from interlace.engine.waits import DAY, TIMEOUT, Answer, Waiting, Wanted

SECONDS: Final = 7 * DAY
"""How long a person has to agree; nobody's answer is a refusal."""
UNKNOWN_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"result": {"type": "string", "description": "What the call gave, if it is known."}},
}


def permission(
    work: Work, name: str, tool: str, arguments: Mapping[str, Any], *, title: str, reasons: Sequence[str],
    more: Mapping[str, Any],
) -> Wanted:  # fmt: skip
    """The request for a call; the answer is bound to these very arguments by the hash of what is shown.

    `more` is kept with it, for whoever goes on with the call.
    """
    return Wanted(
        kind="human",
        key=work.prefix + name,
        request={
            "title": title,
            "message": f"The agent wants to call **{tool}** with the arguments shown. " + " ".join(reasons),
            "actions": ["approve", "reject"],
            "config": {"tool": tool, "arguments": dict(arguments)},
        },
        until=work.ctx.now() + SECONDS,
        state={"tool": tool, "arguments": dict(arguments), **more},
    )


def whether_done(work: Work, name: str, tool: str, arguments: Mapping[str, Any]) -> Wanted:
    """The question after a call whose outcome nobody knows."""
    return Wanted(
        kind="human",
        key=f"{work.prefix}{name}?",
        request={
            "title": f"Did the call of {tool} happen?",
            "message": f"The agent's call of **{tool}** was interrupted, and nobody knows whether it did its work."
            " `happened` goes on with the result given, `not_happened` makes the call again, `fail` makes the node fail.",
            "actions": ["happened", "not_happened", "fail"],
            "form": UNKNOWN_FORM,
            "config": {"tool": tool, "arguments": dict(arguments)},
        },
        state={"tool": tool, "arguments": dict(arguments)},
    )


def again(wait: Waiting) -> Wanted:
    """A request that is still open."""
    return Wanted(kind=wait.kind, key=wait.key, request=wait.request, until=wait.until, state=wait.state)


def refusal(tool: str, answer: Answer) -> str:
    """What a model is told of a call that nobody agreed to."""
    if answer.action == TIMEOUT:
        return f"nobody agreed to this call of {tool} in time; it was not made"
    because = f": {answer.comment}" if answer.comment else ""
    return f"{answer.by or 'a person'} refused this call of {tool}{because}; it was not made"


def unknown(tool: str) -> NodeError:
    """The node's error where an interrupted call may not be made again."""
    return NodeError(
        f"the call of {tool} was interrupted and nobody knows whether it did its work; it is not made again because its"
        " effects are 'once' (set on_unknown: retry on the node to make it again, or ask to have a person say)",
        kind="unknown_outcome", retryable=False,
    )  # fmt: skip
