"""FIM One's nodes that work on values: templates, variables, lists, documents, settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from interlace.importers import jinja
from interlace.importers.build import Graph, spread
from interlace.importers.expressions import Ref, path, whole
from interlace.importers.fim_one.context import Context, Kind
from interlace.importers.fim_one.file import FimNode
from interlace.importers.fim_one.outputs import output
from interlace.importers.fim_one.reshaping import list_operations, transform_steps
from interlace.importers.foreign import listed, objects, text, texts
from interlace.importers.placeholder import failing_code, settings_text

_TYPES: Final = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
_MODES: Final = {"first_non_empty": "first", "first": "first", "list": "list", "array": "list", "concat": "concat", "join": "concat",
                 "merge": "merge", "object": "all", "all": "all"}  # fmt: skip
_SECRET: Final = re.compile(r"TOKEN|SECRET|PASSWORD|KEY|CREDENTIAL", re.IGNORECASE)


def template(node: FimNode, ctx: Context, graph: Graph) -> None:
    """TEMPLATE."""
    source = text(node.data.get("template"))
    if "{%" in source:
        try:
            made = jinja.translate(source, lambda name: ctx.ref(name, node).code)
        except jinja.NotTranslated as error:
            message = f"The template of {node.label!r} was not carried over: {error}."
            ctx.say("unsupported", "template", message, node)
            graph.add(ctx.step(node, "CODE", failing_code(message, source, language="Jinja")))
            return
    else:
        made = "".join(part if isinstance(part, str) else whole(part) for part in ctx.parts(source, node))
    graph.add(ctx.step(node, "TEMPLATE", {"template": made}))


def assign(node: FimNode, ctx: Context, graph: Graph) -> None:
    """VARIABLE_ASSIGN of run variables."""
    made = []
    for entry in objects(node.data.get("assignments")):
        name = text(entry.get("variable"))
        if name not in ctx.draft.variables:
            continue
        value = (
            whole(ctx.expression(entry["expression"], node))
            if text(entry.get("expression")).strip()
            else ctx.any(entry.get("value"), node)
        )
        made.append({"variable": name, "value": value})
    graph.add(
        ctx.step(node, "VARIABLE_ASSIGN", {"assignments": made})
        if made
        else ctx.step(node, "TEMPLATE", {"template": ""})
    )


def aggregate(node: FimNode, ctx: Context, graph: Graph) -> None:
    """VARIABLE_AGGREGATOR."""
    written = text(node.data.get("mode")).lower() or "first_non_empty"
    mode = _MODES.get(written)
    if mode is None:
        ctx.say("decision", "mode", f"The mode {written!r} is not known; the first that ran is taken.", node)
    values = [
        whole(_where_set(ctx.variable(value, node), ctx))
        for value in listed(node.data.get("variables"))
        if text(value).strip()
    ]
    if mode == "first" and written == "first_non_empty":
        ctx.say(
            "changed", "first", "The first branch that ran is taken, also where its value is empty.", node
        )
    config = {
        "mode": mode if mode != "first" else None,
        "values": values,
        "separator": text(node.data.get("separator")) if mode == "concat" else None,
    }
    graph.add(ctx.step(node, "VARIABLE_AGGREGATOR", spread(config)))


def _where_set(ref: Ref, ctx: Context) -> Ref:
    """A run variable that one node sets: that node's output, which is left out where the node did not run."""
    name = ref.code.removeprefix("vars.")
    setters = [
        one for one in ctx.file.nodes.values()
        if one.kind == "VARIABLE_ASSIGN" and any(text(entry.get("variable")) == name for entry in objects(one.data.get("assignments")))
    ]  # fmt: skip
    return Ref(path(setters[0].name, name)) if ref.code.startswith("vars.") and len(setters) == 1 else ref


def extract(node: FimNode, ctx: Context, graph: Graph) -> None:
    """PARAMETER_EXTRACTOR."""
    fields = [
        spread({"name": text(one.get("name")), "type": _TYPES.get(text(one.get("type")).lower(), "string"), "description": text(one.get("description")),
                "required": one.get("required") is True or None})
        for one in objects(node.data.get("parameters")) if text(one.get("name"))
    ]  # fmt: skip
    source = node.data.get("input_text") or node.data.get("input_variable")
    value = whole(ctx.variable(source, node)) if "{{" not in text(source) else ctx.worded(source, node)
    config = {
        "input": value,
        "fields": fields or [{"name": "text"}],
        "instructions": ctx.worded(node.data.get("extraction_prompt"), node),
    }
    graph.add(ctx.step(node, "PARAMETER_EXTRACTOR", spread(config)))


def document(node: FimNode, ctx: Context, graph: Graph) -> None:
    """DOCUMENT_EXTRACTOR."""
    config = {"file": whole(ctx.variable(node.data.get("input_variable"), node)),
              "mode": {"tables": "tables", "markdown": "markdown"}.get(text(node.data.get("extract_mode")).lower(), "text"),
              "page_range": text(node.data.get("page_range")) or None}  # fmt: skip
    graph.add(ctx.step(node, "DOCUMENT_EXTRACTOR", spread(config)))


def listing(node: FimNode, ctx: Context, graph: Graph) -> None:
    """LIST_OPERATION."""
    config = {
        "input": whole(ctx.variable(node.data.get("input_variable"), node)),
        "operations": list_operations(node, ctx),
    }
    graph.add(ctx.step(node, "LIST_OPERATION", spread(config)))


def transform(node: FimNode, ctx: Context, graph: Graph) -> None:
    """TRANSFORM."""
    source = whole(ctx.variable(node.data.get("input_variable"), node))
    steps = transform_steps(node, ctx)
    if steps is None:
        message = f"The operations of {node.label!r} are not all known; write them as steps of a TRANSFORM."
        ctx.say("unsupported", "transform", message, node)
        config = {
            **failing_code(
                message, settings_text(node.data.get("operations")), language="FIM One's settings"
            ),
            "inputs": {"input": source},
        }
        graph.add(ctx.step(node, "CODE", config))
        return
    graph.add(ctx.step(node, "TRANSFORM", spread({"input": source, "steps": steps})))


def env(node: FimNode, ctx: Context, graph: Graph) -> None:
    """ENV with the keys that are no secrets; secrets are read where they are used."""
    keys = [key for key in texts(node.data.get("env_keys")) if key]
    plain = [key for key in keys if not _SECRET.search(key)]
    for key in keys:
        if key in plain:
            ctx.say(
                "decision",
                "set_setting",
                f"Set {key} for each environment, as in interlace.toml under [environments.dev].",
                node,
            )
        else:
            ctx.say(
                "decision",
                "set_secret",
                f"Set the secret {key}: interlace secrets set {key}. Only headers and authentications can read it.",
                node,
            )
    if plain:
        graph.add(ctx.step(node, "ENV", {"values": {key: key for key in plain}}))
    else:
        graph.add(ctx.step(node, "TEMPLATE", {"template": ""}))


def env_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """A setting."""
    del ctx
    kept = [key for key in keys if key]
    if kept and re.search(r"TOKEN|SECRET|PASSWORD|KEY|CREDENTIAL", str(kept[0]), re.IGNORECASE):
        return Ref(f"{path('env', kept[0])} | default('')")
    return Ref(path(node.name, *kept) if kept else node.name)


def extract_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """All values, or one of them; nothing where the text did not state it."""
    del ctx
    return Ref(f"{path(node.name, 'data', *[key for key in keys if key != ''])} | default(none)")


KINDS: Final = {
    "TEMPLATE_TRANSFORM": Kind(template, output("text", is_text=True), fallback="template"),
    "TEMPLATE": Kind(template, output("text", is_text=True), fallback="template"),
    "VARIABLE_ASSIGN": Kind(assign, output(), fallback="assign"), "VARIABLE_AGGREGATOR": Kind(aggregate, output("value"), fallback="merge"),
    "PARAMETER_EXTRACTOR": Kind(extract, extract_output, fallback="extract"),
    "DOCUMENT_EXTRACTOR": Kind(document, output("text", is_text=True), fallback="document"),
    "LIST_OPERATION": Kind(listing, output("result"), fallback="list"), "TRANSFORM": Kind(transform, output("result"), fallback="transform"),
    "ENV": Kind(env, env_output, fallback="env"),
}  # fmt: skip
