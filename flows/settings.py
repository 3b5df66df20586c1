"""Every setting of Interlace: environment variables `INTERLACE_*`, then `interlace.toml`, then the defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

CONFIG_FILE = "interlace.toml"


def _split(value: Any) -> Any:
    """`a, b` and `["a", "b"]` both make a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _switch(value: Any) -> Any:
    """`true`, `false`, or names."""
    known = {"true": True, "1": True, "false": False, "0": False}
    return known.get(value.strip().lower(), _split(value)) if isinstance(value, str) else value


Names = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Switch = Annotated[bool | list[str], NoDecode, BeforeValidator(_switch)]


class Settings(BaseSettings):
    """The effective settings of this process."""

    model_config = SettingsConfigDict(
        env_prefix="INTERLACE_", toml_file=CONFIG_FILE, extra="ignore", frozen=True
    )

    home: Path = Field(Path(".interlace"), description="Folder of everything this installation keeps.")
    host: str = Field("127.0.0.1", description="Address that `serve` listens on.")
    port: int = Field(8700, ge=0, le=65535, description="Port that `serve` listens on; 0 takes a free one.")
    public_url: str | None = Field(
        None,
        description="Address under which other systems reach this server, for callbacks; where it listens, if not set.",
    )
    hosts: Names = Field(
        default_factory=list,
        description="Names under which a server on loopback may be addressed besides localhost, for a proxy before it.",
    )
    max_request: int = Field(
        20_000_000, ge=1, description="Largest request body in bytes; uploads of files have their own limit."
    )
    drain: float = Field(
        10.0,
        ge=0,
        description="Seconds that an ending server gives to work which must not be done twice.",
    )
    environment: str = Field("dev", description="Name of the environment whose settings runs read as `env`.")
    environments: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Non-secret values by environment: `[environments.dev]` in interlace.toml.",
    )
    database_url: SecretStr | None = Field(
        None,
        description="The platform's own database; SQLite in the home when not set, postgresql://… otherwise.",
    )
    durability: Literal["normal", "full"] = Field(
        "normal",
        description="`normal` survives the death of every process, `full` also a power loss (slower).",
    )
    prefect: Literal["embedded", "external", "off"] = Field(
        "embedded",
        description="Whether `serve` starts Prefect itself, uses the one at prefect_api_url, or none.",
    )
    prefect_api_url: str | None = Field(
        None, description="API of an external Prefect server, ending in /api."
    )
    prefect_auth: SecretStr | None = Field(None, description="`user:password` of an external Prefect server.")
    prefect_pool: str = Field("interlace", description="Work pool that this installation's hosts serve.")
    prefect_nodes: Switch = Field(
        True,
        description="Show nodes as task runs in Prefect's graph: true, false, or the types that are shown.",
    )
    prefect_logs: bool = Field(True, description="Ship the log lines of runs to Prefect.")
    prefect_lag: float = Field(
        5.0, gt=0, le=60, description="Seconds after which a finished run is shown in Prefect."
    )
    prefect_detail_rate: int = Field(
        120, ge=0, description="Runs a minute that Prefect gets with all their nodes."
    )
    max_runs: int = Field(
        200, ge=1, description="Runs that one process executes at the same time; more wait."
    )
    http_allow: Names = Field(
        default_factory=list,
        description="Private or loopback targets that HTTP may reach: CIDRs, hosts, host:port.",
    )
    database_allow: Names = Field(
        default_factory=list,
        description="Databases that DATABASE may reach: hosts, host:port, CIDRs, SQLite folders.",
    )
    code_engine: Literal["auto", "bwrap", "wasm"] = Field("auto", description="Sandbox of CODE nodes.")
    code_packages: dict[str, Path] = Field(
        default_factory=dict,
        description="Packages that CODE nodes may ask for, by name: the folder that holds them.",
    )
    code_network: bool = Field(
        False,
        description="Let CODE nodes with `network: true` use this machine's network, internal addresses included.",
    )
    code_processes: int = Field(8, ge=1, le=256, description="CODE nodes that run at the same time.")
    max_body: int = Field(50_000_000, ge=1, description="Largest HTTP response in bytes.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, the environment over interlace.toml."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    def masked(self) -> dict[str, Any]:
        """The settings as plain values with secrets masked, for `doctor`."""
        return self.model_dump(mode="json")
