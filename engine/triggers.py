"""What starts a workflow by itself: the entries of a document's `triggers`, and of triggers made beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from interlace.engine.cron import CronError, Expression, zone_of
from interlace.engine.document import Identifier, Model
from interlace.engine.durations import Seconds
from interlace.engine.errors import InvalidDocument
from interlace.engine.fields import Data
from interlace.engine.inputs import prepare_inputs
from interlace.engine.problems import Problem

DAY: Final = 86_400.0
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")]
Mapped = Annotated[
    dict[str, Data],
    Field(
        description="Inputs of the run by name; a value may hold `{{ }}` over `trigger`, `env` and `run`.",
        examples=[{"order": "{{ trigger.body.order }}"}],
    ),
]


class _Trigger(Model):
    id: Identifier | None = Field(
        None,
        description="Stable name among the workflow's triggers: under it a schedule keeps its place and a webhook its"
        " address when a new version is published. Otherwise that is the place in the list.",
    )


class ManualTrigger(Model):
    """Started by hand: commands, the API and pages can do so without it."""

    type: Literal["manual"] = Field(description="Started by hand.")
    inputs: Mapped = Field(default_factory=dict)


class ChatTrigger(Model):
    """Started by messages of sessions; see `settings.chat`."""

    type: Literal["chat"] = Field(description="Started by messages of sessions.")
    inputs: Mapped = Field(default_factory=dict)


class CronTrigger(_Trigger):
    """Started by the clock."""

    type: Literal["cron"] = Field(description="Started by the clock.")
    cron: str = Field(
        description="Five fields (minute hour day month weekday), six with the seconds first, or a name such as @daily.",
        examples=["0 9 * * MON-FRI"],
    )
    timezone: str = Field("UTC", description="IANA name of the time zone.", examples=["Europe/Berlin"])
    inputs: Mapped = Field(default_factory=dict)
    missed: Literal["skip", "latest", "all"] = Field(
        "latest", description="Which of the times that passed while nothing ran are made up for."
    )
    missed_limit: int = Field(
        100, ge=1, le=10_000, description="Most missed times that `all` makes up for: the newest."
    )
    grace: Seconds = Field(
        60.0, ge=1, le=DAY, description="How late a run may be started without counting as missed."
    )
    overlap: Literal["allow", "skip", "queue", "cancel_previous"] = Field(
        "allow",
        description="What happens while an earlier run of this schedule has not ended: start beside it, leave this time"
        " out, start when it has ended, or cancel it.",
    )
    jitter: Seconds = Field(
        0.0,
        le=DAY,
        description="Spread the starts over so much time; each nominal time has its own, fixed delay.",
    )

    @field_validator("cron")
    @classmethod
    def _readable(cls, value: str) -> str:
        return _checked(Expression, value)

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        return _checked(zone_of, value)


class Signature(Model):
    """How a webhook's sender proves itself."""

    type: Literal["github", "stripe", "slack", "shopify", "standard", "gitlab", "twilio", "hmac"] = Field(
        description="Whose way of signing: `standard` is Standard Webhooks, `hmac` one that the fields below describe."
    )
    secret: str | None = Field(
        None, description="Name of the stored secret; without it the webhook has a secret of its own."
    )
    previous_secret: str | None = Field(
        None, description="Name of the stored secret that counts as well while secrets are changed."
    )
    tolerance: Seconds = Field(
        300.0, ge=1, le=DAY, description="How old a signed time may be, and how far ahead."
    )
    header: HeaderName | None = Field(None, description="`hmac`: the header with the signature.")
    algorithm: Literal["sha256", "sha1", "sha512"] = Field("sha256", description="`hmac`: the hash.")
    encoding: Literal["hex", "base64"] = Field("hex", description="`hmac`: how the signature is written.")
    prefix: str = Field(
        "", max_length=50, description="`hmac`: what stands before the signature, such as `sha256=`."
    )
    timestamp_header: HeaderName | None = Field(
        None, description="`hmac`: the header with Unix seconds, which are signed as `<seconds>.<body>`."
    )
    url: str | None = Field(
        None,
        description="`twilio`: the address that Twilio calls, where it is not the public one of this server.",
    )

    @model_validator(mode="after")
    def _header(self) -> Signature:
        if self.type == "hmac" and self.header is None:
            raise ValueError("a signature of type hmac needs the field header")
        return self


class Idempotency(Model):
    """What tells two deliveries of the same thing: the second starts nothing."""

    header: HeaderName | None = Field(None, description="Name of the header.", examples=["X-GitHub-Delivery"])
    key: str | None = Field(
        None, description="Or a text with `{{ }}` over `trigger`.", examples=["{{ trigger.body.id }}"]
    )

    @model_validator(mode="after")
    def _one(self) -> Idempotency:
        if (self.header is None) == (self.key is None):
            raise ValueError("give exactly one of 'header' and 'key'")
        return self


class WebhookResponse(Model):
    """What a webhook answers."""

    mode: Literal["immediate", "wait"] = Field(
        "immediate",
        description="`immediate`: 202 as soon as the delivery is durable; `wait`: the outputs of the run.",
    )
    timeout: Seconds = Field(
        30.0, ge=1, le=600, description="`wait`: longest time; the run goes on after it."
    )


class WebhookTrigger(_Trigger):
    """Started by requests to an address of its own."""

    type: Literal["webhook"] = Field(description="Started by requests to an address of its own.")
    methods: list[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]] = Field(
        ["POST"], min_length=1, description="Methods that are taken."
    )
    content_types: list[str] = Field(
        default_factory=list,
        description="Media types that are taken, such as application/json; all of them if empty.",
    )
    signature: Signature | None = Field(None, title="Signature", description="How the sender proves itself.")
    idempotency: Idempotency | None = Field(
        None,
        title="Idempotency",
        description="What tells that a delivery comes again; nothing does by default.",
    )
    response: WebhookResponse = Field(
        default_factory=WebhookResponse, title="Response", description="What is answered."
    )
    max_size: int = Field(5_000_000, ge=1, le=20_000_000, description="Largest body in bytes.")
    inputs: Mapped = Field(default_factory=dict)


class EventTrigger(_Trigger):
    """Started by the end of another workflow's run."""

    type: Literal["event"] = Field(description="Started by the end of another workflow's run.")
    workflow: str = Field(min_length=1, max_length=200, description="Name or id of the other workflow.")
    on: list[Literal["succeeded", "failed", "cancelled"]] = Field(
        ["succeeded", "failed"], min_length=1, description="How its run ended."
    )
    inputs: Mapped = Field(default_factory=dict)


Trigger: TypeAlias = ManualTrigger | ChatTrigger | CronTrigger | WebhookTrigger | EventTrigger
Automatic: TypeAlias = CronTrigger | WebhookTrigger | EventTrigger
MODELS: Final[Mapping[str, type[Trigger]]] = MappingProxyType(
    {
        "manual": ManualTrigger,
        "chat": ChatTrigger,
        "cron": CronTrigger,
        "webhook": WebhookTrigger,
        "event": EventTrigger,
    }
)


def read_trigger(raw: Mapping[str, Any]) -> Trigger:
    """A trigger of a document that was validated, or of a stored definition.

    Raises:
        ValidationError: it has another shape.
        KeyError: it is of no known type.
    """
    return MODELS[raw["type"]].model_validate(raw)


def automatic(raws: list[dict[str, Any]]) -> dict[str, Automatic]:
    """The triggers of a document that start runs by themselves, by a key that stays the same across versions.

    Those that cannot be read, as in documents of other versions, are left out.
    """
    found: dict[str, Automatic] = {}
    counts: dict[str, int] = {}
    for raw in raws:
        kind = raw.get("type")
        if kind not in ("cron", "webhook", "event"):
            continue
        counts[kind] = counts.get(kind, 0) + 1
        try:
            trigger = read_trigger(raw)
        except ValueError:
            continue
        assert isinstance(trigger, CronTrigger | WebhookTrigger | EventTrigger)
        found[trigger.id or f"{kind}-{counts[kind]}"] = trigger
    return found


def input_problems(trigger: CronTrigger | EventTrigger, schema: Mapping[str, Any]) -> list[Problem]:
    """What keeps the runs of a trigger from starting: its inputs against the workflow's; computed values are left out."""
    computed = {name for name, value in trigger.inputs.items() if "{{" in str(value)}
    try:
        prepare_inputs(
            schema, {name: value for name, value in trigger.inputs.items() if name not in computed}
        )
    except InvalidDocument as error:
        places = ((problem, str(problem.field).split(".")[1:2]) for problem in error.problems)
        return [problem for problem, name in places if not name or name[0].partition("[")[0] not in computed]
    return []


def _checked(make: Callable[[str], object], value: str) -> str:
    try:
        make(value)
    except CronError as error:
        raise ValueError(str(error).rstrip(".")) from None
    return value
