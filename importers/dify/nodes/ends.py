"""Where a Dify graph begins and ends: start, triggers, end, answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlace.importers.build import Graph
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.inputs import declare
from interlace.importers.expressions import Ref, path, whole, worded
from interlace.importers.foreign import Json, objects, text

ANSWERS: Final = "answer"
_TEXTS: Final = frozenset({"text-input", "paragraph", "select"})


def start(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """START, with the form's fields as inputs of the workflow."""
    for variable in objects(node.data.get("variables")):
        declare(variable, ctx, node)
    graph.add(ctx.step(node, "START", {}))
    return node.name


def start_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """A field of the form is an input."""
    if not keys:
        return Ref("inputs")
    known = {text(one.get("variable")): one for one in objects(node.data.get("variables"))}
    entry = known.get(keys[0])
    if entry is None and keys[0] not in ctx.draft.inputs:
        ctx.say(
            "changed",
            "undeclared_input",
            f"{keys[0]!r} is read but no field of the start; it is an optional input.",
            node,
        )
        ctx.draft.need_input(keys[0], {"default": ""})
    is_text = entry is not None and text(entry.get("type")) in _TEXTS and len(keys) == 1
    return Ref(path("inputs", *keys), is_text=is_text)


def end(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """END with its outputs."""
    made: Json = {}
    for entry in objects(node.data.get("outputs")):
        name = text(entry.get("variable"))
        if name:
            made[f"{node.name}_{name}" if ctx.separate_ends else name] = whole(
                ctx.ref(entry.get("value_selector"), node)
            )
    if ctx.separate_ends and made:
        ctx.say(
            "changed", "output_names",
            "Several ends of the file may be reached in one run; their outputs got the end's name before theirs.", node,
        )  # fmt: skip
    graph.add(ctx.step(node, "END", {"outputs": made} if made else {}))
    return node.name


def answer(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """END with the answer; a TEMPLATE, or a piece of the variable `answer`, where several answers make one text."""
    words = worded(ctx.parts(node.data.get("answer"), node), exact=ctx.gathered)
    if ctx.gathered:
        ctx.draft.variables.setdefault(ANSWERS, {"type": "string", "default": ""})
        assignment = {"variable": ANSWERS, "op": "append", "value": words or ""}
        graph.add(ctx.step(node, "VARIABLE_ASSIGN", {"assignments": [assignment]}))
    elif ctx.joined_answers:
        # A template loses the line end at its end.
        graph.add(ctx.step(node, "TEMPLATE", {"template": f"{words}\n" if words.endswith("\n") else words}))
    else:
        graph.add(ctx.step(node, "END", {"outputs": {"answer": words}}))
    return node.name


def answer_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The text of an answer."""
    del keys
    if ctx.joined_answers and not ctx.gathered:
        return Ref(path(node.name, "text"), is_text=True)
    return Ref("''", is_text=True)


def nothing(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """A node without outputs."""
    ctx.say(
        "changed",
        "dangling_reference",
        f"{'.'.join(keys)} of {node.title!r} is read, which it does not give.",
        node,
    )
    return Ref("none")


KINDS: Final = {
    "start": Kind(start, start_output, fallback="start"),
    "end": Kind(end, nothing, fallback="end"),
    "answer": Kind(answer, answer_output, fallback="answer"),
}
