"""What an agent is: a persona and a filter on what the user can see anyway. It holds no resources and is no tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from interlace.engine.errors import NodeError
from interlace.resources import front_matter
from interlace.resources.agents.hooks import MAX_HOOKS, Hook
from interlace.resources.tools.tool import Category

WRONG: Final = "agent_definition"
MAX_TEXT: Final = 500_000
SkillMode = Literal["progressive", "inline"]
ToolMode = Literal["progressive", "legacy"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Limits(_Part):
    """What one run of the loop may take; running out ends it with a partial answer and a reason."""

    iterations: int = Field(20, ge=1, le=200, description="Model calls; the last one is kept for the answer.")
    seconds: float = Field(1800.0, gt=0, description="Time by the wall clock.")
    tokens: int | None = Field(None, gt=0, description="Input and output tokens together.")
    cost: float | None = Field(None, gt=0, description="Money, in the currency of the models.")
    tool_calls: int | None = Field(None, ge=1, description="Calls of tools.")
    tool_seconds: float = Field(120.0, gt=0, description="Time of one call of a tool.")
    repeats: int = Field(
        3, ge=1, description="The same call with the same arguments brings a warning, then a stop."
    )


class ModelConfig(_Part):
    """How the model is used, and how much of the resources stands in its prompt; unset is the environment's setting."""

    skill_tool_mode: SkillMode | None = None
    connector_tool_mode: ToolMode | None = None
    database_tool_mode: ToolMode | None = None
    mcp_tool_mode: ToolMode | None = None
    calling: Literal["auto", "native", "json"] = "auto"
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, gt=0)
    reflection_every: int = Field(0, ge=0, description="Tool turns between reflections; 0 is none.")
    completion_check: bool = False
    synthesis: bool = False
    code_mode: bool = False


class Agent(_Part):
    """A stored agent. Ids and names of resources are looked up with the rights of whoever chats."""

    name: str = Field(min_length=1, max_length=100)
    description: str = Field(
        "", max_length=2000, description="Shown to people and in the catalogue of `call_agent`."
    )
    instructions: str = Field(
        "",
        max_length=100_000,
        description="The system prompt; shown to nobody but the model and those who may change the agent.",
    )
    model: str | None = Field(None, description="A model or a role; without it, the role `general`.")
    connector_ids: tuple[str, ...] = Field(
        (), description="API connectors and databases it may use, by id or name."
    )
    kb_ids: tuple[str, ...] = Field((), description="Knowledge bases it may search, by id or name.")
    grounded: bool = Field(
        False, description="Knowledge comes with verified quotes and a refusal below a threshold."
    )
    tool_categories: tuple[Category, ...] | None = Field(
        None, description="Kinds of tools it may use, meta-tools included; None is all, an empty list none."
    )
    builder: bool = Field(False, description="Left out of the catalogue of `call_agent`.")
    limits: Limits = Limits()
    model_config_json: ModelConfig = ModelConfig()
    hooks: tuple[Hook, ...] = Field(
        (), max_length=MAX_HOOKS, description="Rules around its tool calls, after those of organisations."
    )


_HOOKS: TypeAdapter[tuple[Hook, ...]] = TypeAdapter(tuple[Hook, ...])


def read_definition(definition: Mapping[str, Any] | Agent) -> Agent:
    """A definition, checked.

    Raises:
        NodeError: `agent_definition`, naming each field that is wrong.
    """
    if isinstance(definition, Agent):
        return definition
    try:
        return Agent.model_validate(definition)
    except ValidationError as error:
        raise _wrong("agent", error) from None


def read_hooks(hooks: Sequence[Any]) -> tuple[Hook, ...]:
    """A list of hooks, checked.

    Raises:
        NodeError: `agent_definition`, naming each field that is wrong.
    """
    if len(hooks) > MAX_HOOKS:
        raise NodeError(
            f"{len(hooks)} hooks are too many; {MAX_HOOKS} are allowed", kind=WRONG, retryable=False
        )
    try:
        return _HOOKS.validate_python(hooks)
    except ValidationError as error:
        raise _wrong("list of hooks", error) from None


def read_text(text: str, *, name: str | None = None) -> Agent:
    """An agent from a file: YAML or JSON of its fields, or Markdown, whose text are the instructions.

    Raises:
        NodeError: `agent_definition`.
    """
    if len(text) > MAX_TEXT:
        raise NodeError(
            f"the text has {len(text):,} characters; {MAX_TEXT:,} are allowed", kind=WRONG, retryable=False
        )
    if text.lstrip("\ufeff").startswith("---") and len(text.split("\n---", 1)) > 1:
        data, body = front_matter.split(text, kind=WRONG)
        data = {**data, "instructions": body} if body else data
    else:
        data = front_matter.read_mapping(text, kind=WRONG)
    return read_definition({**({} if name is None else {"name": name}), **data})


def _wrong(what: str, error: ValidationError) -> NodeError:
    said = "; ".join(
        f"{'.'.join(str(part) for part in entry['loc']) or 'definition'}: {entry['msg'].removeprefix('Value error, ')}"
        for entry in error.errors()
    )
    return NodeError(f"this is no {what}: {said}", kind=WRONG, retryable=False)
