"""The loop of agents: ask the model, make its calls, show it what came of them, until it answers."""

from interlace.agents.loop.delegate import run_agent
from interlace.agents.loop.loop import Loop
from interlace.agents.loop.spending import StopReason
from interlace.agents.loop.task import Finished, Profile, Task
from interlace.agents.loop.work import CallContext, Work

__all__ = [
    "CallContext", "Finished", "Loop", "Profile", "StopReason", "Task", "Work",
    "run_agent",
]  # fmt: skip
