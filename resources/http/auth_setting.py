"""How authentication is written in configs, and what it becomes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from interlace.engine.document import Model
from interlace.engine.fields import Dynamic, Secret
from interlace.resources.http.auth import Auth, Basic, Hmac, InHeader, InQuery, bearer
from interlace.resources.http.oauth import ClientCredentials


class NoAuth(Model):
    """No credentials."""

    type: Literal["none"] = Field("none", title="Type", description="No credentials.", examples=["none"])

    def build(self) -> Auth | None:
        """Nothing."""
        return None


class BasicAuth(Model):
    """User name and password."""

    type: Literal["basic"] = Field(title="Type", description="User name and password.", examples=["basic"])
    username: Secret[str] = Field(
        title="User name", description="User name, without a colon.", examples=["{{ secrets.api_user }}"]
    )
    password: Secret[str] = Field(
        "", title="Password", description="Password.", examples=["{{ secrets.api_password }}"]
    )

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return Basic(self.username, self.password)


class BearerAuth(Model):
    """A token in the Authorization header."""

    type: Literal["bearer"] = Field(
        title="Type", description="A token in the Authorization header.", examples=["bearer"]
    )
    token: Secret[str] = Field(
        title="Token", description="Token, without the word Bearer.", examples=["{{ secrets.api_token }}"]
    )

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return bearer(self.token)


class HeaderAuth(Model):
    """A key in a header."""

    type: Literal["header"] = Field(title="Type", description="A key in a header.", examples=["header"])
    name: str = Field("X-Api-Key", title="Header", description="Name of the header.", examples=["X-Api-Key"])
    value: Secret[str] = Field(title="Key", description="The key.", examples=["{{ secrets.api_key }}"])

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return InHeader(self.name, self.value)


class QueryAuth(Model):
    """A key as a query parameter."""

    type: Literal["query"] = Field(
        title="Type", description="A key as a query parameter.", examples=["query"]
    )
    name: str = Field(
        "api_key", title="Parameter", description="Name of the parameter.", examples=["api_key"]
    )
    value: Secret[str] = Field(title="Key", description="The key.", examples=["{{ secrets.api_key }}"])

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return InQuery(self.name, self.value)


class OAuth2Auth(Model):
    """OAuth 2 client credentials: the token is fetched, kept until shortly before it expires, and renewed."""

    type: Literal["oauth2"] = Field(
        title="Type", description="OAuth 2 client credentials.", examples=["oauth2"]
    )
    token_url: Dynamic[str] = Field(
        title="Token URL",
        description="Where tokens are fetched.",
        examples=["https://auth.example.com/token"],
    )
    client_id: Secret[str] = Field(
        title="Client id", description="Client id.", examples=["{{ secrets.client_id }}"]
    )
    client_secret: Secret[str] = Field(
        title="Client secret", description="Client secret.", examples=["{{ secrets.client_secret }}"]
    )
    scope: Dynamic[str] = Field(
        "",
        title="Scope",
        description="Scopes, separated by spaces; empty for none.",
        examples=["orders.read"],
    )
    audience: Dynamic[str] = Field(
        "",
        title="Audience",
        description="Audience, for servers that want one.",
        examples=["https://api.example.com"],
    )
    client_auth: Literal["header", "body"] = Field(
        "header",
        title="Client authentication",
        description="Where id and secret are sent.",
        examples=["body"],
    )

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return ClientCredentials(
            token_url=self.token_url, client_id=self.client_id, client_secret=self.client_secret,
            scope=self.scope, audience=self.audience, client_auth=self.client_auth,
        )  # fmt: skip


class HmacAuth(Model):
    """A signature over parts of the request."""

    type: Literal["hmac"] = Field(
        title="Type", description="A signature over parts of the request.", examples=["hmac"]
    )
    secret: Secret[str] = Field(
        title="Key", description="The shared key.", examples=["{{ secrets.signing_key }}"]
    )
    key_encoding: Literal["utf-8", "hex", "base64"] = Field(
        "utf-8", title="Key encoding", description="How the key is written.", examples=["base64"]
    )
    algorithm: Literal["sha1", "sha256", "sha384", "sha512"] = Field(
        "sha256", title="Algorithm", description="Hash function.", examples=["sha512"]
    )
    signed: str = Field(
        "{body}",
        title="What is signed",
        description="{method}, {url}, {host}, {path}, {query}, {timestamp}, {body} and {body_sha256} stand for parts of the"
        " request, everything else for itself.",
        examples=["{timestamp}.{body}"],
    )
    header: str = Field(
        "X-Signature",
        title="Header",
        description="Header that carries the signature.",
        examples=["X-Signature"],
    )
    prefix: str = Field("", title="Prefix", description="Text before the signature.", examples=["sha256="])
    encoding: Literal["hex", "base64", "base64url"] = Field(
        "hex", title="Encoding", description="How the signature is written.", examples=["base64"]
    )
    timestamp_header: str | None = Field(
        None,
        title="Time header",
        description="Header that carries the time, if any.",
        examples=["X-Timestamp"],
    )
    timestamp_format: Literal["seconds", "milliseconds", "iso"] = Field(
        "seconds",
        title="Time format",
        description="Seconds or milliseconds since 1970, or ISO 8601 in UTC.",
        examples=["iso"],
    )

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return Hmac(
            secret=self.secret, key_encoding=self.key_encoding, algorithm=self.algorithm, signed=self.signed,
            header=self.header, prefix=self.prefix, encoding=self.encoding,
            timestamp_header=self.timestamp_header, timestamp_format=self.timestamp_format,
        )  # fmt: skip


def _named(value: Any) -> Any:
    """`none` stands for `{type: none}`."""
    return {"type": value} if isinstance(value, str) else value


AuthSetting = Annotated[
    NoAuth | BasicAuth | BearerAuth | HeaderAuth | QueryAuth | OAuth2Auth | HmacAuth,
    Field(discriminator="type"),
    BeforeValidator(_named),
]
