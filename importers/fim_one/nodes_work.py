"""FIM One's nodes that do something: models, knowledge, HTTP, code, connectors, tools, data."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.expressions import Ref, path, whole
from interlace.importers.fim_one.context import Context, Kind, named
from interlace.importers.fim_one.file import FimNode
from interlace.importers.fim_one.outputs import output
from interlace.importers.foreign import Json, mapping, number, text, texts
from interlace.importers.foreign import whole as whole_number
from interlace.importers.json_template import json_template
from interlace.importers.placeholder import failing_code, settings_text
from interlace.importers.python_code import parsed
from interlace.importers.urls import usable

_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
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


def llm(node: FimNode, ctx: Context, graph: Graph) -> None:
    """LLM."""
    data = node.data
    temperature = number(data.get("temperature"))
    config = {
        "system": ctx.worded(data.get("system_prompt"), node), "prompt": ctx.worded(data.get("prompt_template") or data.get("prompt"), node) or "{{ '' }}",
        "temperature": None if temperature is None else max(0, min(temperature, 2)),
        "model": "fast" if text(data.get("model_tier")).lower() in ("fast", "light", "small") else None,
    }  # fmt: skip
    if text(data.get("model")):
        ctx.say(
            "changed",
            "model_role",
            f"It asks {text(data['model'])}; here the model of the node's role answers. Write `model:` for another.",
            node,
        )
    graph.add(ctx.step(node, "LLM", spread(config)))


def agent(node: FimNode, ctx: Context, graph: Graph) -> None:
    """AGENT of a slot, or the workflow's own."""
    prompt = ctx.worded(
        node.data.get("prompt") or node.data.get("prompt_template") or node.data.get("query"), node
    )
    name = text(node.data.get("agent_id")).strip()
    config: Json = {"agent": name, "prompt": prompt}
    if not name:
        config = {"instructions": "Answer the question.", "prompt": prompt}
        ctx.say(
            "decision",
            "bind_agent",
            "No agent is named in the file; name one under `agent`, or write its instructions.",
            node,
        )
    else:
        ctx.say("decision", "bind_agent", f"Make an agent {name!r}: interlace agents add {name} …", node)
    graph.add(ctx.step(node, "AGENT", spread(config)))


def knowledge(node: FimNode, ctx: Context, graph: Graph) -> None:
    """KB_RETRIEVAL over slots."""
    given = texts(node.data.get("kb_ids")) or [
        text(node.data.get(key)) for key in ("knowledge_base_id", "kb_id")
    ]
    names = list(dict.fromkeys(name for name in given if name.strip())) or [
        named(node, "kb_name", "knowledge")
    ]
    for name in names:
        ctx.say("decision", "bind_knowledge_base", f"Put a knowledge base in place of {name!r}.", node)
    top = whole_number(node.data.get("top_k"))
    config = {"knowledge_bases": names, "query": ctx.worded(node.data.get("query") or node.data.get("query_template"), node),
              "top_k": top if top and top > 0 else None}  # fmt: skip
    graph.add(ctx.step(node, "KB_RETRIEVAL", spread(config)))


def http(node: FimNode, ctx: Context, graph: Graph) -> None:
    """HTTP."""
    data = node.data
    method = text(data.get("method")).upper() or "GET"
    if method not in _METHODS:
        ctx.say(
            "decision", "method", f"The method {method!r} is computed or not known; GET stands there.", node
        )
        method = "GET"
    headers = ctx.any(mapping(data.get("headers")), node, secret=True)
    config = {"method": method, "url": usable(ctx.worded(data.get("url"), node).strip(), step=node.name, source=node.label, report=ctx.report),
              "query": ctx.any(mapping(data.get("params")), node), "headers": headers, "body": _body(data.get("body"), node, ctx)}  # fmt: skip
    step = ctx.step(node, "HTTP", spread(config))
    limit = number(data.get("timeout"))
    if step.timeout is None and limit and limit > 0:
        step.timeout = limit
    graph.add(step)


def _body(value: Any, node: FimNode, ctx: Context) -> Json | None:
    if value in (None, "", {}, []):
        return None
    if isinstance(value, dict | list):
        return {"type": "json", "content": ctx.any(value, node)}
    found = json_template(ctx.parts(value, node))
    if found is not None:
        return {"type": "json", "content": found}
    return {"type": "raw", "content": ctx.worded(value, node), "media_type": "application/json"}


def http_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """The body, or the status and headers by their names."""
    del ctx
    if keys and keys[0] == "":
        known = {"status": "status_code", "response": "body", "data": "body", "text": "body"}
        return Ref(path(node.name, known.get(str(keys[1]), keys[1]), *keys[2:]))
    return Ref(path(node.name, "body", *keys))


def code(node: FimNode, ctx: Context, graph: Graph) -> None:
    """CODE: what the code reads of others are its inputs, and `result` is what it gives."""
    source, language = text(node.data.get("code")), text(node.data.get("language")).lower() or "python"
    tree = parsed(source)
    if not language.startswith("python") or isinstance(tree, str):
        reason = (
            f"it is written in {language}; write it anew in Python"
            if not language.startswith("python")
            else f"its Python cannot be read: {tree}"
        )
        message = f"The code of {node.label!r} was not carried over: {reason}."
        ctx.say("unsupported", "code_language", message, node)
        graph.add(ctx.step(node, "CODE", failing_code(message, source, language=language)))
        return
    inputs, dotted = _reads(tree, node, ctx)
    names = [*inputs, *(["variables"] if dotted else [])]
    if dotted:
        inputs["variables"] = dotted
    body = textwrap.indent(source.strip("\n").replace("\r\n", "\n"), "    ")
    main = f"def main({', '.join(names)}):\n{body}\n    return {{'output': {_result(tree, node)}}}\n"
    ctx.say(
        "changed",
        "code",
        "The code stands in a function `main`; what it reads of other nodes are its inputs.",
        node,
    )
    graph.add(ctx.step(node, "CODE", spread({"code": main, "inputs": inputs})))


def _result(tree: ast.Module, node: FimNode) -> str:
    bound = {
        part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    defined = {part.name for part in tree.body if isinstance(part, ast.FunctionDef)}
    for name in ("result", "output", text(node.data.get("output_variable"))):
        if name and name in bound:
            return name
    return "main()" if "main" in defined else "None"


def _reads(tree: ast.Module, node: FimNode, ctx: Context) -> tuple[Json, Json]:
    """Names of others that the code reads, and keys of `variables`."""
    bound = {
        part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    inputs: Json = {}
    dotted: Json = {}
    uses_variables = False
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in bound:
            uses_variables = uses_variables or part.id == "variables"
            if _is_known(part.id, ctx) and part.id not in inputs:
                inputs[part.id] = whole(
                    ctx.ref(part.id if part.id not in ctx.file.nodes else f"{part.id}.output", node)
                )
        elif (
            isinstance(part, ast.Constant)
            and isinstance(part.value, str)
            and re.fullmatch(r"[\w-]+\.\w+", part.value)
        ) and part.value.split(".")[0] in (*ctx.file.nodes, "input"):
            dotted[part.value] = whole(ctx.ref(part.value, node))
    return inputs, dotted if uses_variables else {}


def _is_known(name: str, ctx: Context) -> bool:
    outputs = {text(one.data.get("output_variable")) for one in ctx.file.nodes.values()}
    return (
        name in ctx.draft.inputs
        or name in ctx.draft.variables
        or name in outputs
        or name in ctx.locals
        or name in ctx.file.nodes
    )


def understand(node: FimNode, ctx: Context, graph: Graph) -> None:
    """QUESTION_UNDERSTANDING."""
    mode = text(node.data.get("mode")).lower()
    config = {"input": whole(ctx.variable(node.data.get("input_variable"), node)),
              "mode": mode if mode in ("rewrite", "expand", "decompose", "intent") else "rewrite"}  # fmt: skip
    graph.add(ctx.step(node, "QUESTION_UNDERSTANDING", config))


def understand_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """The question, its parts or its intent, by the mode."""
    del ctx
    if keys and keys[0] == "":
        return Ref(path(node.name, *keys[1:]))
    field = {"expand": "queries", "decompose": "sub_questions", "intent": "intent"}.get(
        text(node.data.get("mode")).lower(), "query"
    )
    return Ref(path(node.name, field, *keys), is_text=field == "query")


def connector(node: FimNode, ctx: Context, graph: Graph) -> None:
    """CONNECTOR of a slot."""
    name, action = (
        named(node, "connector_id", "connector"),
        text(node.data.get("action_id") or node.data.get("action")).strip() or "call",
    )
    ctx.say(
        "decision",
        "bind_connector",
        f"Make a connector {name!r} with an action {action!r}: interlace connectors add …",
        node,
    )
    graph.add(
        ctx.step(
            node,
            "CONNECTOR",
            spread(
                {
                    "connector": name,
                    "action": action,
                    "parameters": ctx.any(mapping(node.data.get("parameters")), node),
                }
            ),
        )
    )


def mcp(node: FimNode, ctx: Context, graph: Graph) -> None:
    """MCP of a slot."""
    name = named(node, "server_id", "server")
    ctx.say("decision", "bind_mcp", f"Add the MCP server {name!r}: interlace mcp add {name} …", node)
    config = {
        "server": name,
        "tool": text(node.data.get("tool_name")).strip() or "tool",
        "arguments": ctx.any(mapping(node.data.get("parameters")), node),
    }
    graph.add(ctx.step(node, "MCP", spread(config)))


def mcp_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """The structured result; its text where there is none."""
    del ctx
    if keys and keys[0] == "":
        return Ref(path(node.name, *keys[1:]))
    if keys:
        return Ref(path(node.name, "structured", *keys))
    return Ref(
        f"{node.name}.structured or {node.name}.content | map(attribute='text', default='') | join('\\n')"
    )


def tool(node: FimNode, ctx: Context, graph: Graph) -> None:
    """TOOL of the same name."""
    name = text(node.data.get("tool_id")).strip() or "tool"
    ctx.say(
        "decision",
        "bind_tool",
        f"Check that there is a built-in tool {name!r}, or choose another: interlace tools",
        node,
    )
    graph.add(
        ctx.step(
            node,
            "TOOL",
            spread({"tool": name, "arguments": ctx.any(mapping(node.data.get("parameters")), node)}),
        )
    )


def unknown(node: FimNode, ctx: Context, graph: Graph) -> None:
    """A CODE node that fails when it is reached."""
    message = f"{node.label!r} was a node of type {node.kind} in FIM One, which has no counterpart here; put another node in its place."
    ctx.say("unsupported", "unknown_kind", message, node)
    kept = {key: value for key, value in node.data.items() if not key.startswith("_")}
    graph.add(
        ctx.step(node, "CODE", failing_code(message, settings_text(kept), language="FIM One's settings"))
    )


KINDS: Final = {
    "LLM": Kind(llm, output("text", is_text=True), fallback="llm"), "AGENT": Kind(agent, output("text", is_text=True), fallback="agent"),
    "KNOWLEDGE_RETRIEVAL": Kind(knowledge, output("context", is_text=True), fallback="knowledge"),
    "KB_RETRIEVAL": Kind(knowledge, output("context", is_text=True), fallback="knowledge"),
    "HTTP_REQUEST": Kind(http, http_output, fallback="http"), "HTTP": Kind(http, http_output, fallback="http"),
    "CODE_EXECUTION": Kind(code, output("output"), fallback="code"), "CODE": Kind(code, output("output"), fallback="code"),
    "QUESTION_UNDERSTANDING": Kind(understand, understand_output, fallback="question"),
    "CONNECTOR": Kind(connector, output("body"), fallback="connector"), "MCP": Kind(mcp, mcp_output, fallback="mcp"),
    "BUILTIN_TOOL": Kind(tool, output("result"), fallback="tool"), "TOOL": Kind(tool, output("result"), fallback="tool"),
    "": Kind(unknown, output(), fallback="unknown"),
}  # fmt: skip
