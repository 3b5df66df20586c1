"""Hooks as they are written: rules around an agent's tool calls that no model can talk its way past. Data alone."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias
from urllib.parse import urlsplit

import re2
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from interlace.resources.secrets import SecretField
from interlace.resources.tools.naming import called_as

Event = Literal["session_start", "pre_tool_use", "post_tool_use"]
MAX_HOOKS = 100
_MAX_PATTERN = 1000


class _Hook(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    events: ClassVar[tuple[Event, ...]] = ("pre_tool_use",)

    event: Event = Field(description="When it is asked.")
    priority: int = Field(100, ge=0, le=1000, description="Lower ones come first.")
    match: str = Field("*", max_length=200, description="Glob over the tool's name, as `shop__*`.")
    where: dict[str, str] = Field(
        default_factory=dict,
        max_length=20,
        description="RE2 patterns by argument (`parameters.url`); it counts where all are found in the values.",
    )

    @field_validator("where")
    @classmethod
    def _patterns(cls, where: dict[str, str]) -> dict[str, str]:
        for pattern in where.values():
            checked_pattern(pattern)
        return where

    @model_validator(mode="after")
    def _at_its_event(self) -> _Hook:
        if self.event not in self.events:
            raise ValueError(f"this hook is for {' and '.join(self.events)}, not for {self.event}")
        if self.event == "session_start" and (self.match != "*" or self.where):
            raise ValueError("no tool is called at session_start, so there is nothing to match")
        return self

    def fits(
        self, tool: str, arguments: Mapping[str, Any], *, part_of: tuple[str, str] | None = None
    ) -> bool:
        """Whether it is about this call; an action goes by its own name, whichever way it is called (`called_as`)."""
        if not any(fnmatch.fnmatchcase(name, self.match) for name in called_as(tool, arguments, part_of)):
            return False
        return all(_found(pattern, _parameter_at(arguments, path)) for path, pattern in self.where.items())


class Allow(_Hook):
    """Ask no later hook of the same list. A confirmation that the resource asks for stays."""

    do: Literal["allow"]


class Deny(_Hook):
    """Do not call; the model reads the message."""

    do: Literal["deny"]
    message: str = Field("this call is not allowed here", min_length=1, max_length=2000)


class Ask(_Hook):
    """A person has to agree first."""

    do: Literal["ask"]
    message: str = Field("a hook asks for a confirmation", min_length=1, max_length=2000)


class Rewrite(_Hook):
    """Change arguments before the call."""

    do: Literal["rewrite"]
    set: dict[str, Any] = Field(
        default_factory=dict, description="Values by argument, as `parameters.limit`."
    )
    remove: tuple[str, ...] = Field((), description="Arguments to leave out.")


class Redact(_Hook):
    """Take texts out of a result before the model reads it."""

    events: ClassVar[tuple[Event, ...]] = ("post_tool_use",)
    do: Literal["redact"]
    pattern: str = Field(description="RE2.")
    replacement: str = Field("[redacted]", max_length=200)

    @field_validator("pattern")
    @classmethod
    def _pattern(cls, pattern: str) -> str:
        return checked_pattern(pattern)


class Note(_Hook):
    """Add a text to the system prompt."""

    events: ClassVar[tuple[Event, ...]] = ("session_start",)
    do: Literal["note"]
    text: str = Field(min_length=1, max_length=10_000)


class Webhook(_Hook):
    """Ask a server: it is told of the call, and answers `{decision, message, arguments, result, note}`."""

    events: ClassVar[tuple[Event, ...]] = ("session_start", "pre_tool_use", "post_tool_use")
    do: Literal["webhook"]
    url: str = Field(
        max_length=2000, description="An http or https address, reached behind the address guard."
    )
    headers: dict[str, str] = Field(default_factory=dict)
    secret_headers: dict[str, SecretField] = Field(default_factory=dict, description="Never shown again.")
    timeout: float = Field(10.0, gt=0, le=60)
    on_error: Literal["deny", "allow"] = Field("deny", description="What counts where it does not answer.")

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise ValueError("a webhook's url is http or https, without user and password")
        return url


Hook: TypeAlias = Annotated[Allow | Deny | Ask | Rewrite | Redact | Note | Webhook, Field(discriminator="do")]


def checked_pattern(pattern: str) -> str:
    """An RE2 pattern.

    Raises:
        ValueError: it is none.
    """
    if len(pattern) > _MAX_PATTERN:
        raise ValueError(f"a pattern may have {_MAX_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"the regular expression {pattern!r} is not valid: {shown}") from None
    return pattern


def value_at(arguments: Mapping[str, Any], path: str) -> Any:
    """The value of an argument by its dotted path; None where there is none."""
    value: Any = arguments
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _parameter_at(arguments: Mapping[str, Any], path: str) -> Any:
    """The same, with and without the `parameters` in which a meta-tool takes those of what it calls."""
    value = value_at(arguments, path)
    if value is None and "subcommand" in arguments:
        return value_at(arguments, f"parameters.{path}")
    return value_at(arguments, path.removeprefix("parameters.")) if value is None else value


def _found(pattern: str, value: Any) -> bool:
    if value is None:
        return False
    text = value if isinstance(value, str) else str(value)
    return re2.search(pattern, text) is not None
