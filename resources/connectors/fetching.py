"""A description fetched from an address: an explicit step, through the guard, never part of an import."""

from __future__ import annotations

from interlace.engine.errors import NodeError
from interlace.resources.connectors.openapi.reading import MAX_CHARACTERS
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.http.outcome import check_status

_SECONDS = 60.0


async def fetch_description(client: HttpClient, url: str) -> tuple[str, str]:
    """The text at an address, and where it came from after redirects.

    Raises:
        NodeError: `blocked_address`, `http_<status>`, `too_large`, `bad_response`, and others of the HTTP client.
    """
    request = HttpRequest(
        url=url, headers=[("Accept", "application/json, application/yaml, text/yaml, */*")], timeout=_SECONDS,
        max_body=min(client.max_body, MAX_CHARACTERS),
    )  # fmt: skip
    response = await client.send(request)
    check_status(response, "GET")
    if b"\0" in response.body[:1000]:
        raise NodeError(
            f"{url!r} answered with binary data, which is no description.",
            kind="bad_response",
            retryable=False,
        )
    return response.text(), response.url
