"""The operator's catalogue: the only programs that are ever started as MCP servers, with their command lines fixed.

[servers.files]
description = "Reads the shared folder"
command = ["/opt/mcp/node", "/opt/mcp/files/index.js", "{folder}"]
read = ["/srv/shared"]
environment = ["FILES_TOKEN"]
network = false

[servers.files.arguments.folder]
choices = ["/srv/shared"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from interlace.engine.errors import InterlaceError, NodeError

SETTING = "INTERLACE_MCP_STDIO_CATALOG"
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class CatalogError(InterlaceError):
    """The catalogue of MCP programs cannot be read."""


class Argument(BaseModel):
    """One value that a stored server may give."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    description: str = ""
    choices: list[str] | None = None
    pattern: str | None = Field(None, description="RE2 pattern that the whole value has to match.")
    default: str | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Argument:
        if self.choices is None and self.pattern is None:
            raise ValueError("give `choices` or a `pattern`, so that the value has bounds")
        if self.pattern is not None:
            try:
                re2.compile(self.pattern)
            except re2.error as error:
                raise ValueError(f"the pattern is not one of RE2: {error}") from error
        return self

    @property
    def allowed(self) -> str:
        """What is accepted, in words."""
        return f"one of {', '.join(self.choices)}" if self.choices else f"a match of {self.pattern}"

    def accepts(self, value: str) -> bool:
        """Whether a value may be given; one that starts with a dash would be read as an option."""
        if value.startswith("-") or "\0" in value:
            return False
        if self.choices is not None:
            return value in self.choices
        return re2.fullmatch(self.pattern, value) is not None


class Entry(BaseModel):
    """A program of the catalogue."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    command: list[str] = Field(min_length=1)
    description: str = ""
    arguments: dict[str, Argument] = Field(default_factory=dict)
    environment: list[str] = Field(default_factory=list)
    read: list[Path] = Field(default_factory=list)
    write: list[Path] = Field(default_factory=list)
    network: bool = False
    sandbox: bool = True
    trusted: bool = False

    @model_validator(mode="after")
    def _declared(self) -> Entry:
        if not Path(self.command[0]).is_absolute():
            raise ValueError("command: give the absolute path of the program, so that no search path decides")
        places = {name for part in self.command for name in _PLACE.findall(part)}
        unknown = sorted(places ^ set(self.arguments))
        if unknown:
            raise ValueError(f"arguments and places in the command differ: {', '.join(unknown)}")
        return self

    def argv(self, values: Mapping[str, str]) -> list[str]:
        """The command line with the values in it.

        Raises:
            NodeError: `mcp_definition`, for a value that is missing, unknown or not accepted.
        """
        filled: dict[str, str] = {}
        for name, argument in self.arguments.items():
            value = values.get(name, argument.default)
            if value is None:
                raise NodeError(
                    f"the argument {name!r} is missing: it has to be {argument.allowed}; give it under `arguments`"
                    f" in the definition, or by `--set {name}=…`",
                    kind="mcp_definition",
                )
            if not argument.accepts(value):
                raise NodeError(f"the argument {name!r} has to be {argument.allowed}", kind="mcp_definition")
            filled[name] = value
        unknown = sorted(set(values) - set(self.arguments))
        if unknown:
            raise NodeError(f"the catalogue's entry takes no argument {unknown[0]!r}", kind="mcp_definition")
        return [_PLACE.sub(lambda place: filled[place[1]], part) for part in self.command]


class Catalog(BaseModel):
    """All entries, by name; empty where the operator made none."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    servers: dict[str, Entry] = Field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | None) -> Catalog:
        """Read the catalogue; None is the empty one.

        Raises:
            CatalogError: the file is missing, is not TOML, or an entry is wrong.
        """
        if path is None:
            return cls()
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise CatalogError(f"{SETTING}: {path} cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CatalogError(f"{SETTING}: {path} is not TOML: {error}") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise CatalogError(f"{SETTING}: {path}: {where}: {first['msg']}") from error

    def entry(self, name: str) -> Entry:
        """One entry.

        Raises:
            NodeError: `mcp_definition`, when the operator's catalogue has none of that name.
        """
        found = self.servers.get(name)
        if found is None:
            known = ", ".join(sorted(self.servers)) or "none"
            raise NodeError(
                f"the operator's catalogue of MCP programs has no entry {name!r} (it has: {known}); "
                f"an operator adds it to the file that {SETTING} names",
                kind="mcp_definition",
            )
        return found
