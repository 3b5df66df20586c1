"""What an agent has used up, and what it may: the limits that end a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from interlace.engine.chat import Usage
from interlace.resources.agents.definition import Limits

StopReason = Literal[
    "answer", "iterations", "time", "tokens", "cost", "tool_calls", "repeated_call", "budget", "length", "refused",
    "no_answer", "invalid_format",
]  # fmt: skip
"""Why a loop ended: `answer` is the one good end, at all others the answer is a partial one."""

WORDS: Mapping[StopReason, str] = {
    "iterations": "the limit of model calls",
    "time": "the limit of time",
    "tokens": "the limit of tokens",
    "cost": "the limit of costs",
    "tool_calls": "the limit of tool calls",
    "repeated_call": "the same tool call made again and again",
    "budget": "a budget that is used up",
    "length": "the answer's limit of tokens",
    "refused": "a refusal of the model",
    "no_answer": "a model that gave no answer",
    "invalid_format": "an answer that is not in the form that was asked for",
}
_NONE = Usage(calls=0, cost=0.0)
_RESERVED_TOKENS = 1024
"""Kept for the last answer where tokens are limited."""


@dataclass(slots=True)
class Spending:
    """Model calls, tokens, money and tool calls; a delegate's count for its caller too."""

    parent: Spending | None = None
    usage: Usage = _NONE
    last: Usage = _NONE
    cost: float = 0.0
    """Money, as far as prices are known."""
    tool_calls: int = 0
    seconds: float = 0.0
    """Time at work in earlier stretches, as recorded; waiting for people is no work."""

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.usage.input_tokens + self.usage.output_tokens

    def add(self, usage: Usage) -> None:
        """Put a model call down."""
        self.usage = usage if self.usage.calls == 0 else self.usage + usage
        self.cost += usage.cost or 0.0
        self.last = usage
        if self.parent is not None:
            self.parent.add(usage)

    def called(self) -> None:
        """Put a tool call down."""
        self.tool_calls += 1
        if self.parent is not None:
            self.parent.called()


@dataclass(slots=True)
class Budget:
    """The limits of one loop against what it has spent.

    Args:
        seconds: most time at work, the limit of the node that hosts the loop considered.
        began: when this stretch of work began, by the run's clock.
    """

    limits: Limits
    spending: Spending
    seconds: float
    began: float
    outer: Budget | None = None
    repeated: Counter[str] = field(default_factory=Counter)
    stopped: StopReason | None = None
    """What has ended the work already, whatever the other limits say."""

    def elapsed(self, now: float) -> float:
        """Seconds at work."""
        return self.spending.seconds + now - self.began

    def left(self, now: float) -> float:
        """Seconds until the last answer has to be there."""
        return self.seconds - self.elapsed(now)

    def work_left(self, now: float) -> float:
        """Seconds for anything else than the last answer."""
        return self.left(now) - min(60.0, 0.25 * self.seconds)

    def reason(self, calls: int, now: float, *, prompt: int) -> StopReason | None:
        """Why the next model call, after so many, has to be the last one; `prompt` are its input tokens."""
        found = self._reason(calls, now, prompt)
        if found is None and self.outer is not None:
            found = self.outer._reason(0, now, prompt)  # noqa: SLF001 - one class
        return found

    def _reason(self, calls: int, now: float, prompt: int) -> StopReason | None:
        limits, spent = self.limits, self.spending
        if self.stopped is not None:
            return self.stopped
        reached: dict[StopReason, bool] = {
            "iterations": calls + 1 >= limits.iterations,
            "time": self.work_left(now) <= 0,
            "tool_calls": limits.tool_calls is not None and spent.tool_calls >= limits.tool_calls,
            "tokens": limits.tokens is not None
            and spent.tokens + 2 * prompt + _RESERVED_TOKENS > limits.tokens,
            "cost": limits.cost is not None and spent.cost + 2 * (spent.last.cost or 0.0) > limits.cost,
        }
        return next((reason for reason, is_so in reached.items() if is_so), None)

    def may_ask(self, now: float, prompt: int) -> bool:
        """Whether there is anything left for a last answer."""
        limits, spent = self.limits, self.spending
        return (
            self.left(now) > 0
            and (limits.tokens is None or spent.tokens + prompt < limits.tokens)
            and (limits.cost is None or spent.cost < limits.cost)
            and (self.outer is None or self.outer.may_ask(now, prompt))
        )

    def tokens_left(self, prompt: int) -> int | None:
        """Most tokens of an answer; None without a limit."""
        if self.limits.tokens is None:
            return None
        return max(self.limits.tokens - self.spending.tokens - prompt, 1)

    def again(self, call: str) -> int:
        """How often this very call (`print_of`) has been asked for, this time included."""
        self.repeated[call] += 1
        return self.repeated[call]
