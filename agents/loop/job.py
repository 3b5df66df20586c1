"""One agent at one task: what the parts of a loop share."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlace.agents.loop.conversation import Conversation
from interlace.agents.loop.program import RunProgram
from interlace.agents.loop.reading import ReadResult
from interlace.agents.loop.spending import Budget
from interlace.agents.loop.task import Profile, Task
from interlace.agents.loop.work import Work
from interlace.agents.toolset import ToolSet
from interlace.resources.tools.tool import Tool


@dataclass(slots=True)
class Job:
    """Who works (`profile`), at what (`task`), where (`work`), with what (`tools`), and how far it has come."""

    work: Work
    profile: Profile
    tools: ToolSet
    task: Task
    budget: Budget
    reader: ReadResult
    program: RunProgram | None = None
    """Where the agent may write programs."""
    conversation: Conversation = field(default_factory=lambda: Conversation(()))

    def own(self, name: str) -> Tool | None:
        """A tool of the loop itself, if it is offered."""
        own: tuple[Tool | None, ...] = (self.reader, self.program)
        return next((tool for tool in own if tool is not None and tool.name == name), None)

    @property
    def now(self) -> float:
        """Unix time in seconds, by the run's clock."""
        return self.work.ctx.now()

    @property
    def streams(self) -> bool:
        """Whether the answer is shown while it is made; what a delegate says is its caller's to use."""
        return self.task.stream and not self.work.is_delegate

    @property
    def prompt_tokens(self) -> int:
        """Input tokens that the next model call takes at least, as far as the last one tells."""
        return self.work.spending.last.input_tokens
