"""ENV: settings of the environment that the run acts in."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from interlace.engine.document import Identifier
from interlace.engine.errors import NodeError
from interlace.engine.node import Config, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.problems import nearest
from interlace.engine.protocols import Environment
from interlace.engine.schema import Schema


class EnvConfig(Config):
    """Which settings are read, under which names."""

    values: dict[Identifier, str] = Field(
        min_length=1,
        title="Values",
        description="Output name → name of the setting in the run's environment (dev, staging, prod). Secrets are not"
        " settings and cannot be read here.",
        examples=[{"base_url": "SHOP_URL"}],
    )


class EnvOutput(OpenOutput):
    """The settings by output name."""


class Env(Node[EnvConfig, EnvOutput]):
    """Read settings of the environment: the same workflow, other values in dev, staging and prod."""

    kind = "ENV"
    group, icon = "data", "sliders-horizontal"
    example: ClassVar[dict[str, Any]] = {"values": {"base_url": "SHOP_URL"}}

    def output_schema(self, types: TypeContext) -> Schema:
        """The names; their types are known at run only."""
        del types
        names = list(self.config.values)
        return {"type": "object", "properties": {name: {} for name in names}, "required": names}

    def run(self, config: EnvConfig, ctx: RunContext) -> EnvOutput:
        """Read the settings.

        Raises:
            NodeError: the environment lacks some of them; all are named.
        """
        settings = ctx.service(Environment).settings()
        absent = [name for name in config.values.values() if name not in settings]
        if absent:
            raise _absent(absent, list(settings), ctx.run.environment)
        found: dict[str, Any] = {output: settings[name] for output, name in config.values.items()}
        return EnvOutput(**found)


def _absent(names: list[str], known: list[str], environment: str) -> NodeError:
    parts = []
    for name in names:
        guess = nearest(name, known)
        parts.append(f"{name!r} (did you mean {guess!r}?)" if guess else repr(name))
    noun = "setting" if len(parts) == 1 else "settings"
    return NodeError(
        f"environment {environment!r} has no {noun} {', '.join(parts)}; add it to that environment, or change the name",
        kind="missing_setting",
    )
