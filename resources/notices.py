"""Messages about requests to people, posted to webhooks and Slack-compatible webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient, HttpRequest

_SECONDS = 10.0
_GOOD = range(200, 300)


async def post_notice(
    http: HttpClient,
    channel: Mapping[str, Any],
    request: Mapping[str, Any],
    wait_id: str,
    *,
    reminder: bool = False,
) -> str | None:
    """Post a request once; gives why that failed, None when it did not. Nothing is raised: nobody waits for it.

    `channel` is `{type: webhook | slack, url}`.
    """
    body = (
        _slack(request, wait_id, reminder)
        if channel["type"] == "slack"
        else _plain(request, wait_id, reminder)
    )
    message = HttpRequest(
        method="POST", url=str(channel["url"]), headers=[("content-type", "application/json")],
        body=orjson.dumps(body, default=str), timeout=_SECONDS,
    )  # fmt: skip
    try:
        answer = await http.send(message)
    except NodeError as error:
        return error.message
    return None if answer.status in _GOOD else f"the channel answered {answer.status}"


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
