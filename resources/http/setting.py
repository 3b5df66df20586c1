"""How authentication, bodies and paging are written in configs, and what they become."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, BeforeValidator, Field

from interlace.engine.document import Model
from interlace.engine.durations import Seconds
from interlace.engine.fields import Bare, Dynamic, In, Secret
from interlace.resources.http.auth import Auth, Basic, Hmac, InHeader, InQuery, bearer
from interlace.resources.http.oauth import ClientCredentials
from interlace.resources.http.pagination import Cursor, Limits, NextLink, Numbered, Place, Rule


def _path(text: str) -> str:
    try:
        jmespath.compile(text)
    except JMESPathError as error:
        raise ValueError(f"{text!r} is no JMESPath expression: {error}") from None
    return text


def _named(value: Any) -> Any:
    """`none` for `{type: none}`, and the same for every type that needs nothing else."""
    return {"type": value} if isinstance(value, str) else value


JmesPath = Annotated[str, AfterValidator(_path)]


class NoAuth(Model):
    """No credentials."""

    type: Literal["none"] = "none"

    def build(self) -> Auth | None:
        """Nothing."""
        return None


class BasicAuth(Model):
    """User name and password."""

    type: Literal["basic"]
    username: Secret[str] = Field(
        description="User name, without a colon.", examples=["{{ secrets.api_user }}"]
    )
    password: Secret[str] = Field("", description="Password.", examples=["{{ secrets.api_password }}"])

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return Basic(self.username, self.password)


class BearerAuth(Model):
    """A token in the Authorization header."""

    type: Literal["bearer"]
    token: Secret[str] = Field(
        description="Token, without the word Bearer.", examples=["{{ secrets.api_token }}"]
    )

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return bearer(self.token)


class HeaderAuth(Model):
    """A key in a header."""

    type: Literal["header"]
    name: str = Field("X-Api-Key", description="Name of the header.")
    value: Secret[str] = Field(description="The key.", examples=["{{ secrets.api_key }}"])

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return InHeader(self.name, self.value)


class QueryAuth(Model):
    """A key as a query parameter."""

    type: Literal["query"]
    name: str = Field("api_key", description="Name of the parameter.")
    value: Secret[str] = Field(description="The key.", examples=["{{ secrets.api_key }}"])

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return InQuery(self.name, self.value)


class OAuth2Auth(Model):
    """OAuth 2 client credentials: the token is fetched, kept and renewed."""

    type: Literal["oauth2"]
    token_url: Dynamic[str] = Field(
        description="Where tokens are fetched.", examples=["https://auth.example.com/token"]
    )
    client_id: Secret[str] = Field(description="Client id.")
    client_secret: Secret[str] = Field(description="Client secret.", examples=["{{ secrets.client_secret }}"])
    scope: Dynamic[str] = Field("", description="Scopes, separated by spaces; empty for none.")
    audience: Dynamic[str] = Field("", description="Audience, for servers that want one.")
    client_auth: Literal["header", "body"] = Field("header", description="Where id and secret are sent.")

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return ClientCredentials(
            token_url=self.token_url, client_id=self.client_id, client_secret=self.client_secret,
            scope=self.scope, audience=self.audience, client_auth=self.client_auth,
        )  # fmt: skip


class HmacAuth(Model):
    """A signature over parts of the request."""

    type: Literal["hmac"]
    secret: Secret[str] = Field(description="The shared key.", examples=["{{ secrets.signing_key }}"])
    key_encoding: Literal["utf-8", "hex", "base64"] = Field("utf-8", description="How the key is written.")
    algorithm: Literal["sha1", "sha256", "sha384", "sha512"] = Field("sha256", description="Hash function.")
    signed: str = Field(
        "{body}",
        description="What is signed: {method}, {url}, {host}, {path}, {query}, {timestamp}, {body} and {body_sha256} "
        "stand for parts of the request, everything else for itself.",
        examples=["{timestamp}.{body}"],
    )
    header: str = Field("X-Signature", description="Header that carries the signature.")
    prefix: str = Field("", description="Text before the signature.", examples=["sha256="])
    encoding: Literal["hex", "base64", "base64url"] = Field(
        "hex", description="How the signature is written."
    )
    timestamp_header: str | None = Field(None, description="Header that carries the time, if any.")
    timestamp_format: Literal["seconds", "milliseconds", "iso"] = Field(
        "seconds", description="How the time is written."
    )

    def build(self) -> Auth | None:
        """The authentication with evaluated values."""
        return Hmac(
            secret=self.secret, key_encoding=self.key_encoding, algorithm=self.algorithm, signed=self.signed,
            header=self.header, prefix=self.prefix, encoding=self.encoding,
            timestamp_header=self.timestamp_header, timestamp_format=self.timestamp_format,
        )  # fmt: skip


AnyAuth = NoAuth | BasicAuth | BearerAuth | HeaderAuth | QueryAuth | OAuth2Auth | HmacAuth
AuthSetting = Annotated[AnyAuth, Field(discriminator="type"), BeforeValidator(_named)]


class Paging(Model):
    """What all ways of paging share."""

    items: JmesPath | None = Field(
        None,
        description="JMESPath to the list in each page's body; none when the body is the list.",
        examples=["data.items"],
    )
    max_pages: int = Field(1000, ge=1, le=100_000, description="Stop after this many pages.")
    max_items: int | None = Field(None, ge=1, description="Stop with this many items.")
    until: Annotated[Bare, In("item")] | None = Field(
        None,
        description="Stop after the page for which this is true; `item` is the page (body, items, status_code, headers), "
        "`index` counts pages from 0.",
        examples=["item.body.done"],
    )
    retries: int = Field(
        3, ge=0, le=20, description="Tries of one page after a passing failure; Retry-After is honoured."
    )
    delay: Seconds = Field(0.0, description="Pause between pages.")

    def limits(self) -> Limits:
        """When to stop."""
        return Limits(
            max_pages=self.max_pages, max_items=self.max_items, retries=self.retries, delay=self.delay
        )


class LinkPaging(Paging):
    """Each page names the URL of the next."""

    type: Literal["next_link"]
    next: JmesPath | None = Field(
        None,
        description="JMESPath to the URL in the body; the Link header with rel=next when none.",
        examples=["links.next"],
    )

    def rule(self) -> Rule:
        """How pages follow each other."""
        return NextLink(path=self.next)


class CursorPaging(Paging):
    """Each page gives a mark to ask for the next."""

    type: Literal["cursor"]
    cursor: JmesPath = Field(description="JMESPath to the mark in the body.", examples=["meta.next_cursor"])
    parameter: str = Field("cursor", description="Name under which the mark is sent back.")
    place: Place = Field(
        "query", description="Where the mark is sent; in a JSON body the name may be a dotted path."
    )

    def rule(self) -> Rule:
        """How pages follow each other."""
        return Cursor(path=self.cursor, parameter=self.parameter, place=self.place)


class PagePaging(Paging):
    """Pages have numbers; an empty one is the last."""

    type: Literal["page"]
    parameter: str = Field("page", description="Name of the page number.")
    start: int = Field(1, ge=0, description="Number of the first page.")
    size_parameter: str | None = Field(
        None, description="Name of the page size, if it is sent.", examples=["per_page"]
    )
    size: int | None = Field(None, ge=1, description="Items a page.")
    place: Place = Field("query", description="Where the number is sent.")

    def rule(self) -> Rule:
        """How pages follow each other."""
        return Numbered(
            parameter=self.parameter, start=self.start, by_items=False,
            size_parameter=self.size_parameter, size=self.size, place=self.place,
        )  # fmt: skip


class OffsetPaging(Paging):
    """Pages begin at the number of items received so far; an empty one is the last."""

    type: Literal["offset"]
    parameter: str = Field("offset", description="Name of the offset.")
    start: int = Field(0, ge=0, description="The first offset.")
    limit_parameter: str | None = Field("limit", description="Name of the page size, if it is sent.")
    limit: int | None = Field(None, ge=1, description="Items a page; the server's default when none.")
    place: Place = Field("query", description="Where the offset is sent.")

    def rule(self) -> Rule:
        """How pages follow each other."""
        return Numbered(
            parameter=self.parameter, start=self.start, by_items=True,
            size_parameter=self.limit_parameter, size=self.limit, place=self.place,
        )  # fmt: skip


AnyPaging = LinkPaging | CursorPaging | PagePaging | OffsetPaging
PagingSetting = Annotated[AnyPaging, Field(discriminator="type"), BeforeValidator(_named)]
