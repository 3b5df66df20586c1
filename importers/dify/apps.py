"""Dify's apps without a graph: chat, completion and agent apps become START → (KB_RETRIEVAL) → LLM or AGENT → END."""

from __future__ import annotations

import re
from typing import Any, Final

from interlace.importers.build import Draft, Step, spread
from interlace.importers.dify.context import Context
from interlace.importers.dify.file import DifyFile, DifyNode
from interlace.importers.dify.inputs import declare
from interlace.importers.dify.nodes import KINDS
from interlace.importers.dify.nodes.common import model_settings
from interlace.importers.dify.nodes.knowledge import knowledge_slots, retrieval
from interlace.importers.dify.nodes.tools import agent_tools
from interlace.importers.expressions import Part, Ref, path, worded
from interlace.importers.foreign import Json, at, listed, mapping, objects, text, whole
from interlace.importers.report import Report

_NAME: Final = re.compile(r"\{\{\s*#?([^\W\d]\w*)#?\s*\}\}")
_ROLES: Final = {"system": "system", "user": "user", "assistant": "assistant"}


def draft_of(file: DifyFile, report: Report) -> Draft:
    """The draft of an app that has only `model_config`."""
    settings = file.model_config
    draft = Draft(name=file.name, description=file.description.strip() or None, chat=file.is_chat)
    ctx = Context(file=file, draft=draft, report=report, kinds=KINDS)
    if file.is_chat:
        draft.inputs["message"] = {"type": "string"}
        draft.required.append("message")
    for field in objects(settings.get("user_input_form")):
        for kind, variable in field.items():
            if isinstance(variable, dict):
                declare({"type": kind, **variable}, ctx)
    is_agent = file.mode == "agent-chat" or at(settings, "agent_mode", "enabled") is True
    title = "agent" if is_agent else "answer"
    node = DifyNode(id="app", kind="llm", title=title, data={}, name=draft.ids.give(title, title))
    start = Step(id=draft.ids.give("start", "start"), type="START")
    knowledge = _knowledge(settings, ctx, node)
    step = _agent(settings, ctx, node, knowledge) if is_agent else _llm(settings, ctx, node, knowledge)
    output = "answer" if file.is_chat else "text"
    end = Step(
        id=draft.ids.give("end", "end"),
        type="END",
        config={"outputs": {output: "{{ " + path(step.id, "text") + " }}"}},
    )
    steps = [start, *([knowledge] if knowledge else []), step, end]
    draft.graph.add(*steps)
    draft.graph.chain(*(one.id for one in steps))
    report.add(
        "carried",
        "app",
        f"The {file.mode} app is a workflow of {' → '.join(one.type for one in steps)}.",
        node=step.id,
    )
    _left_out(settings, ctx)
    return draft


def _knowledge(settings: Json, ctx: Context, node: DifyNode) -> Step | None:
    wanted = [
        text(at(entry, "dataset", "id")) or text(entry.get("id"))
        for entry in objects(at(settings, "dataset_configs", "datasets", "datasets"))
        if at(entry, "dataset", "enabled") is not False
    ]
    wanted = [one for one in wanted if one]
    if not wanted:
        return None
    asked = text(settings.get("dataset_query_variable"))
    query = Ref(path("inputs", asked)) if asked in ctx.draft.inputs else _question(ctx)
    config = {
        "knowledge_bases": knowledge_slots(wanted, node, ctx), "query": worded([query]),
        **retrieval(mapping(settings.get("dataset_configs"))),
    }  # fmt: skip
    return Step(id=ctx.draft.ids.give("knowledge", "knowledge"), type="KB_RETRIEVAL", config=config)


def _question(ctx: Context) -> Ref:
    if ctx.file.is_chat:
        return Ref("inputs.message", is_text=True)
    first = next(iter(ctx.draft.inputs), None)
    if first is None:
        ctx.draft.inputs["query"] = {"type": "string"}
        ctx.draft.required.append("query")
        first = "query"
    return Ref(path("inputs", first))


def _parts(words: Any, ctx: Context, knowledge: Step | None) -> list[Part]:
    """A prompt with `{{name}}` in it: names are the fields of the form."""
    source, position = text(words), 0
    pieces: list[Part] = []
    for match in _NAME.finditer(source):
        name = match[1]
        pieces.append(source[position : match.start()])
        if name in ctx.draft.inputs:
            pieces.append(Ref(path("inputs", name)))
        elif name == "context":
            pieces.append(Ref(path(knowledge.id, "context"), is_text=True) if knowledge else "")
        elif name == "query":
            pieces.append(_question(ctx))
        elif name == "histories":
            pieces.append("")
        else:
            ctx.draft.inputs[name] = {"type": "string", "default": ""}
            pieces.append(Ref(path("inputs", name), is_text=True))
        position = match.end()
    pieces.append(source[position:])
    return pieces


def _instructions(settings: Json, ctx: Context, knowledge: Step | None) -> list[Json]:
    """The prompt of the simple form, or the messages of the advanced one."""
    advanced = objects(at(settings, "chat_prompt_config", "prompt"))
    written = at(settings, "completion_prompt_config", "prompt", "text")
    if text(settings.get("prompt_type")) == "advanced" and (advanced or written):
        entries = advanced or [{"role": "user", "text": written}]
        return [
            {
                "role": _ROLES.get(text(entry.get("role")), "user"),
                "content": worded(_parts(entry.get("text"), ctx, knowledge)),
            }
            for entry in entries
        ]
    words = _parts(settings.get("pre_prompt"), ctx, knowledge)
    if knowledge is not None and not any(
        isinstance(part, Ref) and part.code.endswith(".context") for part in words
    ):
        words += [
            "\n\nUse what follows as your knowledge:\n",
            Ref(path(knowledge.id, "context"), is_text=True),
        ]
    return [{"role": "system", "content": worded(words)}]


def _llm(settings: Json, ctx: Context, node: DifyNode, knowledge: Step | None) -> Step:
    messages = [message for message in _instructions(settings, ctx, knowledge) if message["content"].strip()]
    config = model_settings(settings.get("model"), node, ctx)
    if (
        at(settings, "file_upload", "image", "enabled") is True
        or at(settings, "file_upload", "enabled") is True
    ):
        ctx.draft.need_input(
            "files", {"type": "array", "items": {"type": "object", "format": "file"}, "default": []}
        )
        config["files"] = "{{ inputs.files }}"
    if ctx.file.is_chat:
        return Step(id=node.name, type="LLM", config=_chat(messages, config, ctx))
    if len(messages) == 1:
        return Step(id=node.name, type="LLM", config={"prompt": messages[0]["content"], **config})
    return Step(
        id=node.name,
        type="LLM",
        config={**({"messages": messages} if messages else {"prompt": worded([_question(ctx)])}), **config},
    )


def _chat(messages: list[Json], config: Json, ctx: Context) -> Json:
    ctx.draft.need_input("history", {"type": "array", "items": {"type": "object"}, "default": []})
    if len(messages) <= 1:
        system = messages[0]["content"] if messages else ""
        return spread({"system": system, "prompt": "{{ inputs.message }}", "history": 100, **config})
    return {"messages": [*messages, {"role": "user", "content": "{{ inputs.message }}"}], **config}


def _agent(settings: Json, ctx: Context, node: DifyNode, knowledge: Step | None) -> Step:
    mode = mapping(settings.get("agent_mode"))
    tools = agent_tools(_tool_list(mode), node, ctx)
    model_settings(settings.get("model"), node, ctx)
    words = "\n\n".join(message["content"] for message in _instructions(settings, ctx, knowledge))
    rounds = whole(mode.get("max_iteration"))
    config = {
        "instructions": words, "prompt": worded([_question(ctx)]), "tools": tools, "history": _history(ctx),
        "limits": {"iterations": rounds} if rounds and rounds > 0 else None,
    }  # fmt: skip
    return Step(id=node.name, type="AGENT", config=spread(config))


def _history(ctx: Context) -> str | None:
    if not ctx.file.is_chat:
        return None
    ctx.draft.need_input("history", {"type": "array", "items": {"type": "object"}, "default": []})
    return "{{ inputs.history }}"


def _tool_list(mode: Json) -> list[Any]:
    return [one for one in listed(mode.get("tools")) if isinstance(one, dict) and "tool_name" in one]


def _left_out(settings: Json, ctx: Context) -> None:
    lost = [
        name.replace("_", " ")
        for name in ("opening_statement", "suggested_questions", "more_like_this", "sensitive_word_avoidance", "speech_to_text",
                     "text_to_speech", "annotation_reply", "external_data_tools", "suggested_questions_after_answer")
        if (at(settings, name, "enabled") is True if isinstance(settings.get(name), dict) else bool(settings.get(name)))
    ]  # fmt: skip
    if lost:
        ctx.say("changed", "features", f"What belongs to Dify's chat window was left out: {', '.join(lost)}.")
