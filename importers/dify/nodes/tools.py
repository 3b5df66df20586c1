"""Dify's tools and agents: what is built in here, else slots to be bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, Step, spread
from interlace.importers.builtin_tools import DIFY_TOOLS
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, model_settings, outputs
from interlace.importers.expressions import Ref, path, whole
from interlace.importers.foreign import Json, mapping, objects, text
from interlace.importers.foreign import whole as whole_number
from interlace.importers.naming import slug

_RESULT: Final = "_result_of"
_BODY: Final[dict[str, tuple[str, ...]]] = {"text": ("body",), "json": ("body",), "files": ("body",)}
_OF: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "CONNECTOR": _BODY, "MCP": {"text": ("content",), "json": ("structured",), "files": ("content",)},
    "TOOL": {"text": ("result",), "json": ("result",), "files": ("result",)}, "SUB_WORKFLOW": {},
}  # fmt: skip


def tool(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """TOOL, MCP, SUB_WORKFLOW or CONNECTOR, by where the tool comes from."""
    step = _step(node, ctx)
    node.data[_RESULT] = step.type
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def _step(node: DifyNode, ctx: Context) -> Step:
    provider, name = _called(node.data)
    arguments = _arguments(node, ctx)
    kind = text(node.data.get("provider_type"))
    if kind == "mcp":
        ctx.say(
            "decision", "bind_mcp", f"Add the MCP server {provider!r}: interlace mcp add {provider} …", node
        )
        return ctx.step(node, "MCP", spread({"server": provider, "tool": name, "arguments": arguments}))
    if kind == "workflow":
        ctx.say(
            "decision",
            "bind_workflow",
            f"Import the workflow behind the tool {name!r} too, and publish it under that name.",
            node,
        )
        return ctx.step(node, "SUB_WORKFLOW", spread({"workflow": name, "inputs": arguments}))
    known = DIFY_TOOLS.get(name) if kind in ("", "builtin") else None
    if known is not None:
        kept = {known.arguments.get(key, key): value for key, value in arguments.items() if known.takes(key)}
        if set(arguments) - {key for key in arguments if known.takes(key)}:
            ctx.say(
                "changed",
                "tool_settings",
                f"{known.name} does not have all settings of {name}; the others were left out.",
                node,
            )
        return ctx.step(node, "TOOL", spread({"tool": known.name, "arguments": kept}))
    ctx.say(
        "decision", "bind_connector",
        f"Make a connector {provider!r} with an action {name!r} in place of Dify's tool {provider}/{name}, or choose another"
        " action: interlace connectors add …", node,
    )  # fmt: skip
    return ctx.step(
        node, "CONNECTOR", spread({"connector": provider, "action": name, "parameters": arguments})
    )


def _called(data: Json) -> tuple[str, str]:
    provider = text(data.get("provider_name")) or text(data.get("provider_id")) or "tool"
    short = provider.rstrip("/").rsplit("/", 1)[-1]
    return slug(short) or "tool", text(data.get("tool_name")) or slug(text(data.get("tool_label"))) or "call"


def _arguments(node: DifyNode, ctx: Context) -> Json:
    made = {
        name: _value(entry, node, ctx)
        for name, entry in mapping(node.data.get("tool_configurations")).items()
    }
    made |= {
        name: _value(entry, node, ctx) for name, entry in mapping(node.data.get("tool_parameters")).items()
    }
    return {name: value for name, value in made.items() if value is not None and value != ""}


def _value(entry: Any, node: DifyNode, ctx: Context) -> Any:
    """A parameter: a constant, a text with references, or one reference."""
    if not isinstance(entry, dict) or "value" not in entry:
        return ctx.mixed(entry, node) if isinstance(entry, str) else entry
    kind, value = text(entry.get("type")), entry["value"]
    if kind == "variable" or (
        isinstance(value, list) and value and text(value[0]) in (*ctx.file.nodes, "sys", "conversation")
    ):
        return whole(ctx.ref(value, node))
    return ctx.mixed(value, node) if isinstance(value, str) else value


def tool_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """What a tool gives, by what it became."""
    table = _OF.get(node.data.get(_RESULT) or _guess(node), _BODY)
    known = DIFY_TOOLS.get(_called(node.data)[1])
    if keys and keys[0] == "text" and known is not None and table is _OF["TOOL"]:
        return Ref(path(node.name, "result", *known.text), is_text=bool(known.text))
    if keys and keys[0] == "text" and table is _BODY:
        return Ref(path(node.name, "body"))
    if keys and keys[0] == "text" and table is _OF["MCP"]:
        return Ref(f"{node.name}.content | map(attribute='text') | join('\\n')", is_text=True)
    return outputs(table, texts=frozenset())(node, keys, ctx)


def _guess(node: DifyNode) -> str:
    kind = text(node.data.get("provider_type"))
    if kind in ("mcp", "workflow"):
        return "MCP" if kind == "mcp" else "SUB_WORKFLOW"
    return "TOOL" if kind in ("", "builtin") and _called(node.data)[1] in DIFY_TOOLS else "CONNECTOR"


def agent(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """AGENT with its instructions, question and tools in line."""
    given = {
        name: mapping(entry).get("value")
        for name, entry in mapping(node.data.get("agent_parameters")).items()
    }
    tools = agent_tools(given.get("tools"), node, ctx)
    if text(given.get("mcp_server")):
        ctx.say(
            "decision",
            "bind_mcp",
            f"The agent used the MCP server {text(given['mcp_server'])}; add it and name it under `tools`.",
            node,
        )
    config: Json = {
        "instructions": ctx.worded(given.get("instruction"), node),
        "prompt": ctx.worded(given.get("query") or "{{#sys.query#}}", node),
        "tools": tools,
    }
    model_settings(given.get("model"), node, ctx)
    rounds = whole_number(given.get("maximum_iterations"))
    if rounds and rounds > 0:
        config["limits"] = {"iterations": rounds}
    rest = sorted(set(given) - {"instruction", "query", "tools", "model", "maximum_iterations", "mcp_server"})
    if rest:
        ctx.say(
            "changed",
            "agent_settings",
            f"Settings of the strategy without a counterpart were left out: {', '.join(rest)}.",
            node,
        )
    step = ctx.step(node, "AGENT", spread(config))
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def agent_tools(value: Any, node: DifyNode | None, ctx: Context) -> list[str]:
    """Names of an agent's tools; those that are not built in are to be bound."""
    made = []
    for entry in objects(value):
        if entry.get("enabled") is False:
            continue
        provider, name = _called(entry)
        known = DIFY_TOOLS.get(name)
        if known is not None:
            made.append(known.name)
        else:
            ctx.say(
                "decision", "bind_tool", f"Give the agent a tool in place of Dify's {provider}/{name}.", node
            )
    return list(dict.fromkeys(made))


KINDS: Final = {
    "tool": Kind(tool, tool_output, fallback="tool"),
    "agent": Kind(
        agent, outputs({"json": ("data",), "usage": ("usage",), "files": ("messages",)}), fallback="agent"
    ),
}
