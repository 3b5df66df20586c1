"""How an HTTP node tells the other side where to call back, and how long it waits for that."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from interlace.engine.document import Model
from interlace.engine.durations import Seconds
from interlace.engine.errors import NodeError
from interlace.engine.node import Finding
from interlace.engine.waits import DAY, Wanted
from interlace.resources.http.body_setting import BodySetting, JsonBody
from interlace.resources.http.message import HttpRequest

PATH = "/hooks/callback/"


class CallbackSetting(Model):
    """Wait for a call after the request: the other side gets a URL that takes one."""

    url_in: Literal["header", "query", "body"] = Field(
        "header",
        title="URL in",
        description="Where the URL is sent; in a body of type json it is one more field.",
        examples=["body"],
    )
    name: str = Field(
        "X-Callback-URL",
        min_length=1,
        title="Name",
        description="Header, parameter or field that holds the URL.",
        examples=["callback_url"],
    )
    timeout: Seconds = Field(
        DAY, gt=0, title="Time-out",
        description="When no call comes: the handle `timeout` where it is connected, else the error `callback_timeout`.",
        examples=["2h"],
    )  # fmt: skip

    def wanted(self, path: str, token: str, now: float, state: dict[str, Any]) -> Wanted:
        """The wait for the call, made at `now` (Unix time) by the node at `path`."""
        request = {"title": f"A call back to {path}"}
        return Wanted(
            kind="callback",
            request=request,
            state=state,
            until=now + self.timeout,
            token_hash=token_hash(token),
        )

    def check(self, body: Any, *, paged: bool) -> Iterator[Finding]:
        """Whether the request can carry the URL."""
        if self.url_in == "body" and not isinstance(body, JsonBody):
            yield Finding(
                code="callback_needs_json", field="config.wait_for_callback.url_in",
                message="the callback's URL goes into the body, and there is no JSON body.",
                fix="Give a body of type json, or send the URL in a header or the query.",
            )  # fmt: skip
        if paged:
            yield Finding(
                code="callback_and_paginate", field="config.wait_for_callback",
                message="a callback belongs to one request, not to all pages of a list.",
                fix="Remove one of the two.",
            )  # fmt: skip


def token_hash(token: str) -> str:
    """What is kept of a token: whoever reads the database cannot call."""
    return hashlib.sha256(token.encode()).hexdigest()


def with_url(request: HttpRequest, setting: CallbackSetting, url: str) -> HttpRequest:
    """The request with the URL where a header or a parameter holds it."""
    if setting.url_in == "header":
        return replace(request, headers=[*_pairs(request.headers), (setting.name, url)])
    if setting.url_in == "query":
        return replace(request, query=[*_pairs(request.query or ()), (setting.name, url)])
    return request


def _pairs(values: Any) -> list[tuple[str, Any]]:
    return list(values.items()) if hasattr(values, "items") else list(values)


def with_field(body: BodySetting, setting: CallbackSetting, url: str) -> BodySetting:
    """The body, with the URL as one more field where it goes there.

    Raises:
        NodeError: the body is no JSON object.
    """
    if setting.url_in != "body" or not isinstance(body, JsonBody):
        return body
    if not isinstance(body.content, dict):
        raise NodeError(
            f"the callback's URL goes into the body, which is a {type(body.content).__name__} and no JSON object",
            kind="bad_body", retryable=False,
        )  # fmt: skip
    return body.model_copy(update={"content": {**body.content, setting.name: url}})
