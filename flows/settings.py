"""Every setting of Interlace: environment variables `INTERLACE_*`, then `interlace.toml`, then the defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from interlace.agents.modes import MOST, THRESHOLD, Discovery
from interlace.engine.durations import Seconds
from interlace.resources.agents.definition import SkillMode, ToolMode
from interlace.resources.identity.provider import OidcProvider
from interlace.resources.models.definition import ModelSettings

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


def _kept(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in ("none", "") else value


Kept = Annotated[Seconds | None, BeforeValidator(_kept)]
"""A duration, or `none`."""


def _short(name: str) -> AliasChoices:
    """A setting that is read without the prefix too."""
    return AliasChoices(name, f"interlace_{name}")


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
        description="Names by which the server is reached besides localhost, as clients write them; `*` is any. Needed where it"
        " listens beyond loopback, unless public_url says it.",
    )
    proxies: Names = Field(
        default_factory=list,
        description="Addresses and networks of proxies whose X-Forwarded headers are believed, besides loopback; `*` is any.",
    )
    session_lasts: Seconds = Field(
        604_800.0,
        gt=0,
        description="How long a browser stays signed in at most (`7d`); one that is not used for 12 hours is signed out.",
    )
    password_login: bool = Field(
        True, description="Let people sign in with passwords; `false` where all come through OIDC."
    )
    oidc: dict[str, OidcProvider] = Field(
        default_factory=dict,
        description="Identity providers that sign people in, by name: `[oidc.<name>]` in interlace.toml; see the guide.",
    )
    rate_limit: int = Field(
        60_000, ge=0, description="Requests a minute of each user; 0 is no limit. Webhooks are not counted."
    )
    rate_limit_anonymous: int = Field(
        600, ge=0, description="Requests a minute of each address without a valid key; 0 is no limit."
    )
    rate_store: SecretStr | None = Field(
        None,
        description="Where requests are counted: in each process if not set, `database` or `redis://host:6379/0` for all"
        " servers together.",
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
    payloads: Path | None = Field(
        None,
        description="Folder of values above 8 KB and of files; in the home if not set. Machines of one database share it.",
    )
    durability: Literal["normal", "full"] = Field(
        "normal",
        description="`normal` survives the death of every process, `full` also a power loss (slower).",
    )
    secret_key: SecretStr | None = Field(
        None,
        description="Master key of the secret store, at least 16 characters; made in the home when neither it nor the"
        " file is set.",
    )
    secret_key_file: Path | None = Field(None, description="File that holds the master key.")
    secret_key_previous: SecretStr | None = Field(
        None, description="The master key before, until `interlace secrets rotate` has been run."
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
    pools: Names = Field(
        default_factory=list,
        description="Pools whose runs this process takes; the one of prefect_pool if not set, `none` for no runs.",
    )
    name: str | None = Field(
        None, description="Name of this process among the hosts; machine and number if not set."
    )
    workers: int = Field(0, ge=0, le=64, description="Worker processes that `serve` starts beside itself.")
    concurrency: int | None = Field(
        None,
        ge=1,
        description="Runs that may be active at the same time on all machines together; no limit if not set.",
    )
    retention_keep_for: Kept = Field(
        7_776_000.0,
        description="How long ended runs are kept (`90d`, or `none`); `settings.retention` of a workflow wins.",
    )
    retention_keep_last: int | None = Field(
        None, ge=1, description="How many of a workflow's newest ended runs are kept; no limit if not set."
    )
    retention_uploads: Kept = Field(
        2_592_000.0, description="How long an upload that nothing has used is kept (`30d`, or `none`)."
    )
    max_runs: int = Field(
        200, ge=1, description="Runs that one process executes at the same time; more wait."
    )
    smtp_url: SecretStr | None = Field(
        None,
        description="Where mail is handed over: `smtp+starttls://user:password@host:587`, `smtps://` or `smtp://`.",
    )
    smtp_from: str = Field("Interlace <interlace@localhost>", description="The sender of mail.")
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
    mcp_stdio_catalog: Path | None = Field(
        None,
        description="TOML file of the programs that may be started as MCP servers, with fixed command lines.",
    )
    models: ModelSettings = Field(
        default_factory=ModelSettings,
        description="Language models of the whole installation: `[models]` in interlace.toml; see the guide.",
    )
    skill_tool_mode: SkillMode = Field(
        "progressive",
        validation_alias=_short("skill_tool_mode"),
        description="Skills of agents: names in the prompt and the text on demand, or `inline` whole texts."
        " Also read as `SKILL_TOOL_MODE`; an agent's `model_config_json` wins.",
    )
    connector_tool_mode: ToolMode = Field(
        "progressive",
        validation_alias=_short("connector_tool_mode"),
        description="APIs of agents: one tool for all, or `legacy` one tool an action. Also read as"
        " `CONNECTOR_TOOL_MODE`; an agent's `model_config_json` wins.",
    )
    database_tool_mode: ToolMode = Field(
        "progressive",
        validation_alias=_short("database_tool_mode"),
        description="Databases of agents: one tool for all, or `legacy` three tools a database. Also read as"
        " `DATABASE_TOOL_MODE`; an agent's `model_config_json` wins.",
    )
    mcp_tool_mode: ToolMode = Field(
        "progressive",
        validation_alias=_short("mcp_tool_mode"),
        description="MCP servers of agents: one tool for all, or `legacy` one tool a tool. Also read as"
        " `MCP_TOOL_MODE`; an agent's `model_config_json` wins.",
    )
    react_tool_selection_threshold: int = Field(
        THRESHOLD,
        ge=1,
        validation_alias=_short("react_tool_selection_threshold"),
        description="With more tools than that an agent is shown those that fit the request, and loads others by"
        " `request_tools`. Also read as `REACT_TOOL_SELECTION_THRESHOLD`.",
    )
    react_tool_selection_max: int = Field(
        MOST,
        ge=1,
        validation_alias=_short("react_tool_selection_max"),
        description="How many tools are selected for a request, meta-tools not counted. Also read as"
        " `REACT_TOOL_SELECTION_MAX`.",
    )
    react_tool_selection_ask: bool = Field(
        True,
        validation_alias=_short("react_tool_selection_ask"),
        description="Let the model of the role `fast` choose where more tools fit equally well than may be shown."
        " Also read as `REACT_TOOL_SELECTION_ASK`.",
    )
    chat_titles: bool = Field(
        True,
        description="Let the model of the role fast, where one was chosen, make titles of chat sessions.",
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto",
        description="Lines of the log: JSON, text for people, or as standard error is a terminal or not.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least that is logged."
    )
    access_log: bool = Field(
        False, description="Log a line for each request; paths are named by their pattern."
    )
    metrics: Literal["key", "open", "off"] = Field(
        "key",
        description="Who reads `/metrics`: operators with a key of the scope `metrics:read`, anybody who reaches the server,"
        " or nobody.",
    )
    metrics_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port on loopback at which `interlace worker` offers its own metrics; none if not set.",
    )
    otlp_endpoint: str | None = Field(
        None,
        validation_alias=AliasChoices(
            "otlp_endpoint", "interlace_otlp_endpoint", "otel_exporter_otlp_endpoint"
        ),
        description="OTLP endpoint (HTTP) that traces of runs and requests are sent to, such as http://collector:4318; also"
        " read as `OTEL_EXPORTER_OTLP_ENDPOINT`.",
    )
    otlp_headers: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("otlp_headers", "interlace_otlp_headers", "otel_exporter_otlp_headers"),
        description="Headers for it, as `name=value,name=value`; also read as `OTEL_EXPORTER_OTLP_HEADERS`.",
    )
    otlp_service: str = Field(
        "interlace",
        validation_alias=AliasChoices("otlp_service", "interlace_otlp_service", "otel_service_name"),
        description="Name of this service in traces; also read as `OTEL_SERVICE_NAME`.",
    )
    otlp_ratio: float = Field(
        1.0, ge=0, le=1, description="Share of the traces that begin here which are sent."
    )
    otlp_content: bool = Field(
        False,
        description="Put outputs of nodes, arguments and results of tools into traces too; secrets stay masked.",
    )
    max_body: int = Field(50_000_000, ge=1, description="Largest HTTP response in bytes.")

    @field_validator("rate_store")
    @classmethod
    def _known_store(cls, value: SecretStr | None) -> SecretStr | None:
        known = ("redis://", "rediss://", "unix://")
        if (
            value is None
            or value.get_secret_value() == "database"
            or value.get_secret_value().startswith(known)
        ):
            return value
        raise ValueError("write `database`, or the address of a Redis server: redis://host:6379/0")

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

    @property
    def discovery(self) -> Discovery:
        """How agents discover their tools, where they do not say it themselves."""
        return Discovery(
            skills=self.skill_tool_mode,
            connectors=self.connector_tool_mode,
            databases=self.database_tool_mode,
            mcp=self.mcp_tool_mode,
            threshold=self.react_tool_selection_threshold,
            most=self.react_tool_selection_max,
            ask=self.react_tool_selection_ask,
        )

    def masked(self) -> dict[str, Any]:
        """The settings as plain values with secrets masked, for `doctor`."""
        return {
            **self.model_dump(mode="json"),
            "models": self.models.masked(),
            "oidc": {name: p.masked() for name, p in self.oidc.items()},
        }
