"""What a loop is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.agents.loop.spending import StopReason
from interlace.engine.chat import Message, Usage
from interlace.resources.agents.definition import Agent, Limits, ModelConfig
from interlace.resources.agents.hooking import Hooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Who works: all that a loop knows of an agent."""

    instructions: str = ""
    model: str | None = None
    limits: Limits = field(default_factory=Limits)
    how: ModelConfig = field(default_factory=ModelConfig)
    hooks: Hooks = field(default_factory=Hooks)

    def with_(self, *, model: str | None, hooks: Hooks) -> Profile:
        """The same with hooks, and with another model where one is named."""
        return replace(self, model=model or self.model, hooks=hooks)

    @classmethod
    def of(cls, agent: Agent) -> Profile:
        """The profile of a stored agent."""
        return cls(
            instructions=agent.instructions,
            model=agent.model,
            limits=agent.limits,
            how=agent.model_config_json,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done.

    Args:
        prompt: the question, as text or as parts in the chat wire format.
        history: the conversation before it.
        output_schema: JSON Schema that the answer has to fit.
        stream: show the answer while it is made.
    """

    prompt: str | list[dict[str, Any]]
    history: tuple[Message, ...] = ()
    output_schema: Mapping[str, Any] | None = None
    stream: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a loop ended.

    Args:
        text: the answer; a partial one, unless `stop_reason` is `answer`.
        data: the answer as data, where there is a schema and the answer fits it.
        messages: question, calls, results and answer, in the chat wire format.
        tool_calls: `{id, name, arguments, result, is_error}` in the order in which they were asked for.
    """

    text: str
    data: Any = None
    messages: tuple[dict[str, Any], ...] = ()
    tool_calls: tuple[dict[str, Any], ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop_reason: StopReason = "answer"
