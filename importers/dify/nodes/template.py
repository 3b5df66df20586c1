"""Dify's template-transform: Jinja with names of its own becomes TEMPLATE with references."""

from __future__ import annotations

from typing import Final

from interlace.importers import jinja
from interlace.importers.build import Graph
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, outputs
from interlace.importers.foreign import objects, text
from interlace.importers.placeholder import failing_code


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """TEMPLATE; a failing placeholder where the Jinja has no counterpart."""
    source = text(node.data.get("template"))
    variables = {
        text(entry.get("variable")): ctx.ref(entry.get("value_selector"), node).code
        for entry in objects(node.data.get("variables"))
    }
    try:
        step = ctx.step(node, "TEMPLATE", {"template": jinja.translate(source, variables.get)})
    except jinja.NotTranslated as error:
        message = f"The template of {node.title!r} was not carried over: {error}."
        ctx.say("unsupported", "template", message, node)
        step = ctx.step(node, "CODE", failing_code(message, source, language="Jinja"))
        step.config["output_schema"] = {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string"}},
        }
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


KINDS: Final = {
    "template-transform": Kind(
        convert, outputs({"output": ("text",)}, texts=frozenset({"output"})), fallback="template"
    )
}
