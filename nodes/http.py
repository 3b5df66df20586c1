"""HTTP: one request, or all pages of a list, with the answer as JSON, text or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from interlace.engine.document import Effects, JsonSchema, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic, Secret
from interlace.engine.inputs import problems_of
from interlace.engine.node import OUT, Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.protocols import Callbacks, Files
from interlace.engine.schema import Schema
from interlace.engine.waits import TIMEOUT, Answer, Suspend
from interlace.resources.http import HttpClient, HttpRequest, HttpResponse
from interlace.resources.http.auth_setting import AuthSetting, NoAuth
from interlace.resources.http.body_setting import BodySetting, NoBody
from interlace.resources.http.callback_setting import (
    CallbackSetting,
    with_field,
    with_url,
)
from interlace.resources.http.oauth import ClientCredentials
from interlace.resources.http.outcome import check_status, statuses
from interlace.resources.http.pagination import Page, collect
from interlace.resources.http.paging_setting import AnyPaging, PagingSetting
from interlace.resources.http.proxy_setting import ProxySetting
from interlace.resources.http.reading import ResponseAs, Save, read_body
from interlace.resources.http.url import parse_url

Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]

FILE: Schema = {
    "type": "object",
    "format": "file",
    "properties": {
        "name": {"type": "string"},
        "media_type": {"type": "string"},
        "size": {"type": "integer"},
        "sha256": {"type": "string"},
        "ref": {"type": "string"},
    },
    "required": ["name", "media_type", "size", "sha256", "ref"],
}
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_REPEATABLE = frozenset({"PUT", "DELETE"})
_MB = 1024 * 1024


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _statuses(values: list[int | str]) -> list[int | str]:
    for value in values:
        statuses(value)
    return values


class HttpConfig(Config):
    """The request, and how its answer is read."""

    method: Annotated[Method, BeforeValidator(_upper)] = Field(
        "GET", title="Method", description="HTTP method.", examples=["POST"]
    )
    url: Dynamic[str] = Field(
        title="URL",
        description="An http or https address; private ones only where an operator opened them.",
        examples=["https://api.example.com/orders/{{ inputs.id }}"],
    )
    query: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Query",
        description="Parameters added to the URL, encoded; a list repeats the name, null leaves it out.",
        examples=[{"page": 1, "tag": ["a", "b"]}],
    )
    headers: Secret[dict[str, Data]] = Field(
        default_factory=dict,
        title="Headers",
        description="Headers by name; null leaves one out. Host, lengths and connection headers are set for you.",
        examples=[{"Accept": "application/json"}],
    )
    auth: AuthSetting = Field(
        default_factory=NoAuth,
        title="Authentication",
        description="Credentials; they are not sent on where a redirect leaves the origin.",
        examples=[{"type": "bearer", "token": "{{ secrets.api_token }}"}],
    )
    body: BodySetting = Field(
        default_factory=NoBody,
        title="Body",
        description="What is sent.",
        examples=[{"type": "json", "content": {"id": "{{ inputs.id }}"}}],
    )
    ok_statuses: Annotated[list[int | str], BeforeValidator(_listed), AfterValidator(_statuses)] = Field(
        default_factory=list,
        title="Accepted statuses",
        description="Statuses that are no error: 404, '2xx', '400-404'. Without it, or where it names only statuses from 400"
        " on, everything below 400 is accepted too.",
        examples=[["2xx", 404]],
    )
    response_as: ResponseAs = Field(
        "auto",
        title="Read the answer as",
        description="json, text, file, or auto: by the answer's media type.",
        examples=["json"],
    )
    response_schema: JsonSchema | None = Field(
        None,
        title="Schema of the answer",
        description="JSON Schema of the body; enforced, and used to check the references to this node.",
        examples=[{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}],
        json_schema_extra={"widget": "schema"},
    )
    paginate: PagingSetting | None = Field(
        None,
        title="Pages",
        description="Fetch all pages; the body is then the list of all items.",
        examples=[{"type": "cursor", "cursor": "next_cursor", "items": "data"}],
    )
    follow_redirects: bool = Field(
        True,
        title="Follow redirects",
        description="Follow up to five redirects, each checked.",
        examples=[False],
    )
    verify: bool | str = Field(
        True,
        title="Verify certificates",
        description="Check the server's certificate: true, false, or CA certificates as PEM text to check it by.",
        examples=["-----BEGIN CERTIFICATE-----\n…"],
    )
    proxy: ProxySetting | None = Field(
        None,
        title="Proxy",
        description="Go through this proxy.",
        examples=[{"url": "http://proxy.example.com:3128"}],
    )
    max_body_mb: float | None = Field(
        None,
        gt=0,
        title="Largest body",
        description="Most of the body, decompressed; the operator's limit (50 MB) otherwise, which is also the highest value.",
        examples=[5],
        json_schema_extra={"unit": "MB"},
    )
    wait_for_callback: CallbackSetting | None = Field(
        None,
        title="Wait for a callback",
        description="After the request wait, holding nothing, until the other side calls a one-time URL.",
        examples=[{"url_in": "body", "name": "callback_url", "timeout": "2h"}],
    )


class HttpOutput(Output):
    """The answer."""

    status_code: int = Field(description="HTTP status.")
    headers: dict[str, str | list[str]] = Field(
        description="Headers by lower-case name; repeated ones are joined by commas, set-cookie is a list."
    )
    body: Data = Field(description="The body: JSON, text, a file value, or null where there is none.")
    url: str = Field(description="Where the answer came from, after redirects.")
    elapsed_ms: float = Field(description="Time from the request to the last byte, in milliseconds.")
    pages: int = Field(1, description="How many pages were fetched.")
    has_more: bool = Field(False, description="Whether a limit stopped the paging before the last page.")
    callback: Data = Field(
        None, description="What the callback brought: JSON, or its text; null without one."
    )


class Http(Node[HttpConfig, HttpOutput]):
    """Call a web API or download a file."""

    kind = "HTTP"
    group, icon = "connect", "globe"
    timeout = 300.0
    incidental = ("elapsed_ms",)
    example: ClassVar[dict[str, Any]] = {
        "method": "GET",
        "url": "https://api.example.com/orders/{{ inputs.id }}",
        "auth": {"type": "bearer", "token": "{{ secrets.api_token }}"},
        "response_as": "json",
    }

    def effect(self) -> Effects:
        """Reading methods change nothing, PUT and DELETE may be repeated, POST and PATCH not."""
        if self.config.method in _READING:
            return "none"
        return "idempotent" if self.config.method in _REPEATABLE else "once"

    def handles(self) -> tuple[str, ...]:
        """`out`, and `timeout` where a callback is waited for."""
        return (OUT,) if self.config.wait_for_callback is None else (OUT, TIMEOUT)

    def output_schema(self, types: TypeContext) -> Schema:
        """The body by `response_schema`, else by what it is read as."""
        schema = dict(super().output_schema(types))
        body: Schema = {"text": {"type": "string"}, "file": FILE}.get(self.config.response_as, {})
        if self.config.paginate is not None:
            body = {"type": "array", "items": {}}
        if self.config.response_schema is not None:
            body = self.config.response_schema
        schema["properties"] = {**schema["properties"], "body": body}
        return schema

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """The URL where it is constant, the response schema, and settings that exclude each other."""
        del spec
        config = self.config
        if "{{" not in config.url:
            try:
                parse_url(config.url)
            except NodeError as error:
                yield Finding(code="bad_url", field="config.url", message=error.message)
        if config.response_schema is not None:
            for problem in problems_of(
                config.response_schema, None, "config.response_schema", code="response"
            ):
                if problem.code == "response_schema":
                    yield Finding(
                        code="response_schema",
                        field=problem.field or "config.response_schema",
                        message=problem.message,
                    )
        if config.paginate is not None and config.response_as in {"text", "file"}:
            yield Finding(
                code="paginate_needs_json",
                field="config.response_as",
                message="pages are read as JSON.",
                fix="Use json or auto.",
            )
        if config.wait_for_callback is not None:
            yield from config.wait_for_callback.check(config.body, paged=config.paginate is not None)

    async def run(self, config: HttpConfig, ctx: RunContext) -> HttpOutput:
        """Send the request, or one for each page.

        Raises:
            NodeError: `http_<status>`, `connection`, `timeout`, `blocked_address`, `too_large`, `bad_response`, …
        """
        client, setting, token = ctx.service(HttpClient), config.wait_for_callback, ""
        if setting is None:
            request = await _request(config, ctx, client)
        else:
            token, url = ctx.service(Callbacks).of(ctx.idempotency_key)
            config = config.model_copy(update={"body": with_field(config.body, setting, url)})
            request = with_url(await _request(config, ctx, client), setting, url)
        if config.paginate is not None:
            output = await _pages(config, config.paginate, ctx, client, request)
        else:
            response = await client.send(_keyed(request, ctx.idempotency_key))
            output = _output(response, await _body(config, response, ctx))
        if config.response_schema is not None:
            _check_schema(config.response_schema, output)
        if setting is not None:
            raise Suspend(setting.wanted(ctx.path, token, ctx.now(), output.model_dump(mode="json")))
        return output

    def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> HttpOutput:
        """Take what the callback brought.

        Raises:
            NodeError: `callback_timeout`: no call came, and the handle `timeout` leads nowhere.
        """
        if answer.action == TIMEOUT:
            if not ctx.is_connected(TIMEOUT):
                raise NodeError("nobody called back in time", kind="callback_timeout", retryable=False)
            ctx.take(TIMEOUT)
        return HttpOutput(**{**state, "callback": answer.form.get("body")})


async def _request(config: HttpConfig, ctx: RunContext, client: HttpClient) -> HttpRequest:
    body = await config.body.build(lambda ref: ctx.service(Files).load(ref))
    headers = [
        (name, _header_text(name, value)) for name, value in config.headers.items() if value is not None
    ]
    if body.media_type is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", body.media_type))
    auth = config.auth.build()
    if isinstance(auth, ClientCredentials):
        auth.hide = ctx.hide
    limit = (
        client.max_body if config.max_body_mb is None else min(client.max_body, int(config.max_body_mb * _MB))
    )
    return HttpRequest(
        method=config.method,
        url=config.url,
        query=config.query,
        headers=headers,
        body=body.content,
        auth=auth,
        timeout=None,  # the engine's, which covers all pages and retries
        follow_redirects=config.follow_redirects,
        verify=config.verify,
        proxy=None if config.proxy is None else config.proxy.build(),
        max_body=limit,
    )


async def _pages(
    config: HttpConfig, paging: AnyPaging, ctx: RunContext, client: HttpClient, request: HttpRequest
) -> HttpOutput:
    async def fetch(wanted: HttpRequest, index: int) -> tuple[HttpResponse, Any]:
        key = ctx.idempotency_key if index == 0 else f"{ctx.idempotency_key}:{index}"
        response = await client.send(_keyed(wanted, key))
        return response, await _body(config, response, ctx)

    def until(page: Page) -> bool:
        assert paging.until is not None
        seen = {
            "body": page.body,
            "items": page.items,
            "status_code": page.response.status,
            "headers": page.response.headers(),
        }
        return bool(ctx.evaluate(paging.until, {"item": seen, "index": page.index}))

    found = await collect(
        request,
        paging.rule(),
        fetch,
        items_path=paging.items,
        limits=replace(paging.limits(), max_bytes=client.max_body),
        until=None if paging.until is None else until,
    )
    assert found.last is not None
    if found.has_more:
        ctx.log(f"stopped after {found.pages} pages with {len(found.items)} items; there are more")
    if not found.items and paging.items is not None:
        ctx.log(f"'items' {paging.items!r} found nothing on any page")
    output = _output(found.last, found.items)
    output.elapsed_ms = round(found.elapsed_ms, 3)
    output.pages, output.has_more = found.pages, found.has_more
    return output


async def _body(config: HttpConfig, response: HttpResponse, ctx: RunContext) -> Any:
    def save() -> Save:
        return ctx.service(Files).save

    check_status(response, config.method, config.ok_statuses)
    return await read_body(response, config.response_as, save, method=config.method)


def _output(response: HttpResponse, body: Any) -> HttpOutput:
    return HttpOutput(
        status_code=response.status,
        headers=response.headers(),
        body=body,
        url=response.url,
        elapsed_ms=round(response.elapsed_ms, 3),
    )


def _keyed(request: HttpRequest, key: str) -> HttpRequest:
    """With an Idempotency-Key where the method changes something and the user set none."""
    assert not isinstance(request.headers, Mapping)
    headers = list(request.headers)
    if request.method in _READING or any(name.lower() == "idempotency-key" for name, _ in headers):
        return request
    return replace(request, headers=[*headers, ("Idempotency-Key", key)])


def _header_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise NodeError(
        f"header {name!r} is a {type(value).__name__}; give a text or a number.",
        kind="bad_header",
        retryable=False,
    )


def _check_schema(schema: Schema, output: HttpOutput) -> None:
    problems = problems_of(schema, output.body, "body", code="response")
    if not problems:
        return
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise NodeError(
        f"the answer of {output.url.partition('?')[0]} does not fit response_schema: "
        f"{problems[0].field}: {problems[0].message}{more}",
        kind="bad_response",
        retryable=False,
    )
