"""A Dify workflow or chatflow as a draft."""

from __future__ import annotations

import json
from typing import Any, Final

from interlace.importers.build import Draft, Graph, Step
from interlace.importers.dify.answers import may_meet
from interlace.importers.dify.context import IDENTIFIER, Context
from interlace.importers.dify.file import DifyFile, DifyNode, is_body_start
from interlace.importers.dify.graph import fill
from interlace.importers.dify.nodes import KINDS
from interlace.importers.dify.nodes.ends import ANSWERS
from interlace.importers.expressions import Ref, mixed, path
from interlace.importers.foreign import Json, at, listed, mapping, text
from interlace.importers.report import NotImported, Report

_TYPES: Final = {
    "string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "object": "object", "secret": "string",
    "float": "number",
}  # fmt: skip
_EMPTY: Final[dict[str, Any]] = {
    "string": "",
    "number": 0,
    "integer": 0,
    "boolean": False,
    "object": {},
    "array": [],
}


def draft_of(file: DifyFile, report: Report) -> Draft:
    """The draft of an app that has a graph.

    Raises:
        NotImported: the graph has no nodes.
    """
    if not [node for node in file.nodes.values() if node.kind != "note"]:
        raise NotImported("workflow.graph.nodes is empty: there is nothing to import", code="damaged")
    draft = Draft(name=file.name, description=file.description.strip() or None, chat=file.is_chat)
    ctx = Context(file=file, draft=draft, report=report, kinds=KINDS)
    _declare(file, ctx)
    if file.is_chat:
        draft.inputs["message"] = {"type": "string"}
        draft.required.append("message")
    _name(file, ctx)
    _decide(file, ctx)
    fill(draft.graph, None, ctx)
    _finish(file, ctx)
    _features(file, ctx)
    return draft


def _declare(file: DifyFile, ctx: Context) -> None:
    """Conversation variables last as long as the session."""
    for entry in file.variables:
        name, kind = text(entry.get("name")), text(entry.get("value_type"))
        if not IDENTIFIER.fullmatch(name):
            continue
        ours = "array" if kind.startswith("array") else _TYPES.get(kind, "any")
        default = entry.get("value")
        if default is None or not _fits(default, ours):
            default = _EMPTY.get(ours)
        ctx.draft.variables[name] = {"type": ours, "default": default, "scope": "session"}
        words = text(entry.get("description")).strip()
        if words:
            ctx.draft.variables[name]["description"] = words


def _fits(value: Any, kind: str) -> bool:
    expected = {"string": str, "boolean": bool, "object": dict, "array": list}.get(kind)
    if expected is not None:
        return isinstance(value, expected)
    return kind == "any" or (isinstance(value, int | float) and not isinstance(value, bool))


def _name(file: DifyFile, ctx: Context) -> None:
    """Give every node its id before anything is converted, so that references can look forward."""
    for node in file.nodes.values():
        if node.kind != "note" and not is_body_start(node):
            node.name = ctx.draft.ids.give(node.title, ctx.kind(node).fallback)


def _decide(file: DifyFile, ctx: Context) -> None:
    answers = [node for node in file.nodes.values() if node.kind == "answer"]
    ctx.gathered = any(node.parent is not None for node in answers)
    followed = {edge.source for edge in file.edges}
    ctx.joined_answers = (
        ctx.gathered or any(node.id in followed for node in answers) or bool(may_meet(file, answers))
    )
    ends = [node for node in file.nodes.values() if node.kind == "end"]
    ctx.separate_ends = any(_names(one) & _names(other) for one, other in may_meet(file, ends))


def _names(node: DifyNode) -> set[str]:
    return {text(mapping(entry).get("variable")) for entry in listed(node.data.get("outputs"))}


def _finish(file: DifyFile, ctx: Context) -> None:
    """In a chatflow: the answers of a run as its output; a way without an answer still ends."""
    graph = ctx.draft.graph
    if not file.is_chat:
        return
    left = {source for source, _, _ in graph.edges}
    leaves = [step.id for step in graph.steps if step.id not in left and step.type != "END"]
    if ctx.joined_answers:
        _one_answer(file, ctx, graph, leaves)
    elif leaves and any(step.type == "END" for step in graph.steps):
        end = Step(id=ctx.draft.ids.give("end", "end"), type="END")
        graph.add(end)
        for leaf in leaves:
            graph.link(leaf, end.id)


def _one_answer(file: DifyFile, ctx: Context, graph: Graph, leaves: list[str]) -> None:
    if ctx.gathered:
        words = mixed([Ref(path("vars", ANSWERS), is_text=True)])
    else:
        order = {step.id: index for index, step in enumerate(graph.steps)}
        answers = sorted(
            (node for node in file.nodes.values() if node.kind == "answer"),
            key=lambda node: _depth(node, file, order),
        )
        words = mixed([Ref(path(node.name, "text"), is_text=True) for node in answers])
    end = Step(id=ctx.draft.ids.give("end", "end"), type="END", config={"outputs": {"answer": words}})
    graph.add(end)
    for leaf in leaves:
        graph.link(leaf, end.id)
    ctx.say(
        "changed",
        "answers_joined",
        "Answers of one run follow each other in the file; the END joins them to one answer.",
    )


def _depth(node: DifyNode, file: DifyFile, order: dict[str, int]) -> tuple[int, int]:
    """How far from the beginning a node stands: answers appear in that order."""
    before = {edge.target: edge.source for edge in reversed(file.edges)}
    count, here, seen = 0, node.id, set()
    while here in before and here not in seen:
        seen.add(here)
        here = before[here]
        count += 1
    return count, order.get(node.name, 0)


def _features(file: DifyFile, ctx: Context) -> None:
    features = file.features
    for node in file.nodes.values():
        if node.kind == "note":
            _note(node, ctx)
    if (
        at(features, "file_upload", "enabled") is True
        or at(features, "file_upload", "image", "enabled") is True
    ):
        ctx.draft.need_input(
            "files", {"type": "array", "items": {"type": "object", "format": "file"}, "default": []}
        )
    said = {
        "opening_statement": "the opening words", "suggested_questions": "the suggested questions",
        "sensitive_word_avoidance": "the filter of sensitive words", "speech_to_text": "speech to text",
        "text_to_speech": "text to speech", "suggested_questions_after_answer": "questions suggested after an answer",
    }  # fmt: skip
    lost = [words for name, words in said.items() if _is_on(features.get(name))]
    if lost:
        ctx.say("changed", "features", f"What belongs to Dify's chat window was left out: {', '.join(lost)}.")


def _is_on(value: Any) -> bool:
    return value.get("enabled") is True if isinstance(value, dict) else bool(value)


def _note(node: DifyNode, ctx: Context) -> None:
    words = note_text(node.data.get("text"))
    if not words:
        return
    note: Json = {"text": words}
    if node.position:
        note["at"] = list(node.position)
    if node.size:
        note["size"] = list(node.size)
    ctx.draft.notes.append(note)
    ctx.report.add("carried", "note", "A note of the canvas is kept under `ui.notes`.", source=node.title)


def note_text(value: Any) -> str:
    """The text of a note, out of the tree that Dify's editor keeps."""
    source = text(value)
    try:
        tree = json.loads(source)
    except (ValueError, RecursionError):
        return source.strip()
    lines: list[str] = []
    _lines(at(tree, "root"), lines, 0)
    return "\n".join(line for line in lines if line.strip()).strip()


def _lines(part: Any, lines: list[str], depth: int) -> None:
    if not isinstance(part, dict) or depth > 50:  # noqa: PLR2004 - no editor nests deeper
        return
    if isinstance(part.get("text"), str):
        if not lines:
            lines.append("")
        lines[-1] += part["text"]
    if part.get("type") in ("paragraph", "heading", "listitem", "quote", "linebreak"):
        lines.append("")
    for child in listed(part.get("children")):
        _lines(child, lines, depth + 1)
