"""Dify's branches: if-else and question-classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.conditions import case_name, rules
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, model_settings
from interlace.importers.expressions import Ref, constant, grouped, path, whole
from interlace.importers.foreign import Json, objects, text
from interlace.importers.naming import slug, unique

_NAMES: Final = "_case_names"


def condition(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """CONDITION with a case for each branch; the rest is `else`."""
    given = objects(node.data.get("cases")) or [
        {
            "case_id": "true",
            "conditions": node.data.get("conditions"),
            "logical_operator": node.data.get("logical_operator"),
        }
    ]
    used: set[str] = set()
    names: dict[str, str] = {}
    cases: list[Json] = []
    for number_of, case in enumerate(given, 1):
        group = rules(case.get("conditions"), case.get("logical_operator"), node, ctx)
        name = case_name(group, used, number_of, len(given))
        names[text(case.get("case_id")) or text(case.get("id"))] = name
        cases.append({"id": name, "rules": group})
    node.data[_NAMES] = names
    graph.add(ctx.step(node, "CONDITION", {"cases": cases}))
    return node.name


def condition_handle(node: DifyNode, handle: str) -> str | None:
    """Dify's id of a case as ours; `false` is the rest."""
    names: dict[str, str] = node.data.get(_NAMES, {})
    return "else" if handle == "false" else names.get(handle)


def condition_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """Which case was taken."""
    del keys, ctx
    return Ref(path(node.name, "matched"))


def classifier(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """CLASSIFIER with a class for each of Dify's."""
    used: set[str] = {"else", "error"}
    names: dict[str, str] = {}
    classes: list[Json] = []
    for number_of, entry in enumerate(objects(node.data.get("classes")), 1):
        title = text(entry.get("name")).strip()
        name = unique(slug(title, longest=30) or f"class_{number_of}", used)
        names[text(entry.get("id"))] = name
        classes.append(spread({"id": name, "name": title}))
    node.data[_NAMES] = names
    if not classes:
        classes = [{"id": "any", "name": "any"}]
        ctx.say("changed", "no_classes", "The classifier has no classes in the file.", node)
    model = model_settings(node.data.get("model"), node, ctx)
    if model:
        ctx.say(
            "changed",
            "model_settings",
            f"Settings of the model that a classifier does not take: {', '.join(sorted(model))}.",
            node,
        )
    config = {
        "input": whole(ctx.ref(node.data.get("query_variable_selector"), node)),
        "classes": classes,
        "instructions": ctx.worded(node.data.get("instruction") or node.data.get("instructions"), node),
    }
    step = ctx.step(node, "CLASSIFIER", spread(config))
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def classifier_handle(node: DifyNode, handle: str) -> str | None:
    """Dify's id of a class as ours."""
    names: dict[str, str] = node.data.get(_NAMES, {})
    return names.get(handle)


def classifier_output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The chosen class: its name, as Dify gives it."""
    del ctx
    chosen = path(node.name, "class")
    if keys and keys[0] == "class_id":
        return Ref(chosen, is_text=True)
    ids = {
        slug(text(one.get("name")), longest=30) or "": text(one.get("name"))
        for one in objects(node.data.get("classes"))
    }
    known = node.data.get(_NAMES) or {}
    titles = {text(one.get("id")): text(one.get("name")) for one in objects(node.data.get("classes"))}
    named = {ours: titles.get(theirs, ours) for theirs, ours in known.items()} or ids
    return Ref(f"{grouped(constant(named))}[{chosen}] | default({chosen})", is_text=True)


KINDS: Final = {
    "if-else": Kind(condition, condition_output, condition_handle, fallback="condition"),
    "question-classifier": Kind(classifier, classifier_output, classifier_handle, fallback="classify"),
}
