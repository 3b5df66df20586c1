"""A connector: where an API is, how requests are authenticated, and its actions. Plain data, without any secret."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from interlace.engine.document import JsonSchema, Model
from interlace.engine.durations import Seconds
from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import compile_value
from interlace.engine.problems import nearest
from interlace.resources.connectors.auth import AuthDefinition, NoCredentials
from interlace.resources.http.paging_setting import JmesPath, PagingSetting
from interlace.resources.secrets import SecretField

Place: TypeAlias = Literal["path", "query", "querystring", "header", "cookie", "body"]
Style: TypeAlias = Literal[
    "simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"
]
Confirmation: TypeAlias = Literal["always", "model", "never"]

READING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
REPEATABLE = READING | {"PUT", "DELETE"}
MAX_ACTIONS = 5000

_METHOD = re.compile(r"[A-Z][A-Z0-9_-]{0,31}")
_BASE_URL = re.compile(r"(?:https?|\{\w+\})://[^\s/?#]+[^\s?#]*|\{\w+\}[^\s?#]*", re.IGNORECASE)


def _method(text: str) -> str:
    if not _METHOD.fullmatch(text):
        raise ValueError(f"{text!r} is no HTTP method")
    return text


def _path(text: str) -> str:
    if text and not text.startswith("/"):
        raise ValueError(f"path {text!r} must begin with '/'")
    if re.search(r"[\s#]", text):
        raise ValueError(f"path {text!r} holds a blank or '#'")
    return text


def _base_url(text: str) -> str:
    if text and not _BASE_URL.fullmatch(text):
        raise ValueError(f"{text!r} is no base URL; write https://api.example.com/v1, without a query")
    return text.rstrip("/")


def check_template(template: Any, known: list[str], where: str) -> None:
    """Hold a body template against the names it may use.

    Raises:
        ValueError: it cannot be read, or uses another name.
    """
    try:
        used = {reference.root for reference in compile_value(template).references}
    except ExpressionError as error:
        raise ValueError(f"{where}: {error.message}") from None
    if used - set(known):
        raise ValueError(f"{where} uses {sorted(used - set(known))}, which are no parameters")


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


Name = Annotated[str, StringConstraints(pattern=r"^[\w-]{1,64}$")]
Method = Annotated[str, BeforeValidator(_upper), AfterValidator(_method)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]


class Parameter(Model, defer_build=True):
    """One value of a request besides its body: `name` is the argument, `key` what stands in the request."""

    name: Name = Field(description="Name of the argument; unique in the action.")
    key: str = Field("", description="Name in the request, where it differs.")
    place: Place = Field(alias="in", description="Where the value stands in the request.")
    required: bool = Field(False, description="Whether a request needs it.")
    description: str = Field("", description="What it means.")
    schema_: JsonSchema = Field(default_factory=dict, alias="schema", description="JSON Schema of the value.")
    style: Style | None = Field(
        None, description="How lists and objects are written; the place's own if none."
    )
    explode: bool | None = Field(None, description="Whether lists repeat the name; the style's own if none.")
    allow_reserved: bool = Field(False, description="Whether characters such as / and ? stay as they are.")
    send_default: bool = Field(
        False, description="Whether the schema's default is sent where no value is given."
    )
    media_type: str | None = Field(None, description="The value is written as this media type (JSON).")

    @property
    def wire(self) -> str:
        """Name in the request."""
        return self.key or self.name


class Encoding(Model, defer_build=True):
    """How one field of a form is written."""

    media_type: str | None = Field(None, description="Media type of the field.")
    style: Style | None = Field(None, description="How lists and objects are written.")
    explode: bool | None = Field(None, description="Whether lists repeat the name.")
    allow_reserved: bool = Field(False, description="Whether characters such as / and ? stay as they are.")


class Body(Model, defer_build=True):
    """A body that an action takes, in one media type."""

    media_type: str = Field("application/json", description="Media type that is sent.")
    schema_: JsonSchema = Field(default_factory=dict, alias="schema", description="JSON Schema of the value.")
    encoding: dict[str, Encoding] = Field(default_factory=dict, description="Fields of a form, by name.")


class RateLimit(Model, defer_build=True):
    """At most so many requests in a time; calls above it wait."""

    requests: int = Field(ge=1, le=1_000_000, description="Requests allowed.")
    per: Seconds = Field(1.0, gt=0, description="In this time.")
    burst: int | None = Field(None, ge=1, description="Requests that may come at once; `requests` if none.")


class Retrying(Model, defer_build=True):
    """How passing failures are tried again: only where a repetition does no harm."""

    max: int = Field(2, ge=0, le=20, description="Retries after the first try.")
    delay: Seconds = Field(0.5, description="Pause before the first retry; doubled each time.")
    max_delay: Seconds = Field(30.0, description="The longest pause, also where Retry-After asks for more.")


class Breaking(Model, defer_build=True):
    """When calls are refused because the other side is down."""

    failures: int = Field(5, ge=0, le=1000, description="Failures in a row that open it; 0 switches it off.")
    pause: Seconds = Field(30.0, gt=0, description="Time until one call is let through again.")


class Action(Model, defer_build=True):
    """One request that a connector can make."""

    name: Name = Field(description="Name in workflows and for agents; unique in the connector.")
    description: str = Field("", description="What it does.")
    method: Method = Field("GET", description="HTTP method.")
    path: Annotated[str, AfterValidator(_path)] = Field(
        "", description="Path below the base URL, with {names}."
    )
    base_url: BaseUrl = Field("", description="Another base URL for this action alone.")
    parameters: list[Parameter] = Field(default_factory=list, description="Values of the request.")
    body_name: Name = Field("body", description="Name of the argument that holds the body.")
    bodies: list[Body] = Field(default_factory=list, description="Bodies it takes, the preferred one first.")
    body_required: bool = Field(False, description="Whether a request needs a body.")
    send_default_body: bool = Field(
        False, description="Whether the default of the body's schema is sent where no body is given."
    )
    body_template: Any = Field(
        None, description="Body with {{ names }} of `in: body` parameters, for APIs with a fixed shape."
    )
    body_media_type: str = Field(
        "application/json", description="Media type of a body made of a template or of `in: body` parameters."
    )
    accept: str = Field("", description="Accept header.")
    authenticate: bool = Field(True, description="Whether the connector's credentials are sent.")
    response_schema: JsonSchema = Field(
        default_factory=dict, description="JSON Schema of a good answer's body."
    )
    extract: JmesPath | None = Field(None, description="JMESPath to the part of the answer that is given.")
    pagination: PagingSetting | None = Field(None, description="How its pages follow each other.")
    requires_confirmation: bool = Field(False, description="Whether a person confirms calls a model chose.")
    deprecated: bool = Field(False, description="Whether the API's author advises against it.")
    tags: list[str] = Field(default_factory=list, description="Groups of the API.")

    @model_validator(mode="after")
    def _consistent(self) -> Action:
        seen: set[str] = set()
        for name in self.arguments():
            if name in seen:
                raise ValueError(f"action {self.name!r} has two arguments {name!r}")
            seen.add(name)
        if self.bodies and (
            self.body_template is not None or any(p.place == "body" for p in self.parameters)
        ):
            raise ValueError(f"action {self.name!r} has bodies, and a template or parameters of a body too")
        if self.body_template is not None:
            check_template(self.body_template, self.arguments(), f"action {self.name!r}: body_template")
        holes = set(re.findall(r"\{([^{}]+)\}", self.path))
        given = {parameter.wire for parameter in self.parameters if parameter.place == "path"}
        if holes - given:
            raise ValueError(f"action {self.name!r}: no path parameter for {sorted(holes - given)}")
        return self

    def arguments(self) -> list[str]:
        """Names that a call may give, the body's last."""
        names = [parameter.name for parameter in self.parameters]
        if self.bodies:
            names.append(self.body_name)
        if len(self.bodies) > 1:
            names.append(self.content_type_name)
        return names

    @property
    def content_type_name(self) -> str:
        """Argument that chooses among several bodies."""
        return f"{self.body_name}_type"

    @property
    def reads(self) -> bool:
        """Whether its method changes nothing."""
        return self.method in READING

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no harm."""
        return self.method in REPEATABLE


class Connector(Model, defer_build=True):
    """An API with its actions."""

    name: Name = Field(description="Name in workflows and for agents; unique in its owner's scope.")
    title: str = Field("", description="Name for people.")
    description: str = Field("", description="What the API is for.")
    base_url: BaseUrl = Field("", description="Where the API is; {names} stand for `variables`.")
    variables: dict[str, str] = Field(default_factory=dict, description="Values of names in base URLs.")
    auth: AuthDefinition = Field(default_factory=NoCredentials, description="How requests are authenticated.")
    credentials: Literal["shared", "user"] = Field(
        "shared", description="Whether all callers use the owner's credentials, or each their own."
    )
    headers: dict[str, str] = Field(default_factory=dict, description="Headers of every request.")
    secret_headers: dict[str, SecretField] = Field(
        default_factory=dict, description="Headers of every request whose values are secret."
    )
    timeout: Seconds = Field(60.0, gt=0, le=3600, description="Time for one request, retries not included.")
    retry: Retrying = Field(default_factory=Retrying, description="Retries.")
    rate_limit: RateLimit | None = Field(None, description="Most requests in a time.")
    breaker: Breaking = Field(default_factory=Breaking, description="Circuit breaker.")
    pagination: PagingSetting | None = Field(
        None, description="How pages follow each other, unless an action says."
    )
    confirmation: Confirmation = Field(
        "model",
        description="Who needs a confirmation for actions that require one: calls a model chose, always also nodes, never.",
    )
    actions: list[Action] = Field(default_factory=list, max_length=MAX_ACTIONS, description="What it can do.")
    schemas: dict[str, JsonSchema] = Field(
        default_factory=dict, description="JSON Schemas that those of the actions refer to as #/$defs/<name>."
    )
    source: str = Field("", description="What it was made from.")

    @model_validator(mode="after")
    def _unique(self) -> Connector:
        seen: set[str] = set()
        for action in self.actions:
            if action.name in seen:
                raise ValueError(f"two actions are called {action.name!r}")
            seen.add(action.name)
        return self

    def find(self, name: str) -> Action | None:
        """The action of that name."""
        return next((action for action in self.actions if action.name == name), None)

    def nearest(self, name: str) -> str | None:
        """The action name most like this one."""
        return nearest(name, [action.name for action in self.actions])

    def needs_confirmation(self, action: Action, *, chosen_by_model: bool) -> bool:
        """Whether a person has to confirm the call first."""
        if not action.requires_confirmation or self.confirmation == "never":
            return False
        return chosen_by_model or self.confirmation == "always"
