"""What the user says while an agent works: taken up between its turns."""

from __future__ import annotations

from interlace.agents.loop.work import Work
from interlace.engine.protocols import Inbox, Said

CHAT = "chat"
"""The trigger of runs that somebody may say something to."""


async def heard(work: Work, step: str) -> list[Said]:
    """What was said since anybody of this run has listened; it counts as taken up when the next turn is recorded."""
    if work.is_delegate or work.ctx.run.trigger.get("kind") != CHAT:
        return []
    try:
        inbox = work.ctx.service(Inbox, step=step)
    except LookupError:
        return []
    found = list(await inbox.after(work.ctx.run.id, work.steps.heard))
    if found:
        work.steps.hear(found[-1].id)
    return found
