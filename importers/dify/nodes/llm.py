"""Dify's LLM: messages, context, memory, images, structured output; Jinja prompts become TEMPLATE steps before it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from interlace.importers import jinja
from interlace.importers.build import Graph, Step, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, model_settings, outputs
from interlace.importers.expressions import Ref, path, tidy, whole
from interlace.importers.foreign import Json, at, mapping, objects, text
from interlace.importers.foreign import whole as whole_number

_MOST_TURNS: Final = 100
_ROLES: Final = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "human": "user",
    "ai": "assistant",
}
_OUTPUT = outputs(
    {
        "text": ("text",),
        "usage": ("usage",),
        "structured_output": ("data",),
        "reasoning_content": ("reasoning",),
    }
)


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """LLM, with a TEMPLATE before it for each message in Jinja."""
    context = _context(node, ctx)
    prepared: list[Step] = []
    messages = [_message(entry, node, ctx, context, prepared) for entry in _written(node)]
    messages = [message for message in messages if message["content"]]
    turns, remembered = _memory(node, ctx)
    if remembered is not None and remembered not in [message["content"] for message in messages]:
        messages.append({"role": "user", "content": remembered})
    said = _said(messages)
    if turns is not None and "prompt" in said:
        said["history"] = turns
    config = {**said, **model_settings(node.data.get("model"), node, ctx), **_extras(node, ctx)}
    step = ctx.step(node, "LLM", spread(config))
    apply_policies(step, node, ctx)
    graph.add(*prepared, step)
    graph.chain(*(one.id for one in prepared), node.name)
    return prepared[0].id if prepared else node.name


def _written(node: DifyNode) -> list[Json]:
    given = node.data.get("prompt_template")
    return objects(given) if isinstance(given, list) else [{**mapping(given), "role": "user"}]


def _said(messages: list[Json]) -> Json:
    """Messages as instructions and prompt where they are no more than that."""
    roles = [message["role"] for message in messages]
    if roles == ["system", "user"]:
        return {"system": messages[0]["content"], "prompt": messages[1]["content"]}
    if roles == ["user"]:
        return {"prompt": messages[0]["content"]}
    if not messages:
        return {"prompt": "{{ '' }}"}
    return {"messages": messages}


def _message(entry: Json, node: DifyNode, ctx: Context, context: Ref | None, prepared: list[Step]) -> Json:
    role = _ROLES.get(text(entry.get("role")), "user")
    if entry.get("edition_type") == "jinja2":
        source = text(entry.get("jinja2_text")) or text(entry.get("text"))
        step = _template(source, node, ctx, f"{node.name}_{role}")
        prepared.append(step)
        return {"role": role, "content": whole(Ref(path(step.id, "text"), is_text=True))}
    return {"role": role, "content": ctx.worded(tidy(text(entry.get("text"))), node, context=context)}


def _template(source: str, node: DifyNode, ctx: Context, title: str) -> Step:
    variables = {
        text(entry.get("variable")): ctx.ref(entry.get("value_selector"), node).code
        for entry in objects(at(node.data, "prompt_config", "jinja2_variables"))
    }
    name = ctx.draft.ids.give(title, "prompt")
    try:
        config: Json = {"template": jinja.translate(source, variables.get)}
    except jinja.NotTranslated as error:
        ctx.say(
            "decision",
            "template",
            f"The prompt's Jinja could not be carried over ({error}); it stands there as it was.",
            node,
        )
        config = {"template": "{% raw %}" + source.replace("{% endraw %}", "") + "{% endraw %}"}
    return Step(id=name, type="TEMPLATE", config=config, source=node.title)


def _context(node: DifyNode, ctx: Context) -> Ref | None:
    setting = mapping(node.data.get("context"))
    chosen = setting.get("variable_selector")
    if setting.get("enabled") is not True or not chosen:
        return None
    found = ctx.ref(chosen, node)
    owner = ctx.file.nodes.get(text(chosen[0]) if isinstance(chosen, list) and chosen else "")
    if owner is not None and owner.kind == "knowledge-retrieval":
        return Ref(path(owner.name, "context"), is_text=True)
    return found


def _memory(node: DifyNode, ctx: Context) -> tuple[int | None, str | None]:
    """How many turns a node with memory reads, and the message that it ends with: the person's, unless it has its own words."""
    memory = node.data.get("memory")
    if not isinstance(memory, dict) or not ctx.file.is_chat:
        return None, None
    size = whole_number(at(memory, "window", "size")) if at(memory, "window", "enabled") is True else None
    ctx.draft.need_input("history", {"type": "array", "items": {"type": "object"}, "default": []})
    turns = max(1, min(size, _MOST_TURNS)) if size is not None else _MOST_TURNS
    return turns, ctx.worded(memory.get("query_prompt_template") or "{{#sys.query#}}", node)


def _extras(node: DifyNode, ctx: Context) -> Json:
    made: Json = {}
    if at(node.data, "vision", "enabled") is True:
        chosen = at(node.data, "vision", "configs", "variable_selector") or ["sys", "files"]
        made["images"] = whole(_files(chosen, node, ctx))
    schema = _schema(at(node.data, "structured_output", "schema"))
    if schema and node.data.get("structured_output_enabled") is not False:
        made["output_schema"] = schema
    return made


def _files(chosen: Any, node: DifyNode, ctx: Context) -> Ref:
    found = ctx.ref(chosen, node)
    declared = ctx.draft.inputs.get(found.code.removeprefix("inputs."), {})
    kind = declared.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        return Ref(f"[{found.code}]" if kind == "object" else f"[{found.code}] | compact")
    return found


def _schema(value: Any) -> Json:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return mapping(value)


def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """Text, usage and structured data; a model's thoughts are not kept apart."""
    if keys and keys[0] in ("reasoning_content", "files"):
        ctx.say(
            "changed", "missing_output", f"{keys[0]} of a model is not given here; it reads as nothing.", node
        )
        return Ref("''" if keys[0] == "reasoning_content" else "[]", is_text=True)
    return _OUTPUT(node, keys, ctx)


KINDS: Final = {"llm": Kind(convert, output, fallback="llm")}
