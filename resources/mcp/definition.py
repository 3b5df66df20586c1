"""What is stored of an MCP server. Reading or saving one starts nothing and connects to nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from interlace.engine.errors import NodeError
from interlace.resources.secrets import SecretField


class _Server(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    description: str = Field("", description="What the server is for, as agents read it.")
    timeout: float = Field(
        60.0, gt=0, le=86_400, description="Seconds without a word from the server after which a call ends."
    )
    hidden_tools: list[str] = Field(default_factory=list, description="Tools that nobody sees or calls.")
    trusted: bool = Field(
        False,
        description="Whether the server's own hints (read-only, idempotent) are believed; only an operator sets it.",
    )


class OAuth(BaseModel):
    """Authorization by OAuth 2.1 as the protocol describes it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    client_id: str | None = Field(
        None, description="A client registered by hand; registered by itself when not set."
    )
    client_secret: SecretField | None = Field(None, description="Its secret, where it has one.")
    issuer: str | None = Field(None, description="The authorization server, for client credentials.")
    scope: str | None = Field(None, description="Scopes to ask for, separated by spaces.")
    grant: Literal["authorization_code", "client_credentials"] = Field(
        "authorization_code", description="A person agrees in the browser, or the client acts for itself."
    )


class HttpServer(_Server):
    """A server reached over HTTP; `sse` is the older transport."""

    transport: Literal["http", "sse"] = "http"
    url: str = Field(description="The endpoint, for instance https://mcp.example.com/mcp.")
    headers: dict[str, SecretField] = Field(
        default_factory=dict, description="Sent with every request; values may be secrets."
    )
    oauth: OAuth | None = Field(None, description="Authorization by OAuth, where the server asks for it.")


class StdioServer(_Server):
    """A program of the operator's catalogue, started on this machine."""

    transport: Literal["stdio"]
    catalog: str = Field(
        description="Name of the entry in the operator's catalogue; its command is fixed there."
    )
    arguments: dict[str, str] = Field(
        default_factory=dict, description="Values of the fields that the entry declares."
    )
    environment: dict[str, SecretField] = Field(
        default_factory=dict, description="Values of the environment variables that the entry names."
    )


McpServer: TypeAlias = HttpServer | StdioServer
_ADAPTER: TypeAdapter[McpServer] = TypeAdapter(Annotated[McpServer, Field(discriminator="transport")])


def read_definition(raw: Any) -> McpServer:
    """A definition from plain data; without `transport`, `url` means HTTP.

    Raises:
        NodeError: `mcp_definition`, naming each wrong field.
    """
    if isinstance(raw, dict) and "transport" not in raw and "url" in raw:
        raw = {**raw, "transport": "http"}
    if isinstance(raw, dict) and ("command" in raw or "args" in raw):
        raise NodeError(
            "a server definition has no command: programs come from the operator's catalogue "
            "(INTERLACE_MCP_STDIO_CATALOG); name its entry with `transport: stdio` and `catalog: NAME`",
            kind="mcp_definition",
        )
    try:
        return _ADAPTER.validate_python(raw)
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(str(part) for part in entry['loc'][1:]) or 'definition'}: {entry['msg']}"
            for entry in error.errors()
        )
        raise NodeError(f"the MCP server's definition is wrong: {told}", kind="mcp_definition") from error
