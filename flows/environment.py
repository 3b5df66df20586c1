"""What runs read as `env` and `secrets`: settings by environment, secrets from the process environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from interlace.engine.errors import NodeError
from interlace.flows.settings import Settings

ENV_PREFIX, SECRET_PREFIX = "INTERLACE_ENV_", "INTERLACE_SECRETS_"


class ProcessEnvironment:
    """Implements `Environment`: `[environments.NAME]` of interlace.toml below `INTERLACE_ENV_*` variables.

    The names of variables are read as they are written and in lower case.
    """

    def __init__(self, settings: Settings) -> None:
        self._name = settings.environment
        self._values = {
            **settings.environments.get(settings.environment, {}),
            **{
                spelled: value
                for key, value in os.environ.items()
                if key.startswith(ENV_PREFIX)
                for spelled in (key[len(ENV_PREFIX) :], key[len(ENV_PREFIX) :].lower())
            },
        }

    @property
    def name(self) -> str:
        """Name of the environment (dev, staging, prod)."""
        return self._name

    def settings(self) -> Mapping[str, Any]:
        """The values of `env`."""
        return self._values

    def secret(self, name: str) -> str:
        """The variable `INTERLACE_SECRETS_<NAME>`."""
        variable = SECRET_PREFIX + name.upper()
        value = os.environ.get(variable)
        if value is None:
            raise NodeError(
                f"there is no secret {name!r}; set it in the server's environment as {variable}",
                kind="missing_secret",
            )
        return value
