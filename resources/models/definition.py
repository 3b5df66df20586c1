"""Providers and their models, as they are stored and as `interlace.toml` writes them."""

from __future__ import annotations

from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from interlace.resources.secrets import SecretField

Role = Literal["general", "fast", "embedding"]
Capability = Literal["tools", "json_schema", "json_mode", "vision", "reasoning", "streaming", "embedding"]

_MASK: Final = "**********"


class _Definition(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class Price(_Definition):
    """What a model costs, per million tokens."""

    input: float = Field(ge=0, title="Input", description="Price of a million input tokens.", examples=[0.25])
    output: float = Field(
        0.0, ge=0, title="Output", description="Price of a million output tokens.", examples=[2.0]
    )
    cached_input: float | None = Field(
        None, ge=0, title="Cached input", examples=[0.025],
        description="Price of a million input tokens that the provider had read before; that of input otherwise.",
    )  # fmt: skip
    currency: str = Field(
        "USD", pattern=r"^[A-Z]{3}$", title="Currency", description="Currency of the prices, by ISO 4217."
    )


class ModelDefinition(_Definition):
    """One model of a provider."""

    name: str = Field(
        min_length=1, max_length=200, title="Name", description="The name that the provider knows."
    )
    context_window: int | None = Field(
        None, ge=1, title="Context", description="Tokens that the model reads and writes at most."
    )
    max_output: int | None = Field(
        None, ge=1, title="Longest answer", description="Most tokens of an answer."
    )
    price: Price | None = Field(
        None, title="Price", description="Without it, costs are not known and not counted."
    )
    capabilities: frozenset[Capability] | None = Field(
        None, title="Capabilities",
        description="What the model can do; where not given everything is tried, and what the provider refuses is left out.",
    )  # fmt: skip
    fallback: tuple[str, ...] = Field(
        (),
        title="Fallback",
        description="Models that are asked instead when this one is busy or out of reach, in order.",
    )

    def can(self, capability: Capability) -> bool:
        """Whether the model has a capability, as far as is known; a reasoning model is only one that says so."""
        if self.capabilities is None:
            return capability != "reasoning"
        return capability in self.capabilities


class ProviderDefinition(_Definition):
    """An endpoint that speaks the OpenAI wire format, and its models."""

    name: str = Field(
        min_length=1,
        max_length=100,
        pattern=r"^[^/\s]+$",
        title="Name",
        description="How references name the provider.",
    )
    base_url: str = Field(
        "https://api.openai.com/v1",
        title="Base URL",
        description="Address of the API, as the SDK takes it: with /v1.",
    )
    api_key: SecretField | None = Field(
        None, repr=False, title="API key", description="The key, or the name of the secret that holds it."
    )
    headers: dict[str, SecretField] = Field(
        default_factory=dict, repr=False, title="Headers", description="Further headers of every request."
    )
    models: tuple[ModelDefinition, ...] = Field(
        (), title="Models", description="The models that can be asked."
    )
    any_model: bool = Field(
        False, title="Any model", description="Also ask for models that are not listed; the endpoint decides."
    )
    roles: dict[Role, str] = Field(
        default_factory=dict, title="Roles", description="Which of the models serves a role."
    )
    timeout: float = Field(
        120.0,
        gt=0,
        le=3600,
        title="Time-out",
        description="Seconds without a byte after which a call is given up.",
    )
    retries: int = Field(2, ge=0, le=10, title="Retries", description="Further attempts at the same model.")
    max_tokens_parameter: Literal["max_tokens", "max_completion_tokens"] | None = Field(
        None, title="Limit of tokens",
        description="How the API calls the limit of an answer; by its address where not given.",
    )  # fmt: skip

    @field_validator("base_url")
    @classmethod
    def _url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("write an http or https address, such as https://api.example.com/v1")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ValueError(
                "credentials, query and fragment do not belong into the address; use api_key and headers"
            )
        return value.rstrip("/")

    @model_validator(mode="after")
    def _known(self) -> ProviderDefinition:
        names = [model.name for model in self.models]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two models are called {twice[0]!r}")
        for role, name in self.roles.items():
            if name not in names and not self.any_model:
                raise ValueError(f"role {role!r} names {name!r}, which is not among the models")
        return self

    def model(self, name: str) -> ModelDefinition | None:
        """A model by name; one that is not listed where any is allowed."""
        for model in self.models:
            if model.name == name:
                return model
        return ModelDefinition(name=name) if self.any_model and name else None

    @property
    def limit_parameter(self) -> str:
        """How this API calls the limit of an answer's tokens."""
        own = urlsplit(self.base_url).hostname == "api.openai.com"
        return self.max_tokens_parameter or ("max_completion_tokens" if own else "max_tokens")


class ModelSettings(_Definition):
    """`[models]` of interlace.toml: providers of the whole installation, and which models serve a role, in order."""

    providers: tuple[ProviderDefinition, ...] = Field(
        (), title="Providers", description="Providers that everybody may use."
    )
    roles: dict[Role, tuple[str, ...]] = Field(
        default_factory=dict,
        title="Roles",
        description="Models of a role, in the order in which they are asked.",
    )

    @field_validator("roles", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {role: (names,) if isinstance(names, str) else names for role, names in value.items()}

    def masked(self) -> dict[str, Any]:
        """As plain values, with keys and headers masked; names of secrets stay."""
        found = self.model_dump(mode="json", exclude_none=True)
        for provider in found["providers"]:
            if isinstance(provider.get("api_key"), str):
                provider["api_key"] = _MASK
            provider["headers"] = {
                name: value if isinstance(value, dict) else _MASK
                for name, value in provider["headers"].items()
            }
        return found
