"""Nodes that wait, stop, answer, call other workflows, or do nothing."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.expressions import grouped, path, shown
from interlace.importers.foreign import Json, mapping, number, text, whole
from interlace.importers.n8n.context import Site, param
from interlace.importers.n8n.fields import Fields, pairs, unwrapped
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Each, Outcome, Whole
from interlace.importers.n8n.structure import structured, template
from interlace.importers.n8n.values import Flow, Value, several, single
from interlace.importers.naming import slug

_SECONDS: Final = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}


def nothing(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """A node that does nothing: its items go past it."""
    site.ctx.say("carried", "passed", "The node does nothing; its items go past it.", node)
    return {0: flows[0]}


def wait(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """A durable pause; or a person who lets the run go on, where a call did in n8n."""
    resume = text(node.parameters.get("resume")) or "timeInterval"
    flow = flows[0]
    value = flow.one if flow.one is not None else flow.many
    if resume in ("webhook", "form"):
        site.ctx.say(
            "changed",
            "resume",
            "A call let the run go on in n8n; here a person does, in the inbox or over the API.",
            node,
        )
        step = site.add(node, "HUMAN", {"title": node.name, "actions": ["go_on"]})
        return {0: flow.through((step.id, "go_on"))}
    step = site.add(
        node, "TRANSFORM", structured(value) if flow.one is not None else {"input": shown(value.code)}
    )
    step.wait = _until(node, site.fields(node)) if resume == "specificTime" else _for(node, site)
    result = path(step.id, "result")
    return {
        0: single(Value(result), *site.tails)
        if flow.one is not None
        else several(result, *site.tails, may_be_empty=flow.may_be_empty, aligned=flow.aligned)
    }


def _for(node: N8nNode, site: Site) -> Json:
    default = "hours" if node.version < 1.1 else "seconds"  # noqa: PLR2004 - the default changed there
    unit = _SECONDS.get(text(node.parameters.get("unit")) or default, 1)
    given = node.parameters.get("amount", 1 if node.version < 1.1 else 5)  # noqa: PLR2004 - and there
    amount = number(given)
    if amount is not None:
        return {"for": max(amount, 0) * unit}
    code = site.fields(node).value(given).code
    seconds = f"({code})" if unit == 1 else f"({code}) * {unit}"
    return {"until": shown(f"now() | add_time(seconds={seconds})")}


def _until(node: N8nNode, fields: Fields) -> Json:
    return {"until": fields.words(node.parameters.get("dateTime")) or "{{ now() }}"}


def stop(node: N8nNode, site: Site) -> Outcome:
    """CODE that fails with the message."""
    fields = site.fields(node)
    if text(node.parameters.get("errorType")) == "errorObject":
        message = fields.words(node.parameters.get("errorObject"))
    else:
        message = fields.words(
            node.parameters.get("errorMessage") or node.parameters.get("message") or "stopped"
        )
    code = "def main(message):\n    raise RuntimeError(message)\n"
    step = site.add(node, "CODE", {"code": code, "inputs": {"message": message}})
    return Outcome(Value(step.id))


def respond(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """END with the response; what comes after the node goes on beside it."""
    fields = site.fields(node)
    kind = text(node.parameters.get("respondWith")) or "firstIncomingItem"
    first = site.scope.current()
    body = _answer(node, kind, fields, first, flows[0])
    headers = {
        name: fields.any(value) for name, value in pairs(param(node, "options", "responseHeaders", "entries"))
    }
    response: Json = {}
    status = param(node, "options", "responseCode")
    if kind == "redirect":
        response = {
            "status": 302,
            "headers": {**headers, "Location": fields.words(node.parameters.get("redirectURL"))},
        }
    elif headers:
        response["headers"] = headers
    if status is not None:
        response["status"] = whole(status) if whole(status) is not None else fields.any(status)
    if body is not None:
        response["body"] = body
    config: Json = {"response": response or {"status": 200}}
    if body is not None:
        config["outputs"] = {"response" if site.ctx.responded is False else f"{node.id}_response": body}
    site.ctx.responded = True
    tails = site.tails
    site.add(node, "END", config, policies=False)
    site.ctx.say(
        "changed", "response", "The response is sent when the run ends, not in the middle of it.", node
    )
    return {0: flows[0].through(*tails)}


def _answer(node: N8nNode, kind: str, fields: Fields, first: Value, flow: Flow) -> Any:
    if kind in ("noData", "redirect"):
        return None
    if kind == "allIncomingItems":
        return shown(flow.many.code)
    if kind == "json":
        given = node.parameters.get("responseBody")
        found = fields.json(given)
        if found is not None:
            return found
        value = fields.value(given)
        return shown(f"{grouped(value.code)} | fromjson") if value.kind == "text" else fields.any(given)
    if kind == "text":
        return fields.any(node.parameters.get("responseBody"))
    return template(first)


def call(node: N8nNode, site: Site) -> Outcome:
    """SUB_WORKFLOW for an item."""
    fields = site.fields(node)
    inputs = mapping(param(node, "workflowInputs", "value"))
    made = {name: fields.any(value) for name, value in inputs.items()} or {
        "item": shown(site.scope.current().code)
    }
    step = site.add(node, "SUB_WORKFLOW", {"workflow": _workflow(node, site), "inputs": made, **_waits(node)})
    return Outcome(Value(step.id))


def call_once(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """SUB_WORKFLOW for all items at once."""
    if flows[0].one is not None:
        outcome = call(node, site)
        return {0: single(outcome.value, *site.tails)}
    config = {
        "workflow": _workflow(node, site),
        "inputs": {"items": shown(flows[0].many.code)},
        **_waits(node),
    }
    step = site.add(node, "SUB_WORKFLOW", config)
    return {0: single(Value(step.id), *site.tails)}


def _waits(node: N8nNode) -> Json:
    return {"wait": False} if param(node, "options", "waitForSubWorkflow") is False else {}


def _workflow(node: N8nNode, site: Site) -> str:
    given = node.parameters.get("workflowId")
    named = text(mapping(given).get("cachedResultName")) or text(unwrapped(given))
    name = named if named and not named.startswith("=") else slug(node.name) or "workflow"
    site.ctx.say(
        "decision",
        "bind_workflow",
        f"Import the workflow {name!r} too, and publish it under that name; its inputs must fit.",
        node,
    )
    return name


def evaluation(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """A part of n8n's own evaluations: a run that is none takes the way for it."""
    site.ctx.say(
        "changed",
        "evaluation",
        "Runs are no evaluations of n8n here: what the node did for these was left out.",
        node,
    )
    return {1 if text(node.parameters.get("operation")) == "checkIfEvaluating" else 0: flows[0]}


def kind_of_call(node: N8nNode) -> Each | Whole:
    """By the mode of the node."""
    return Each(convert=call) if text(node.parameters.get("mode")) == "each" else Whole(call_once)


NOTHING: Final = Whole(nothing, needs_items=False)
KINDS: Final[dict[str, Each | Whole]] = {
    "noOp": NOTHING, "wait": Whole(wait), "stopAndError": Each(convert=stop), "respondToWebhook": Whole(respond),
    "evaluation": Whole(evaluation, needs_items=False), "executionData": NOTHING, "debugHelper": NOTHING,
}  # fmt: skip
