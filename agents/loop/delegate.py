"""An agent that another agent called, at work within that call."""

from __future__ import annotations

from interlace.agents.loop.loop import Loop
from interlace.agents.loop.task import Finished, Profile, Task
from interlace.agents.loop.work import CallContext
from interlace.agents.toolset import ToolSet
from interlace.engine.errors import NodeError
from interlace.resources.tools.tool import ToolContext


async def run_agent(profile: Profile, tools: ToolSet, task: str, ctx: ToolContext) -> Finished:
    """Let an agent do a task within a call of a tool; the caller gets its answer only.

    Its steps are recorded below those of the call, so that it goes on after a crash as its caller does. What it needs a
    person for suspends the node around both. The tool that does this has the category `agents` and effects `idempotent`.

    Args:
        profile: who works.
        tools: its own tools; without `call_agent`, there is one level of delegation.
        task: what is to be done, as the caller writes it.
        ctx: what the call acts with.

    Raises:
        Suspend: people are asked; it is to be passed on.
        NodeError: the agent's model cannot be asked; or the call is not one of an agent (`not_supported`).
    """
    if not isinstance(ctx, CallContext):
        raise NodeError(
            "an agent works for an agent only; use an AGENT node in a workflow",
            kind="not_supported",
            retryable=False,
        )
    work = ctx.work
    return await Loop(work, profile, tools, Task(prompt=task, stream=False), outer=ctx.budget).run()
