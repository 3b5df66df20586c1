"""HUMAN: ask people and wait for their answer, for days if need be, without holding anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from interlace.engine.document import JsonSchema, NodeSpec
from interlace.engine.durations import Seconds
from interlace.engine.fields import Dynamic, Secret
from interlace.engine.inputs import problems_of
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.schema import Schema
from interlace.engine.waits import DAY, TIMEOUT, Answer, Rules, Suspend, Wanted
from interlace.resources.notices import Notices

_RESERVED = frozenset({TIMEOUT, "error", "out"})
Action = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]


def _different(actions: list[str]) -> list[str]:
    if len(set(actions)) < len(actions):
        raise ValueError("each action once")
    taken = sorted(_RESERVED & set(actions))
    if taken:
        raise ValueError(f"{taken[0]!r} is a handle of its own; choose another name")
    return actions


class Escalation(Config):
    """Who else is asked when nobody has answered."""

    after: Seconds = Field(gt=0, description="How long after the request.", examples=["1d"])
    assignees: Dynamic[list[str]] = Field(
        description="Who may answer from then on, besides those asked before."
    )


class Channel(Config):
    """Where the request is announced, besides the inbox."""

    type: Literal["webhook", "slack", "email"] = Field(
        description="A webhook of yours, a Slack-compatible one, or mail over the operator's server."
    )
    url: Secret[str] | None = Field(
        None, description="Where the message is posted. Reminders go to addresses that hold no secret."
    )
    to: Dynamic[list[str]] = Field(
        default_factory=list,
        description="The addresses that mail goes to.",
        examples=[["finance@example.com"]],
    )

    @model_validator(mode="after")
    def _has_a_place(self) -> Channel:
        if (self.type == "email") != bool(self.to) or (self.type == "email") == bool(self.url):
            raise ValueError("a channel of type email has `to`, the others have `url`")
        return self

    def target(self) -> dict[str, Any]:
        """The channel as it is posted to."""
        return (
            {"type": self.type, "to": list(self.to)}
            if self.type == "email"
            else {"type": self.type, "url": self.url}
        )


class HumanConfig(Config):
    """What is asked, and of whom."""

    title: Dynamic[str] = Field(
        title="Title", description="The question in one line.",
        examples=["Approve {{ inputs.amount }} for {{ inputs.vendor }}?"],
    )  # fmt: skip
    message: Dynamic[str] | None = Field(
        None, title="Message", description="What people need to know to answer, in Markdown.",
        json_schema_extra={"widget": "markdown"},
    )  # fmt: skip
    form: JsonSchema | None = Field(
        None, title="Form", description="JSON Schema of an object: what people fill in with their answer.",
        examples=[{"type": "object", "properties": {"note": {"type": "string"}}}],
    )  # fmt: skip
    actions: Annotated[list[Action], AfterValidator(_different)] = Field(
        default_factory=lambda: ["approve", "reject"], min_length=1, max_length=20, title="Actions",
        description="The answers to choose from; each is a handle. The first is the one that `quorum` counts.",
    )  # fmt: skip
    assignees: Dynamic[list[str]] = Field(
        default_factory=list, title="Assignees",
        description="Who may answer: names, role:NAME, group:NAME. Nobody named: everybody who may see the run.",
        examples=[["ada", "group:finance"]],
    )  # fmt: skip
    quorum: int = Field(
        1, ge=1, le=100, title="Quorum",
        description="How many different people must choose the first action; any other action decides at once.",
    )  # fmt: skip
    allow_self: bool = Field(
        True, title="Allow self", description="Whether the person who started the run may answer."
    )
    timeout: Seconds = Field(
        7 * DAY, gt=0, title="Time-out", description="When nobody has answered: handle and action `timeout`."
    )
    reminders: list[Seconds] = Field(
        default_factory=list,
        title="Reminders",
        description="Times after the request at which it is posted again.",
    )
    escalation: list[Escalation] = Field(
        default_factory=list, title="Escalation", description="Who else is asked, and when."
    )
    channels: list[Channel] = Field(
        default_factory=list,
        title="Channels",
        description="Where the request is announced; the inbox always has it.",
    )


class HumanOutput(Output):
    """The answer."""

    action: str = Field(description="The action chosen, or `timeout`.")
    form: dict[str, Any] = Field(description="What was filled in; empty after a time-out.")
    by: str | None = Field(description="Who answered; null after a time-out.")
    at: str = Field(description="When, as an ISO date-time.")
    comment: str | None = Field(description="What was said with the answer.")
    answers: list[dict[str, Any]] = Field(description="Every single answer: by, at, action, form, comment.")


class Human(Node[HumanConfig, HumanOutput]):
    """Ask a person and wait for the answer."""

    kind = "HUMAN"
    group, icon = "human", "user-check"
    timeout = None
    takes_slot = False  # it asks and lets go
    example: ClassVar[dict[str, Any]] = {
        "title": "Approve {{ inputs.amount }}?",
        "form": {"type": "object", "properties": {"note": {"type": "string"}}},
        "timeout": "2d",
    }

    def handles(self) -> tuple[str, ...]:
        """One an action, and `timeout`."""
        return (*self.config.actions, TIMEOUT)

    def handles_of(self, outputs: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The action's."""
        action = outputs.get("action")
        return (action,) if action in self.handles() else None

    def output_schema(self, types: TypeContext) -> Schema:
        """`form` has the form's own schema."""
        del types
        schema = HumanOutput.model_json_schema()
        properties = dict(schema["properties"])
        properties["action"] = {"type": "string", "enum": [*self.config.actions, TIMEOUT]}
        properties["form"] = {"type": "object"} if self.config.form is None else self.config.form
        return {**schema, "properties": properties}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """The form is a usable schema of an object."""
        del spec
        form = self.config.form
        if form is None:
            return
        if form.get("type") != "object":
            yield Finding(
                code="form", field="config.form", message="the form is no JSON Schema of an object.",
                fix="Begin it with `type: object` and describe its fields under `properties`.",
            )  # fmt: skip
        elif wrong := [
            p for p in problems_of(form, {}, "config.form", code="form") if p.code == "form_schema"
        ]:
            yield Finding(code="form", field="config.form", message=wrong[0].message)

    async def run(self, config: HumanConfig, ctx: RunContext) -> HumanOutput:
        """Ask.

        Raises:
            Suspend: always; nobody is ever taken to have agreed.
        """
        request: dict[str, Any] = {
            "title": config.title,
            "message": config.message,
            "actions": config.actions,
        }
        if config.form is not None:
            request["form"] = config.form
        rules = Rules(
            assignees=tuple(config.assignees),
            quorum=config.quorum,
            allow_self=config.allow_self,
            reminders=tuple(config.reminders),
            escalation=tuple((step.after, tuple(step.assignees)) for step in config.escalation),
            channels=tuple(_open_channels(self.config, config)),
        )
        wanted = Wanted(kind="human", request=request, rules=rules, until=ctx.now() + config.timeout)
        raise Suspend(wanted, _announcement(config, ctx, request))

    def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> HumanOutput:
        """Take the answer."""
        del state
        ctx.take(answer.action)
        at = datetime.fromtimestamp(answer.at, UTC).isoformat().replace("+00:00", "Z")
        return HumanOutput(
            action=answer.action, form=dict(answer.form), by=answer.by, at=at, comment=answer.comment,
            answers=[dict(entry) for entry in answer.answers],
        )  # fmt: skip


def _open_channels(written: HumanConfig, evaluated: HumanConfig) -> Iterator[dict[str, Any]]:
    """The channels whose address may be kept with the request: those without a secret."""
    for source, channel in zip(written.channels, evaluated.channels, strict=True):
        if "secrets" not in (source.url or ""):
            yield channel.target()


def _announcement(
    config: HumanConfig, ctx: RunContext, request: Mapping[str, Any]
) -> Callable[[str], Awaitable[None]] | None:
    """What posts the request once; a node test announces nothing, for nobody could answer."""
    if not config.channels or ctx.run.trigger.get("kind") == "test":
        return None

    async def announce(wait_id: str) -> None:
        for channel in config.channels:
            failure = await ctx.service(Notices).post(channel.target(), request, wait_id)
            if failure is not None:
                ctx.log(f"the request could not be posted to a {channel.type} channel: {failure}")

    return announce
