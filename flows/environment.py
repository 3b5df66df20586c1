"""What runs read as `env` and `secrets`: settings by environment, secrets from the store, then the process environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.engine.protocols import Environment
from interlace.flows.settings import Settings
from interlace.resources.secrets import SecretKeyError, Secrets, Snapshot

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
                f"there is no secret {name!r}; make it with `interlace secrets set {name}`, or set it in the server's"
                f" environment as {variable}",
                kind="missing_secret",
            )
        return value


class RunEnvironments:
    """The environments of runs: the process's settings, and the secrets of whoever a run acts for."""

    def __init__(self, process: ProcessEnvironment, secrets: Secrets) -> None:
        self.process = process
        self._secrets = secrets

    async def of(self, principal: Principal, document: str) -> Environment:
        """The environment of a run of a document; secrets are fetched, still encrypted, where its text names them."""
        if "secrets" not in document:
            return self.process
        try:
            found: Snapshot | SecretKeyError = await self._secrets.snapshot(principal)
        except SecretKeyError as error:
            found = error  # the node that needs a secret fails, not the run that may never come to it
        return RunEnvironment(self.process, principal, found)


class RunEnvironment:
    """Implements `Environment` for one run."""

    def __init__(
        self, process: ProcessEnvironment, principal: Principal, found: Snapshot | SecretKeyError
    ) -> None:
        self._process = process
        self._principal = principal
        self._found = found

    def settings(self) -> Mapping[str, Any]:
        """The values of `env`."""
        return self._process.settings()

    def secret(self, name: str) -> str:
        """The stored secret, else the variable `INTERLACE_SECRETS_<NAME>`, which belongs to the operators."""
        try:
            value = _value(self._found, name)
        except SecretKeyError as error:
            raise NodeError(f"secret {name!r} cannot be read: {error}", kind="secret_key") from None
        if value is not None:
            return value
        if self._principal.operator:
            return self._process.secret(name)
        raise NodeError(
            f"you have no secret {name!r}, nor has an organisation of yours; make it with `interlace secrets set {name}`",
            kind="missing_secret",
        )


def _value(found: Snapshot | SecretKeyError, name: str) -> str | None:
    if isinstance(found, Snapshot):
        return found.get(name)
    raise found
