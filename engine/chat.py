"""What is said to a language model and what it answers, whatever its provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from interlace.engine.principal import LOCAL, Principal

if TYPE_CHECKING:
    from interlace.engine.node import RunContext

ROLES = ("general", "fast", "embedding")
"""What models are asked for by what they are good for, instead of by name."""

Format = Literal["text", "json_object", "json_schema"]
Speaker = Literal["system", "user", "assistant", "tool"]


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class ToolCall(_Part):
    """A call that a model asks for; `arguments` is the JSON text that it wrote, right or wrong."""

    id: str
    name: str
    arguments: str


class Message(_Part):
    """One message. Content may be a list of parts in the chat wire format (`text`, `image_url`, `file`)."""

    role: Speaker
    content: str | list[dict[str, Any]] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    def wire(self) -> dict[str, Any]:
        """The message in the chat wire format."""
        found: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            found["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        if self.tool_call_id is not None:
            found["tool_call_id"] = self.tool_call_id
        return found


class ToolSpec(_Part):
    """A tool that a model may call; `parameters` is a JSON Schema."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})

    def wire(self) -> dict[str, Any]:
        """The tool in the chat wire format."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


class ChatRequest(_Part):
    """One question to a model.

    Args:
        messages: the conversation.
        model: `provider/model`, a model's name, or a role; None is the role `general`.
        tools: what the model may call.
        tool_choice: `auto`, `none`, `required`, or the name of the tool that has to be called.
        output_schema: JSON Schema of an object; the model is held to it as well as its provider can.
        temperature: not sent to reasoning models, which take none.
        max_tokens: most tokens of the answer.
        stop: texts at which the answer ends.
    """

    messages: tuple[Message, ...]
    model: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    output_schema: dict[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


class Usage(_Part):
    """What answers took: tokens, money (None where a price is not known), time in milliseconds."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Input tokens that the provider had read before, part of `input_tokens`."""
    reasoning_tokens: int = 0
    """Tokens of hidden thoughts, part of `output_tokens`."""
    calls: int = 1
    cost: float | None = None
    currency: str | None = None
    latency_ms: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """The sum; a cost is known when both are, in one currency."""
        known = self.cost is not None and other.cost is not None and self.currency == other.currency
        numbers = {
            name: getattr(self, name) + getattr(other, name)
            for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "calls", "latency_ms")
        }  # fmt: skip
        cost = (self.cost or 0.0) + (other.cost or 0.0) if known else None
        return Usage(**numbers, cost=cost, currency=self.currency if known else None)

    def plain(self) -> dict[str, Any]:
        """As the outputs of nodes hold it."""
        return self.model_dump()


UsageData = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                "input_tokens": {"type": "integer"},
                "output_tokens": {"type": "integer"},
                "cached_tokens": {"type": "integer"},
                "reasoning_tokens": {"type": "integer"},
                "calls": {"type": "integer"},
                "cost": {"type": ["number", "null"]},
                "currency": {"type": ["string", "null"]},
                "latency_ms": {"type": "number"},
            },
        }
    ),
]
"""The type of an output that holds `Usage.plain()`."""


class ChatResult(_Part):
    """An answer. It has a JSON form (`model_dump`), so that it can be recorded and taken again.

    `finish_reason` is `stop`, `length`, `tool_calls` or `content_filter`; `format` says what the provider was asked to
    hold the answer to.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    usage: Usage = Field(default_factory=Usage)
    model: str = ""
    provider: str = ""
    format: Format = "text"

    def message(self) -> Message:
        """The answer as it stands in the conversation that goes on."""
        return Message(
            role="assistant", content=self.text or self.refusal or None, tool_calls=self.tool_calls
        )


class Delta(_Part):
    """A piece of an answer that is being made. `restart`: what was streamed so far is void, the answer begins anew."""

    text: str = ""
    reasoning: str = ""
    restart: bool = False


OnDelta = Callable[[Delta], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """Who asks, and for what: by whose rights models are chosen, and where the costs are put down.

    `hide` keeps a secret that a call needed out of what its run records.
    """

    principal: Principal = LOCAL
    run_id: str | None = None
    path: str = ""
    hide: Callable[[str, str], None] | None = None

    @classmethod
    def of(cls, ctx: RunContext) -> CallSite:
        """The site of a running node."""
        return cls(principal=ctx.principal, run_id=ctx.run.id, path=ctx.path, hide=ctx.hide)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of a model before it is asked; None where nothing is.

    Args:
        name: `provider/model`.
        context_window: tokens that it reads and writes at most.
        max_output: most tokens of an answer.
        tools: whether it calls tools natively; taken for granted where nothing is known.
    """

    name: str
    context_window: int | None = None
    max_output: int | None = None
    tools: bool = True


class ChatModel(Protocol):
    """All language models of this process. Every question to a model goes through these methods."""

    async def facts(self, model: str | None, *, site: CallSite) -> ModelFacts:
        """What is known of the model that a reference stands for; nothing is asked of it.

        Raises:
            NodeError: `no_model`, `unknown_model`.
        """
        ...

    async def chat(
        self, request: ChatRequest, *, site: CallSite, on_delta: OnDelta | None = None
    ) -> ChatResult:
        """Ask the first model of the chain that a reference stands for; with `on_delta` the answer is streamed.

        Raises:
            NodeError: `no_model`, `resource_not_found`, `ambiguous_model`, `budget_exceeded`; `rate_limit`, `http_<status>`, `connection`, …
                of the last model that was tried.
        """
        ...

    async def embed(
        self, texts: Sequence[str], *, site: CallSite, model: str | None = None
    ) -> list[list[float]]:
        """The vectors of texts; without a model by the role `embedding`, else by the built-in embedder.

        Raises:
            NodeError: as `chat`.
        """
        ...
