"""What starts an n8n workflow: inputs, entries under `triggers`, and the item that the trigger gives."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.expressions import path
from interlace.importers.foreign import Json, mapping, objects, text, texts, whole
from interlace.importers.n8n.context import Context, param
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.values import Value, record
from interlace.importers.naming import slug

_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_WEEKDAYS: Final = {
    "sunday": 0,
    "monday": 1,
    "tuesday": 2,
    "wednesday": 3,
    "thursday": 4,
    "friday": 5,
    "saturday": 6,
}


def trigger(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    """The item that a trigger gives, and the document's triggers for it."""
    convert = KINDS.get(node.kind)
    if convert is not None:
        return convert(node, ctx)
    ctx.say(
        "decision", "bind_trigger",
        f"Events of {node.kind} do not come by themselves here; let the product call the workflow's webhook with the event as `event`.", node,
    )  # fmt: skip
    ctx.draft.need_input("event", {"type": "object", "default": {}})
    return Value("inputs.event", "object"), [
        {"type": "webhook", "id": node.id, "inputs": {"event": "{{ trigger.body }}"}}
    ]


def _manual(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    del node, ctx
    return record({}), []


def _schedule(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    zone = text(ctx.file.settings.get("timezone"))
    rules = (
        objects(param(node, "rule", "interval"))
        or objects(param(node, "triggerTimes", "item"))
        or [node.parameters]
    )
    made: list[Json] = []
    for rule in rules:
        expression = _cron(rule, node, ctx)
        own = node.id if not made else f"{node.id}_{len(made) + 1}"
        entry: Json = {"type": "cron", "id": own, "cron": expression}
        made.append({**entry, **({"timezone": zone} if zone and zone != "DEFAULT" else {})})
    return record({"timestamp": Value("run.started_at", "date")}), made


def _cron(rule: Json, node: N8nNode, ctx: Context) -> str:
    field = text(rule.get("field") or rule.get("mode") or rule.get("unit")) or "days"
    if field in ("cronExpression", "custom"):
        return text(rule.get("expression") or rule.get("cronExpression")).strip() or "0 * * * *"
    minute = _number(rule.get("triggerAtMinute", rule.get("minute")), node, ctx)
    hour = _number(rule.get("triggerAtHour", rule.get("hour")), node, ctx)
    if field == "everyX":
        return _every(text(rule.get("unit")) or "hours", whole(rule.get("value")) or 1)
    every = whole(rule.get(f"{field}Interval")) or whole(rule.get("interval")) or 1
    forms = {
        "seconds": f"*/{every} * * * * *", "minutes": f"*/{every} * * * *", "everyMinute": "* * * * *", "everyHour": f"{minute} * * * *",
        "hours": f"{minute} {'*' if every == 1 else f'*/{every}'} * * *", "days": f"{minute} {hour} {'*' if every == 1 else f'*/{every}'} * *",
        "everyDay": f"{minute} {hour} * * *", "weeks": f"{minute} {hour} * * {_days(rule)}", "everyWeek": f"{minute} {hour} * * {_days(rule)}",
        "months": f"{minute} {hour} {whole(rule.get('triggerAtDayOfMonth')) or 1} {'*' if every == 1 else f'*/{every}'} *",
        "everyMonth": f"{minute} {hour} {whole(rule.get('dayOfMonth')) or 1} * *",
    }  # fmt: skip
    if field in ("weeks", "days", "months") and every > 1:
        ctx.say(
            "changed",
            "schedule",
            f"Every {every} {field} is counted from the calendar here, not from when the workflow was started.",
            node,
        )
    return forms.get(field, "0 * * * *")


def _number(value: Any, node: N8nNode, ctx: Context) -> int:
    if isinstance(value, str) and value.startswith("="):
        ctx.say(
            "decision",
            "schedule",
            f"A time of the schedule is computed in the file ({value}); 0 stands there.",
            node,
        )
        return 0
    return whole(value) or 0


def _days(rule: Json) -> str:
    given = rule.get("triggerAtDay", rule.get("weekday"))
    days = texts(given) if isinstance(given, list) else [text(given)] if given is not None else []
    numbers = [str(_WEEKDAYS.get(day.lower(), day)) for day in days if day]
    return ",".join(number for number in numbers if number.isdigit()) or "0"


def _every(unit: str, count: int) -> str:
    return {
        "seconds": f"*/{count} * * * * *",
        "minutes": f"*/{count} * * * *",
        "hours": f"0 */{count} * * *",
    }.get(unit, f"0 0 */{count} * *")


def _webhook(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    fields = {}
    for name, schema in (("body", {}), ("query", {"type": "object"}), ("headers", {"type": "object"})):
        ctx.draft.need_input(name, {**schema, "default": {}})
        fields[name] = Value(path("inputs", name), "any" if name == "body" else "object")
    fields["params"] = Value("{}", "object", {})
    ctx.say(
        "decision",
        "webhook_url",
        "The webhook gets a new URL when the workflow is published; tell it to who calls.",
        node,
    )
    mode = text(node.parameters.get("responseMode")) or "onReceived"
    entry: Json = {
        "type": "webhook", "id": node.id, "methods": _methods(node),
        "inputs": {"body": "{{ trigger.body }}", "query": "{{ trigger.query | default({}) }}", "headers": "{{ trigger.headers }}"},
    }  # fmt: skip
    if mode != "onReceived":
        entry["response"] = {"mode": "wait"}
    if text(node.parameters.get("authentication")) not in ("", "none"):
        ctx.say(
            "decision",
            "webhook_auth",
            "Callers had to authenticate; choose a signature for the webhook.",
            node,
        )
    return record(fields), [entry]


def _methods(node: N8nNode) -> list[str]:
    given = node.parameters.get("httpMethod")
    found = [name.upper() for name in (texts(given) if isinstance(given, list) else [text(given) or "GET"])]
    return [name for name in dict.fromkeys(found) if name in _METHODS] or ["POST"]


def _form(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    made: dict[str, Value] = {}
    for entry in objects(param(node, "formFields", "values")):
        label = text(entry.get("fieldLabel") or entry.get("fieldName"))
        if not label:
            continue
        name = slug(text(entry.get("fieldName")) or label) or f"field_{len(made) + 1}"
        ctx.draft.inputs[name] = _field(entry, label)
        required = entry.get("requiredField") is True
        if required:
            ctx.draft.required.append(name)
        else:
            ctx.draft.inputs[name]["default"] = "" if ctx.draft.inputs[name].get("type") == "string" else None
        made[label] = Value(
            path("inputs", name), "text" if ctx.draft.inputs[name].get("type") == "string" else "any"
        )
        if text(entry.get("fieldName")):
            made[text(entry["fieldName"])] = made[label]
    ctx.say(
        "changed",
        "form",
        "The fields of the form are inputs of the workflow; the web UI and the API ask for them.",
        node,
    )
    return record(
        {**made, "submittedAt": Value("run.started_at", "date"), "formMode": Value("'production'", "text")}
    ), []


def _field(entry: Json, label: str) -> Json:
    kind = text(entry.get("fieldType")) or "text"
    if kind == "number":
        return (
            {"title": label, "type": "number"}
            if entry.get("requiredField") is True
            else {"title": label, "type": ["number", "null"]}
        )
    if kind == "file":
        return {"title": label, "type": ["object", "null"], "format": "file"}
    options = [text(one.get("option")) for one in objects(mapping(entry.get("fieldOptions")).get("values"))]
    if kind in ("dropdown", "radio") and options:
        return {
            "title": label,
            "type": "string",
            "enum": list(dict.fromkeys(options if entry.get("requiredField") is True else [*options, ""])),
        }
    if kind == "checkbox" or entry.get("multiselect") is True:
        return {"title": label, "type": ["array", "null"], "items": {"type": "string"}}
    return {"title": label, "type": "string"}


def _chat(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    del node
    ctx.draft.chat = True
    ctx.draft.inputs["message"] = {"type": "string"}
    ctx.draft.required.append("message")
    fields = {
        "chatInput": Value("inputs.message", "text"),
        "sessionId": Value("run.id", "text"),
        "action": Value("'sendMessage'", "text"),
    }
    return record(fields), []


def _called(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    names = [
        text(one.get("name"))
        for one in objects(param(node, "workflowInputs", "values"))
        if text(one.get("name"))
    ]
    if not names:
        ctx.draft.need_input("item", {"type": "object", "default": {}})
        return Value("inputs.item", "object"), []
    for name in names:
        ctx.draft.need_input(name, {"default": None})
    return record({name: Value(path("inputs", name)) for name in names}), []


def _error(node: N8nNode, ctx: Context) -> tuple[Value, list[Json]]:
    ctx.say(
        "decision",
        "bind_trigger",
        "It runs when another workflow fails: name it there under `settings.on_failure`.",
        node,
    )
    ended = "start.trigger.run"
    failure = Value(f"{ended}.error", "object")
    execution = {
        "id": Value(f"{ended}.id", "text"),
        "error": failure,
        "lastNodeExecuted": Value(f"{ended}.error.node", "text"),
    }
    name = Value("start.trigger.workflow", "text")
    return record({"execution": record(execution), "workflow": record({"id": name, "name": name})}), []


KINDS: Final = {
    "manualTrigger": _manual, "start": _manual, "scheduleTrigger": _schedule, "cron": _schedule, "interval": _schedule, "webhook": _webhook,
    "formTrigger": _form, "chatTrigger": _chat, "manualChatTrigger": _chat, "executeWorkflowTrigger": _called, "errorTrigger": _error,
}  # fmt: skip
