"""How a connector authenticates. Fields that hold secrets are moved into the secret store when it is saved."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from interlace.engine.document import Model
from interlace.engine.errors import NodeError
from interlace.resources.http.url import parse_url
from interlace.resources.secrets import SecretField


def _url(text: str) -> str:
    if text:
        try:
            parse_url(text)
        except NodeError as error:
            raise ValueError(error.message) from None
    return text


Url = Annotated[str, AfterValidator(_url)]


class NoCredentials(Model, defer_build=True):
    """No credentials."""

    type: Literal["none"] = "none"


class BearerCredentials(Model, defer_build=True):
    """A token in the Authorization header."""

    type: Literal["bearer"] = "bearer"
    token: SecretField = Field("", description="Token, without the word before it.")
    prefix: str = Field("Bearer", description="Word before the token.")


class KeyCredentials(Model, defer_build=True):
    """A key in a header, in the query or in a cookie."""

    type: Literal["api_key"] = "api_key"
    place: Literal["header", "query", "cookie"] = Field(
        "header", alias="in", description="Where the key stands."
    )
    name: str = Field("X-Api-Key", min_length=1, description="Name of the header, parameter or cookie.")
    key: SecretField = Field("", description="The key.")


class BasicCredentials(Model, defer_build=True):
    """User name and password."""

    type: Literal["basic"] = "basic"
    username: SecretField = Field("", description="User name, without a colon.")
    password: SecretField = Field("", description="Password; empty where the user name is a key.")


class ClientGrant(Model, defer_build=True):
    """OAuth 2 client credentials: a token for the program itself."""

    type: Literal["oauth2_client"] = "oauth2_client"
    token_url: Url = Field(description="Where tokens are fetched.")
    client_id: SecretField = Field("", description="Client id.")
    client_secret: SecretField = Field("", description="Client secret.")
    scopes: list[str] = Field(default_factory=list, description="Scopes asked for.")
    audience: str = Field("", description="Audience, for servers that want one.")
    client_auth: Literal["header", "body"] = Field("header", description="Where id and secret are sent.")


class CodeGrant(Model, defer_build=True):
    """OAuth 2 authorization code with PKCE: a person lets us act in their name; tokens are refreshed."""

    type: Literal["oauth2_code"] = "oauth2_code"
    authorize_url: Url = Field(description="Page where the person agrees.")
    token_url: Url = Field(description="Where codes and refresh tokens become access tokens.")
    refresh_url: Url = Field("", description="Where refresh tokens go, if elsewhere.")
    client_id: SecretField = Field("", description="Client id.")
    client_secret: SecretField = Field("", description="Client secret; empty for a public client.")
    scopes: list[str] = Field(default_factory=list, description="Scopes asked for.")
    client_auth: Literal["header", "body"] = Field("body", description="Where id and secret are sent.")


def _named(value: Any) -> Any:
    """`none` stands for `{type: none}`."""
    return {"type": value} if isinstance(value, str) else value


AnyAuth = NoCredentials | BearerCredentials | KeyCredentials | BasicCredentials | ClientGrant | CodeGrant
AuthDefinition = Annotated[AnyAuth, Field(discriminator="type"), BeforeValidator(_named)]

SLOTS: dict[str, tuple[str, ...]] = {
    "none": (), "bearer": ("token",), "api_key": ("key",), "basic": ("username", "password"),
    "oauth2_client": ("client_id", "client_secret"), "oauth2_code": ("client_id", "client_secret"),
}  # fmt: skip
"""The fields of each kind that hold secrets."""
NEEDED: dict[str, tuple[str, ...]] = {
    **SLOTS, "basic": ("username",), "oauth2_code": ("client_id",),
}  # fmt: skip
"""The ones without which nothing can be sent."""
