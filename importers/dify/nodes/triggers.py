"""Dify's triggers: a START, and an entry among the document's triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlace.importers.build import Graph
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import schema_of
from interlace.importers.expressions import Ref, path, shown
from interlace.importers.foreign import Json, mapping, objects, text, texts, whole

_DAYS: Final = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}


def webhook(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """A webhook: headers, parameters and body fields become inputs."""
    mapped: Json = {}
    for place, source in (
        ("headers", "trigger.headers"),
        ("params", "trigger.query"),
        ("body", "trigger.body"),
    ):
        for entry in objects(node.data.get(place)):
            name = text(entry.get("name"))
            if not name:
                continue
            key = name.replace("-", "_") if place == "headers" else name
            ctx.draft.need_input(key, schema_of(entry.get("type") or "string"))
            if entry.get("required") is True:
                ctx.draft.required.append(key)
            read = path(source, name.lower() if place == "headers" else name)
            mapped[key] = shown(read if entry.get("required") is True else f"{read} | default(none)")
    ctx.draft.triggers.append(
        {
            "type": "webhook",
            "id": node.name,
            "methods": _methods(node),
            **({"inputs": mapped} if mapped else {}),
        }
    )
    ctx.say(
        "decision",
        "webhook_url",
        "The webhook gets a new URL when the workflow is published; tell it to who calls.",
        node,
    )
    graph.add(ctx.step(node, "START", {}))
    return node.name


def _methods(node: DifyNode) -> list[str]:
    method = text(node.data.get("method")).upper()
    return [method] if method in ("GET", "POST", "PUT", "PATCH", "DELETE") else ["POST"]


def schedule(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """A schedule as a cron trigger."""
    expression = text(node.data.get("cron_expression")).strip() or _cron(node)
    zone = text(node.data.get("timezone")) or "UTC"
    ctx.draft.triggers.append({"type": "cron", "id": node.name, "cron": expression, "timezone": zone})
    graph.add(ctx.step(node, "START", {}))
    return node.name


def _cron(node: DifyNode) -> str:
    visual = mapping(node.data.get("visual_config"))
    hour, minute = _clock(text(visual.get("time")) or "12:00 AM")
    frequency = text(node.data.get("frequency"))
    if frequency == "hourly":
        return f"{whole(visual.get('on_minute')) or 0} * * * *"
    if frequency == "weekly":
        days = [
            str(_DAYS[day[:3].lower()]) for day in texts(visual.get("weekdays")) if day[:3].lower() in _DAYS
        ]
        return f"{minute} {hour} * * {','.join(days) or '*'}"
    if frequency == "monthly":
        days = [str(day) for day in (visual.get("monthly_days") or ()) if isinstance(day, int | str)]
        return f"{minute} {hour} {','.join('L' if day == 'last' else day for day in days) or '1'} * *"
    return f"{minute} {hour} * * *"


def _clock(written: str) -> tuple[int, int]:
    """`3:05 PM` as hour and minute."""
    clock, _, half = written.strip().partition(" ")
    hours, _, minutes = clock.partition(":")
    hour, minute = whole(hours) or 0, whole(minutes) or 0
    if half.upper() == "PM" and hour != 12:  # noqa: PLR2004 - noon
        hour += 12
    elif half.upper() == "AM" and hour == 12:  # noqa: PLR2004 - midnight
        hour = 0
    return hour % 24, minute % 60


def plugin(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """The event of a plugin: no such source here, so it becomes a webhook that somebody has to call."""
    named = text(node.data.get("plugin_id")) or text(node.data.get("provider_id")) or "a plugin"
    ctx.draft.triggers.append({"type": "webhook", "id": node.name})
    ctx.say(
        "decision",
        "bind_trigger",
        f"Events of {named} do not come by themselves; let it call the workflow's webhook.",
        node,
    )
    graph.add(ctx.step(node, "START", {}))
    return node.name


def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """What a trigger brings is an input."""
    if not keys:
        return Ref("inputs")
    name = (
        keys[0].replace("-", "_")
        if keys[0] in {text(one.get("name")) for one in objects(node.data.get("headers"))}
        else keys[0]
    )
    if name == "_webhook_raw":
        return Ref(
            path("start.trigger" if node.name == "start" else f"{node.name}.trigger", "body", *keys[1:])
        )
    ctx.draft.need_input(name, {})
    return Ref(path("inputs", name, *keys[1:]))


KINDS: Final = {
    "trigger-webhook": Kind(webhook, output, fallback="start"),
    "trigger-schedule": Kind(schedule, output, fallback="start"),
    "trigger-plugin": Kind(plugin, output, fallback="start"),
}
