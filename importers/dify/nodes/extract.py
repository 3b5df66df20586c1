"""Dify's extractors: parameters out of a text, texts out of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlace.importers.build import Graph, Step, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, model_settings, schema_of
from interlace.importers.expressions import Ref, constant, path, shown, whole
from interlace.importers.foreign import Json, objects, text, texts

_EMPTY: Final = {"string": "", "number": 0, "boolean": False, "select": "", "bool": False}


def parameters(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """PARAMETER_EXTRACTOR; where a required value is missing the flow goes on, as in Dify."""
    fields: Json = {}
    required = []
    for entry in objects(node.data.get("parameters")):
        name = text(entry.get("name"))
        if not name:
            continue
        schema = schema_of(entry.get("type"))
        options = texts(entry.get("options"))
        fields[name] = spread({**schema, "enum": options, "description": text(entry.get("description"))})
        if entry.get("required") is True:
            required.append(name)
    settings = model_settings(node.data.get("model"), node, ctx)
    if settings:
        ctx.say(
            "changed",
            "model_settings",
            f"Settings of the model that an extractor does not take: {', '.join(sorted(settings))}.",
            node,
        )
    config = {
        "input": whole(ctx.ref(node.data.get("query"), node)),
        "schema": {"type": "object", **({"required": required} if required else {}), "properties": fields},
        "instructions": ctx.worded(node.data.get("instruction"), node),
    }
    step = ctx.step(node, "PARAMETER_EXTRACTOR", spread(config))
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def parameters_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """A value that the text did not state reads as empty, as in Dify."""
    if not keys:
        return Ref(path(node.name, "data"))
    if keys[0] == "__is_success":
        return Ref(f"(1 if {path(node.name, 'missing')} is empty else 0)")
    if keys[0] == "__reason":
        return Ref(f"{path(node.name, 'missing')} | join(', ')", is_text=True)
    if keys[0] == "__usage":
        return Ref(path(node.name, "usage", *keys[1:]))
    del ctx
    kinds = {
        text(one.get("name")): text(one.get("type")).lower() for one in objects(node.data.get("parameters"))
    }
    kind = kinds.get(keys[0], "string")
    empty = [] if kind.startswith("array") else _EMPTY.get(kind, {} if kind == "object" else "")
    return Ref(
        f"{path(node.name, 'data', *keys)} | default({constant(empty)})", is_text=kind in ("string", "select")
    )


def document(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """DOCUMENT_EXTRACTOR; for a list of files an ITERATION around it."""
    source = ctx.ref(node.data.get("variable_selector"), node)
    if node.data.get("is_array_file") is not True:
        step = ctx.step(node, "DOCUMENT_EXTRACTOR", {"file": whole(source), "mode": "text"})
    else:
        inner = ctx.draft.ids.give(f"{node.name}_text", "text")
        body = Graph()
        body.add(Step(id=inner, type="DOCUMENT_EXTRACTOR", config={"file": "{{ item }}", "mode": "text"}))
        step = ctx.step(node, "ITERATION", {"items": whole(source), "output": shown(path(inner, "text"))})
        step.body = body
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def document_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The text, or the list of texts."""
    del keys, ctx
    if node.data.get("is_array_file") is True:
        return Ref(path(node.name, "results"))
    return Ref(path(node.name, "text"), is_text=True)


KINDS: Final = {
    "parameter-extractor": Kind(parameters, parameters_output, fallback="extract"),
    "document-extractor": Kind(document, document_output, fallback="document"),
}
