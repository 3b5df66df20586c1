"""AGENT: an agent that works at a task with tools, until it has the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from interlace.agents.client_tools import add_client_tools
from interlace.agents.loop import Loop, StopReason, Task, Work
from interlace.agents.outfit import Choice, Outfitter
from interlace.engine.chat import Message, UsageData
from interlace.engine.document import JsonSchema, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.inputs import problems_of
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.protocols import Conversations, Files
from interlace.engine.schema import Schema
from interlace.resources.agents.definition import Limits
from interlace.resources.models.attachments import listed, parts
from interlace.resources.tools import builtin_tools


class AgentLimits(Config):
    """What one run of the agent may take; running out ends it with a partial answer and a reason."""

    iterations: int | None = Field(
        None,
        ge=1,
        le=200,
        title="Model calls",
        description="Most model calls, 20 if not set; the last one is kept for the answer.",
        examples=[10],
    )
    seconds: float | None = Field(
        None,
        gt=0,
        title="Time",
        description="Most time at work, half an hour if not set; waiting for people does not count.",
        examples=[300],
        json_schema_extra={"unit": "s"},
    )
    tokens: int | None = Field(
        None,
        ge=1,
        title="Tokens",
        description="Most input and output tokens together.",
        examples=[100000],
        json_schema_extra={"unit": "tokens"},
    )
    cost: float | None = Field(
        None,
        gt=0,
        title="Money",
        description="Most money, in the currency of the models.",
        examples=[0.5],
    )
    tool_calls: int | None = Field(
        None, ge=1, title="Tool calls", description="Most calls of tools.", examples=[30]
    )


class AgentConfig(Config):
    """Who works, at what, and within which limits."""

    prompt: Dynamic[str] = Field(
        title="Prompt",
        description="The task, or the user's message.",
        examples=["{{ inputs.message }}"],
        json_schema_extra={"widget": "textarea"},
    )
    agent: str | None = Field(
        None,
        title="Agent",
        description="Name or id of a stored agent, with all that belongs to it; `auto` has everything that the run's user"
        " sees. Without it the node itself says what the agent is.",
        examples=["orders"],
        json_schema_extra={"widget": "resource", "resource": "agent"},
    )
    instructions: Dynamic[str] | None = Field(
        None,
        title="Instructions",
        description="What the agent is told to be and do. Texts of others belong into the prompt.",
        examples=["You look after orders. Answer in the language of the question."],
        json_schema_extra={"widget": "textarea"},
    )
    model: Dynamic[str] | None = Field(
        None,
        title="Model",
        description="`provider/model`, a model's name, or a role: general, fast. The role general, if not set.",
        examples=["general"],
        json_schema_extra={"widget": "model"},
    )
    tools: tuple[str, ...] = Field(
        (),
        title="Tools",
        description="What an agent that the node describes itself may use: built-in tools, connectors, databases and"
        " knowledge bases by name; `mcp` and `skills` stand for all of these.",
        examples=[["calculator", "current_time", "shop"]],
        json_schema_extra={"widget": "tools"},
    )
    history: Annotated[int, Field(ge=1, le=1000)] | Dynamic[list[Data]] | None = Field(
        None,
        title="History",
        description="The conversation before the prompt: how many turns of `inputs.history`, which chat sessions give, or"
        " messages {role: user or assistant, content}.",
        examples=[10, "{{ inputs.history }}"],
    )
    session: Dynamic[str] | None = Field(
        None,
        title="Session",
        description="Id of a chat session of the run's user, whose conversation stands before the prompt; nothing is written"
        " to it.",
        examples=["{{ inputs.session }}"],
    )
    files: Annotated[Dynamic[list[Data]] | None, BeforeValidator(listed)] = Field(
        None,
        title="Files",
        description="Files that belong to the prompt: images, PDF and texts.",
        examples=[["{{ inputs.contract }}"]],
    )
    output_schema: JsonSchema | None = Field(
        None,
        title="Schema of the answer",
        description="JSON Schema that the answer must fit; it is then in `data`.",
        examples=[{"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}],
        json_schema_extra={"widget": "schema"},
    )
    client_tools: Dynamic[list[Data]] | None = Field(
        None,
        title="Tools of the client",
        description="Tools {name, description, parameters} that whoever started the run carries out, beside the agent's own:"
        " a call waits until its result is given. Chats over `/v1` fill `inputs.tools` with those of the request.",
        examples=["{{ inputs.tools }}"],
    )
    temperature: Dynamic[Annotated[float, Field(ge=0, le=2)]] | None = Field(
        None,
        title="Temperature",
        description="How freely words are chosen, 0 to 2; the agent's own value, if not set.",
        examples=[0.2],
    )
    max_tokens: Dynamic[Annotated[int, Field(ge=1)]] | None = Field(
        None,
        title="Longest answer",
        description="Most tokens of one answer of the model; the agent's own value, if not set.",
        examples=[500],
        json_schema_extra={"unit": "tokens"},
    )
    limits: AgentLimits = Field(
        default_factory=AgentLimits,
        title="Limits",
        description="What the agent may take; running out ends with a partial answer and `stop_reason`.",
        examples=[{"iterations": 10, "cost": 0.2}],
    )
    stream: bool = Field(
        True,
        title="Stream",
        description="Show the answer while it is made, as `node.delta` events.",
        examples=[False],
    )

    @model_validator(mode="after")
    def _one(self) -> AgentConfig:
        if self.agent is not None and (self.tools or self.instructions is not None):
            raise ValueError(
                "'instructions' and 'tools' describe an agent of the node's own; leave them out beside 'agent'"
            )
        if self.session is not None and self.history is not None:
            raise ValueError("'session' and 'history' both say what was said before; give one of them")
        return self


class AgentOutput(Output):
    """The answer, and how it came about."""

    text: str = Field(description="The answer; a partial one, unless `stop_reason` is answer.")
    data: Data = Field(None, description="The answer as data, where there is a schema; else null.")
    messages: list[Data] = Field(description="Question, calls, results and answer, in the chat wire format.")
    tool_calls: list[Data] = Field(description="The calls: id, name, arguments, result, is_error.")
    usage: UsageData = Field(description="Tokens, costs and time of all model calls, those of delegates too.")
    stop_reason: StopReason = Field(description="Why the work ended: `answer`, or what ended it before that.")


class AgentNode(Node[AgentConfig, AgentOutput]):
    """Let an agent work at a task with tools.

    Effects are `idempotent`: each model call and each call of a tool is recorded, and after a crash the work goes on
    behind the last one. A call that was interrupted is made again where that is safe; where it is not, `on_unknown` says
    what happens.
    """

    kind = "AGENT"
    group, icon = "ai", "bot"
    effects = "idempotent"
    timeout = 1800.0
    example: ClassVar[dict[str, Any]] = {
        "instructions": "Answer in one sentence, in the language of the question.",
        "prompt": "{{ inputs.question }}",
    }

    def output_schema(self, types: TypeContext) -> Schema:
        """`data` by `output_schema`."""
        schema = dict(super().output_schema(types))
        wanted = self.config.output_schema
        data: Schema = {"type": "null"} if wanted is None else {"anyOf": [wanted, {"type": "null"}]}
        schema["properties"] = {**schema["properties"], "data": data}
        return schema

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """The schema is one."""
        del spec
        for name in self.config.tools:
            if builtin_tools().get(name) is None and (guess := builtin_tools().nearest(name)) is not None:
                yield Finding(
                    code="unknown_tool", field="config.tools", severity="warning", fix=f"Did you mean {guess!r}?",
                    message=f"there is no built-in tool {name!r}; a connector, database or knowledge base of that name is used.",
                )  # fmt: skip
        schema, field = self.config.output_schema, "config.output_schema"
        for problem in problems_of(schema, None, field, code="output") if schema is not None else ():
            if problem.code == "output_schema":
                yield Finding(code="output_schema", field=problem.field or field, message=problem.message)

    async def run(self, config: AgentConfig, ctx: RunContext) -> AgentOutput:
        """Work.

        Raises:
            NodeError: `no_model`, `budget_exceeded`, `invalid_output`, `unknown_outcome`, `rate_limit`, …
        """
        before = await _before(config, ctx)
        choice = Choice(
            agent=config.agent, instructions=config.instructions or "", model=config.model, tools=config.tools,
            query=config.prompt, used=_used(before),
        )  # fmt: skip
        outfit = await ctx.service(Outfitter).outfit(choice, ctx)
        task = Task(
            prompt=await _prompt(config, ctx), history=_messages(before), output_schema=config.output_schema,
            stream=config.stream,
        )  # fmt: skip
        if config.client_tools:
            add_client_tools(outfit.tools, config.client_tools)
        asked = {"temperature": config.temperature, "max_tokens": config.max_tokens}
        how = outfit.profile.how.model_copy(
            update={name: value for name, value in asked.items() if value is not None}
        )
        profile = replace(outfit.profile, limits=_limits(config.limits, outfit.profile.limits), how=how)
        found = await Loop(Work(ctx), profile, outfit.tools, task).run()
        return AgentOutput(
            text=found.text, data=found.data, messages=list(found.messages), tool_calls=list(found.tool_calls),
            usage=found.usage.plain(), stop_reason=found.stop_reason,
        )  # fmt: skip


async def _prompt(config: AgentConfig, ctx: RunContext) -> str | list[dict[str, Any]]:
    if not config.files:
        return config.prompt
    added = await parts((), config.files, lambda ref: ctx.service(Files).load(ref))
    return [{"type": "text", "text": config.prompt}, *added]


async def _before(config: AgentConfig, ctx: RunContext) -> list[Any]:
    """What was said before the prompt."""
    if config.session is None:
        return _history(config.history, ctx)
    return await ctx.service(Conversations).history(config.session, by=ctx.principal)


def _used(said: list[Any]) -> tuple[str, ...]:
    """The tools that were used before the prompt, where that is known."""
    named = [entry.get("tools") for entry in said if isinstance(entry, dict)]
    return tuple(dict.fromkeys(str(name) for names in named if isinstance(names, list) for name in names))


def _limits(given: AgentLimits, base: Limits) -> Limits:
    """The limits of the node over those of the agent."""
    return base.model_copy(update=given.model_dump(exclude_none=True))


def _history(given: int | list[Any] | None, ctx: RunContext) -> list[Any]:
    """What was said before, the newest turns: each begins with a message of the user."""
    if given is None:
        return []
    if not isinstance(given, int):
        return given
    inputs = ctx.names.lookup("inputs")
    found = list((inputs.get("history") if isinstance(inputs, Mapping) else None) or [])
    starts = [i for i, entry in enumerate(found) if isinstance(entry, dict) and entry.get("role") == "user"]
    return found[starts[-given] :] if len(starts) > given else found


def _messages(given: list[Any]) -> tuple[Message, ...]:
    found = []
    for entry in given:
        role = entry.get("role") if isinstance(entry, dict) else None
        content = entry.get("content") if isinstance(entry, dict) else None
        if role not in ("user", "assistant") or not isinstance(content, str | list):
            raise NodeError(
                "'history' is a list of messages {role: user or assistant, content: text}; one of them is not like that",
                kind="wrong_type", retryable=False,
            )  # fmt: skip
        found.append(Message(role=role, content=content))
    return tuple(found)
