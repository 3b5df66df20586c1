"""LLM: ask a language model, for a text or for data by a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from interlace.engine.chat import CallSite, ChatModel, ChatRequest, Message, OnDelta, UsageData
from interlace.engine.deltas import DeltaEvents
from interlace.engine.document import JsonSchema, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.inputs import problems_of
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.protocols import Files
from interlace.engine.schema import Schema
from interlace.resources.models.attachments import listed, parts
from interlace.resources.models.structured import ask_for_data, check_complete, check_said


class LlmMessage(Config):
    """One message."""

    role: Literal["system", "user", "assistant"] = Field(
        title="Role", description="Who says it.", examples=["user"]
    )
    content: Data = Field(
        title="Content",
        description="The text, or a list of parts in the chat wire format.",
        examples=["Translate: {{ inputs.text }}"],
    )


def _messages_of(value: Any) -> Any:
    """Look at messages that are written out; those of an expression are looked at when it was evaluated."""
    for entry in value if isinstance(value, list) else ():
        LlmMessage.model_validate(entry)
    return value


class LlmConfig(Config):
    """What is asked, of which model."""

    model: Dynamic[str] | None = Field(
        None,
        title="Model",
        description="`provider/model`, a model's name, or a role: general, fast. The role general, if not set.",
        examples=["fast"],
        json_schema_extra={"widget": "model"},
    )
    system: Dynamic[str] | None = Field(
        None,
        title="Instructions",
        description="What the model is told to be and do. Texts of others belong into the prompt.",
        examples=["You answer questions about orders, in the language of the question."],
        json_schema_extra={"widget": "textarea"},
    )
    prompt: Dynamic[str] | None = Field(
        None,
        title="Prompt",
        description="The user's message.",
        examples=["{{ inputs.question }}"],
        json_schema_extra={"widget": "textarea"},
    )
    messages: Annotated[Dynamic[list[Data]] | None, AfterValidator(_messages_of)] = Field(
        None,
        title="Messages",
        description="A whole conversation instead of instructions and prompt.",
        examples=[[{"role": "user", "content": "{{ inputs.question }}"}]],
    )
    history: int | None = Field(
        None,
        ge=1,
        le=1000,
        title="History",
        description="How many turns of the conversation before this one the model reads; of `inputs.history`, which chat"
        " sessions give.",
        examples=[10],
        json_schema_extra={"unit": "turns"},
    )
    images: Annotated[Dynamic[list[Data]] | None, BeforeValidator(listed)] = Field(
        None,
        title="Images",
        description="Images that belong to the last message: file values, or https and data URLs.",
        examples=[["{{ inputs.photo }}"]],
    )
    files: Annotated[Dynamic[list[Data]] | None, BeforeValidator(listed)] = Field(
        None,
        title="Files",
        description="Files that belong to the last message: images, PDF and texts.",
        examples=[["{{ inputs.contract }}"]],
    )
    temperature: Dynamic[Annotated[float, Field(ge=0, le=2)]] | None = Field(
        None,
        title="Temperature",
        description="How freely words are chosen, 0 to 2; the provider's own value, if not set.",
        examples=[0.2],
    )
    max_tokens: Dynamic[Annotated[int, Field(ge=1)]] | None = Field(
        None,
        title="Longest answer",
        description="Most tokens of the answer.",
        examples=[500],
        json_schema_extra={"unit": "tokens"},
    )
    stop: list[str] = Field(
        default_factory=list,
        max_length=4,
        title="Stop at",
        description="Texts at which the answer ends; they are not part of it.",
        examples=[["\n\n"]],
    )
    output_schema: JsonSchema | None = Field(
        None,
        title="Schema of the answer",
        description="JSON Schema that the answer must fit; it is then in `data`.",
        examples=[{"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}],
        json_schema_extra={"widget": "schema"},
    )
    allow_truncated: bool = Field(
        False,
        title="Allow a cut answer",
        description="Take an answer that reached its limit of tokens; otherwise it is the error `output_truncated`.",
        examples=[True],
    )
    stream: bool = Field(
        True,
        title="Stream",
        description="Show the answer while it is made, as `node.delta` events.",
        examples=[False],
    )

    @model_validator(mode="after")
    def _one(self) -> LlmConfig:
        if (self.messages is None) == (self.prompt is None):
            raise ValueError("give exactly one of 'prompt' and 'messages'")
        if self.messages is not None and self.system is not None:
            raise ValueError(
                "'system' goes with 'prompt'; in 'messages' the instructions are a message of role system"
            )
        if self.messages is not None and self.history is not None:
            raise ValueError("'history' goes with 'prompt'; 'messages' are a whole conversation")
        return self


class LlmOutput(Output):
    """The answer."""

    text: str = Field(description="The answer as text.")
    data: Data = Field(None, description="The answer as data, where there is a schema; else null.")
    usage: UsageData = Field(description="Tokens, costs and time, a repair included.")
    finish_reason: str = Field(description="Why the answer ended: stop, length.")
    model: str = Field(description="Which model answered, as provider/model.")


class Llm(Node[LlmConfig, LlmOutput]):
    """Ask a language model.

    Effects are `none`: a call that a crash interrupted is made again; that costs its price, and changes nothing.
    """

    kind = "LLM"
    group, icon = "ai", "sparkles"
    timeout = 300.0
    example: ClassVar[dict[str, Any]] = {
        "system": "Answer in one sentence, in the language of the question.",
        "prompt": "{{ inputs.question }}",
    }

    def output_schema(self, types: TypeContext) -> Schema:
        """`data` by `output_schema`."""
        schema = dict(super().output_schema(types))
        wanted = self.config.output_schema
        data: Schema = {"type": "null"} if wanted is None else wanted
        schema["properties"] = {**schema["properties"], "data": data}
        return schema

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """The schema is one."""
        del spec
        schema, field = self.config.output_schema, "config.output_schema"
        for problem in problems_of(schema, None, field, code="output") if schema is not None else ():
            if problem.code == "output_schema":
                yield Finding(code="output_schema", field=problem.field or field, message=problem.message)

    async def run(self, config: LlmConfig, ctx: RunContext) -> LlmOutput:
        """Ask.

        Raises:
            NodeError: `no_model`, `budget_exceeded`, `output_truncated`, `invalid_output`, `refused`, `rate_limit`, …
        """
        request = ChatRequest(
            messages=await _messages(config, ctx),
            model=config.model,
            temperature=config.temperature,
            max_tokens=config.max_tokens,
            stop=tuple(config.stop),
        )
        if not config.stream:
            return await _ask(config, ctx, request, None)
        with DeltaEvents(ctx) as on_delta:
            return await _ask(config, ctx, request, on_delta)


async def _ask(
    config: LlmConfig, ctx: RunContext, request: ChatRequest, on_delta: OnDelta | None
) -> LlmOutput:
    models, site = ctx.service(ChatModel), CallSite.of(ctx)
    data: Any = None
    if config.output_schema is None:
        result = await models.chat(request, site=site, on_delta=on_delta)
        check_complete(result, allow_truncated=config.allow_truncated)
        check_said(result)
    else:
        found = await ask_for_data(
            models, request, config.output_schema, site=site, on_delta=on_delta, allow_truncated=config.allow_truncated
        )  # fmt: skip
        data, result = found.data, found.result
    return LlmOutput(
        text=result.text,
        data=data,
        usage=result.usage.plain(),
        finish_reason=result.finish_reason,
        model=f"{result.provider}/{result.model}",
    )


async def _messages(config: LlmConfig, ctx: RunContext) -> tuple[Message, ...]:
    if config.messages is None:
        assert config.prompt is not None
        given = [] if config.system is None else [Message(role="system", content=config.system)]
        given += _history(config.history, ctx)
        given.append(Message(role="user", content=config.prompt))
    else:
        given = [Message(role=entry["role"], content=_content(entry["content"])) for entry in config.messages]
    if not given:
        raise NodeError("'messages' is empty; a model needs at least one", kind="wrong_type", retryable=False)
    images, files = config.images or (), config.files or ()
    if images or files:
        last = given[-1]
        own = (
            [{"type": "text", "text": last.content}] if isinstance(last.content, str) else last.content or []
        )
        added = await parts(images, files, lambda ref: ctx.service(Files).load(ref))
        given[-1] = last.model_copy(update={"content": [*own, *added]})
    return tuple(given)


def _history(turns: int | None, ctx: RunContext) -> list[Message]:
    """The last turns of the conversation: each begins with a message of the user."""
    inputs = ctx.names.lookup("inputs")
    given = inputs.get("history") if isinstance(inputs, Mapping) else None
    if turns is None or not isinstance(given, list):
        return []
    found = [
        Message(role=entry["role"], content=entry["content"])
        for entry in given
        if isinstance(entry, Mapping)
        and entry.get("role") in ("user", "assistant")
        and isinstance(entry.get("content"), str)
    ]
    starts = [index for index, message in enumerate(found) if message.role == "user"]
    return found[starts[-turns] :] if len(starts) > turns else found


def _content(value: Any) -> Any:
    if isinstance(value, str | list):
        return value
    raise NodeError(
        f"the content of a message is a text or a list of parts, not {type(value).__name__}; write a value as text with"
        " `{{ … | json }}`",
        kind="wrong_type", retryable=False,
    )  # fmt: skip
