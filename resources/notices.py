"""Messages about requests to people: to webhooks, Slack-compatible webhooks, and by e-mail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from typing import Any
from urllib.parse import urlsplit

import orjson

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.mail import Mailer

_SECONDS = 10.0
_GOOD = range(200, 300)
_PAUSES = (0.0, 0.5, 2.0)
"""Before each try."""
_SHORTEST = 4
"""A shorter part of an address is no secret, and stands in other words."""


class Notices:
    """Announces requests to people.

    Args:
        http: the guarded client.
        mailer: the operator's SMTP server.
        base: gives the address of this installation, for links.
    """

    def __init__(self, http: HttpClient, mailer: Mailer, base: Callable[[], str]) -> None:
        self._http = http
        self._mailer = mailer
        self._base = base
        self.told: Callable[[str, Mapping[str, Any]], Awaitable[None]] | None = None
        """Called with a request's id and how each announcement of it went: `{event, channel, reminder, error}`."""

    async def post(
        self,
        channel: Mapping[str, Any],
        request: Mapping[str, Any],
        wait_id: str,
        *,
        reminder: bool = False,
    ) -> str | None:
        """Announce a request, trying again where that may help; gives why it failed, None when it did not.

        Nothing is raised: nobody waits for it. `channel` is `{type: webhook | slack, url}` or `{type: email, to}`.
        """
        failure = await self._try(channel, request, wait_id, reminder)
        if failure is not None:
            failure = _without_address(failure, channel)
        if self.told is not None:
            entry = {"event": "announced", "channel": channel["type"], "reminder": reminder, "error": failure}
            await self.told(wait_id, entry)
        return failure

    async def _try(
        self, channel: Mapping[str, Any], request: Mapping[str, Any], wait_id: str, reminder: bool
    ) -> str | None:
        failure: str | None = None
        for pause in _PAUSES:
            await asyncio.sleep(pause)
            try:
                if channel["type"] == "email":
                    await self._mail(channel, request, wait_id, reminder)
                else:
                    await self._post(channel, request, wait_id, reminder)
            except NodeError as error:
                failure = error.message
                if not (error.retryable or error.kind == "mail") or not self._mailer_may_help(channel):
                    break
            else:
                return None
        return failure

    def _mailer_may_help(self, channel: Mapping[str, Any]) -> bool:
        return channel["type"] != "email" or self._mailer.is_set

    async def _post(
        self, channel: Mapping[str, Any], request: Mapping[str, Any], wait_id: str, reminder: bool
    ) -> None:
        body = (
            _slack(request, wait_id, reminder)
            if channel["type"] == "slack"
            else _plain(request, wait_id, reminder)
        )
        message = HttpRequest(
            method="POST", url=str(channel["url"]), headers=[("content-type", "application/json")],
            body=orjson.dumps(body, default=str), timeout=_SECONDS,
        )  # fmt: skip
        answer = await self._http.send(message)
        if answer.status not in _GOOD:
            raise NodeError(f"the channel answered {answer.status}", kind=f"http_{answer.status}")

    async def _mail(
        self, channel: Mapping[str, Any], request: Mapping[str, Any], wait_id: str, reminder: bool
    ) -> None:
        title, message = str(request.get("title") or ""), str(request.get("message") or "")
        actions = ", ".join(map(str, request.get("actions") or ()))
        page = f"{self._base().rstrip('/')}/approvals/{wait_id}"
        how = f"Answer at {page} or with `interlace approvals answer {wait_id} ACTION`."
        lines = [message, f"Actions: {actions}", how]
        text = "\n\n".join(line for line in lines if line)
        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in text.split("\n\n"))
        await self._mailer.send(
            list(channel["to"]),
            subject=f"{'Reminder: ' if reminder else ''}{title}",
            text=text,
            html=f"<h1>{escape(title)}</h1>{paragraphs}",
        )


def _without_address(failure: str, channel: Mapping[str, Any]) -> str:
    """The failure with nothing of a channel's address but its host: the rest of it lets anybody post there."""
    url = str(channel.get("url") or "")
    parts = urlsplit(url)
    for part in (url, f"{parts.path}?{parts.query}", parts.path, parts.query, parts.password or ""):
        if len(part) >= _SHORTEST:
            failure = failure.replace(part, "…")
    return failure


def _plain(request: Mapping[str, Any], wait_id: str, reminder: bool) -> dict[str, Any]:
    return {
        "event": "request.reminder" if reminder else "request.created", "id": wait_id, "title": request.get("title"),
        "message": request.get("message"), "actions": request.get("actions"), "form": request.get("form"),
    }  # fmt: skip


def _slack(request: Mapping[str, Any], wait_id: str, reminder: bool) -> dict[str, Any]:
    head = f"{'Reminder: ' if reminder else ''}*{_plain_text(request.get('title'))}*"
    parts = [head, _plain_text(request.get("message")), f"`interlace approvals answer {wait_id} ACTION`"]
    return {"text": "\n".join(part for part in parts if part)}


def _plain_text(value: Any) -> str:
    """Text that Slack does not read as a mention or link."""
    return str(value or "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
