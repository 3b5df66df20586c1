"""FIM One's nodes that lead the flow: start, end, branches, people, iterator, loop, sub-workflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.expressions import Ref, constant, mixed, path, shown, whole
from interlace.importers.fim_one.context import Context, Kind, named
from interlace.importers.fim_one.file import FimNode
from interlace.importers.foreign import Json, at, mapping, number, objects, text
from interlace.importers.foreign import whole as whole_number
from interlace.importers.naming import slug, unique

_TYPES: Final = {"string": "string", "text": "string", "number": "number", "float": "number", "integer": "integer", "int": "integer",
                 "boolean": "boolean", "bool": "boolean", "object": "object", "json": "object", "array": "array", "list": "array"}  # fmt: skip
_OPERATORS: Final = {
    "==": "==", "eq": "==", "equals": "==", "=": "==", "!=": "!=", "ne": "!=", "not_equals": "!=", ">": ">", "gt": ">", ">=": ">=", "gte": ">=",
    "<": "<", "lt": "<", "<=": "<=", "lte": "<=", "contains": "contains", "not_contains": "not contains", "starts_with": "starts with",
    "ends_with": "ends with", "in": "in", "not_in": "not in", "matches": "matches", "regex": "matches", "is_empty": "is empty",
    "empty": "is empty", "is_not_empty": "is not empty", "not_empty": "is not empty", "exists": "exists", "is_true": "is true",
    "is_false": "is false",
}  # fmt: skip
_ALONE: Final = frozenset({"is empty", "is not empty", "exists", "is true", "is false"})
_NAMES: Final = "_handles"


def variables_of(node: FimNode, field_name: str) -> list[Json]:
    """The variables of START or END, in either spelling."""
    return objects(at(node.data, field_name, "variables")) or objects(node.data.get("variables"))


def start(node: FimNode, ctx: Context, graph: Graph) -> None:
    """START; its variables were declared before."""
    graph.add(ctx.step(node, "START", {}))


def declare(node: FimNode, ctx: Context) -> None:
    """The start's variables as inputs."""
    for entry in variables_of(node, "input_schema"):
        name = text(entry.get("name"))
        if not name:
            continue
        kind = _TYPES.get(text(entry.get("type")).lower())
        schema: Json = {"type": kind} if kind else {}
        if text(entry.get("description")):
            schema["description"] = text(entry["description"])
        if entry.get("required") is True:
            ctx.draft.required.append(name)
        else:
            default = entry.get("default", "" if kind == "string" else None)
            if default is None and kind:
                schema["type"] = [kind, "null"]
            schema["default"] = _fitting(default, kind)
        ctx.draft.inputs[name] = schema


def _fitting(value: Any, kind: str | None) -> Any:
    if kind in ("number", "integer") and isinstance(value, str):
        found = number(value)
        return found if found is None or kind == "number" else int(found)
    if kind == "string" and value is not None and not isinstance(value, str):
        return text(value)
    return value


def start_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """An input."""
    del node
    return ctx.input([key for key in keys if key]) if any(keys) else Ref("inputs")


def end(node: FimNode, ctx: Context, graph: Graph) -> None:
    """END with its outputs."""
    made: Json = {}
    for entry in objects(at(node.data, "output_schema", "variables")):
        name = text(entry.get("name"))
        if name:
            made[name] = (
                mixed(ctx.parts(entry.get("value"), node))
                if "{{" in text(entry.get("value"))
                else whole(ctx.variable(entry.get("value"), node))
            )
    for name, value in mapping(node.data.get("output_mapping")).items():
        made[name] = (
            mixed(ctx.parts(value, node)) if "{{" in text(value) else whole(ctx.variable(value, node))
        )
    graph.add(ctx.step(node, "END", {"outputs": made} if made else {}))


def none(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """A node without outputs."""
    ctx.say(
        "changed",
        "dangling_reference",
        f"{'.'.join(map(str, keys)) or 'the output'} of {node.label!r} is read, which it does not give.",
        node,
    )
    return Ref("none")


def condition(node: FimNode, ctx: Context, graph: Graph) -> None:
    """CONDITION; CLASSIFIER where a model decides."""
    given = objects(node.data.get("conditions"))
    used = {"else", "error"}
    names: dict[str, str] = {}
    for index, entry in enumerate(given, 1):
        own = text(entry.get("id")) or str(index)
        name = unique(slug(text(entry.get("label")) or own, longest=24) or f"case_{index}", used)
        for alias in (f"condition-{own}", own, text(entry.get("handle"))):
            names.setdefault(alias, name)
        entry["_name"] = name
    node.data[_NAMES] = names
    if text(node.data.get("mode")).lower() == "llm" or any(entry.get("llm_prompt") for entry in given):
        classes = [spread({"id": entry["_name"], "name": text(entry.get("label")), "description": ctx.worded(entry.get("llm_prompt"), node)
                           .replace("{{", "").replace("}}", "")}) for entry in given]  # fmt: skip
        source = (
            whole(ctx.variable(node.data.get("input_variable"), node))
            if node.data.get("input_variable")
            else "{{ inputs }}"
        )
        graph.add(ctx.step(node, "CLASSIFIER", {"input": source, "classes": classes or [{"id": "any"}]}))
        ctx.say(
            "changed",
            "llm_condition",
            "A model decided between the conditions; here it chooses a class.",
            node,
        )
        return
    cases = [_case(entry, node, ctx) for entry in given] or [{"id": "never", "when": "false"}]
    graph.add(ctx.step(node, "CONDITION", {"cases": cases}))


def _case(entry: Json, node: FimNode, ctx: Context) -> Json:
    if text(entry.get("expression")).strip():
        return {"id": entry["_name"], "when": ctx.expression(entry["expression"], node).code}
    operator = _OPERATORS.get(text(entry.get("operator")).lower().replace(" ", "_") or "==")
    if operator is None:
        ctx.say(
            "decision",
            "operator",
            f"The operator {text(entry.get('operator'))!r} is not known; the condition never holds.",
            node,
        )
        return {"id": entry["_name"], "when": "false"}
    rule: Json = {"left": whole(ctx.variable(entry.get("variable"), node)), "operator": operator}
    if operator not in _ALONE:
        rule["right"] = ctx.any(entry.get("value"), node)
    return {"id": entry["_name"], "rules": {"all": [rule]}}


def classifier(node: FimNode, ctx: Context, graph: Graph) -> None:
    """CLASSIFIER."""
    given = objects(node.data.get("classes")) or objects(node.data.get("categories"))
    used = {"else", "error"}
    names: dict[str, str] = {}
    classes: list[Json] = []
    for index, entry in enumerate(given, 1):
        label, own = text(entry.get("label") or entry.get("name")), text(entry.get("id"))
        name = unique(slug(label or own, longest=24) or f"class_{index}", used)
        for alias in (f"class-{own}", own, f"class-{label}", label, text(entry.get("handle"))):
            if alias not in ("", "class-"):
                names.setdefault(alias, name)
        classes.append(spread({"id": name, "name": label, "description": text(entry.get("description"))}))
    node.data[_NAMES] = names
    config = {
        "input": whole(ctx.variable(node.data.get("input_variable"), node)),
        "classes": classes or [{"id": "any"}],
    }
    graph.add(ctx.step(node, "CLASSIFIER", config))


def branch_handle(node: FimNode, handle: str) -> str:
    """A handle of a branching node; what is none of its own is the rest."""
    return str(mapping(node.data.get(_NAMES)).get(handle, "else"))


def condition_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """Which way was taken."""
    del keys, ctx
    return Ref(path(node.name, "matched"))


def classifier_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """The class."""
    del keys, ctx
    return Ref(path(node.name, "class"), is_text=True)


def human(node: FimNode, ctx: Context, graph: Graph) -> None:
    """HUMAN with the two answers of the file."""
    config: Json = {
        "title": ctx.worded(node.data.get("title"), node) or node.label,
        "message": "\n\n".join(
            filter(None, (ctx.worded(node.data.get(key), node) for key in ("prompt_message", "description")))
        ),
        "actions": ["approved", "rejected"],
    }
    assignee = text(node.data.get("assignee")).strip()
    if assignee:
        config["assignees"] = [ctx.worded(assignee, node)]
        ctx.say(
            "decision",
            "assignee",
            f"The request goes to {assignee}; check that this person is known here.",
            node,
        )
    hours = number(node.data.get("timeout_hours"))
    if hours and hours > 0:
        config["timeout"] = f"{int(hours)}h" if float(hours).is_integer() else hours * 3600
    graph.add(ctx.step(node, "HUMAN", spread(config)))


def human_handle(node: FimNode, handle: str) -> str:
    """Approved, rejected or timed out."""
    del node
    known = {
        "approved": "approved",
        "approve": "approved",
        "rejected": "rejected",
        "reject": "rejected",
        "timeout": "timeout",
    }
    return known.get(handle.lower().rpartition("-")[2], "approved")


def human_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """What was answered."""
    del ctx
    kept = [key for key in keys if key]
    return Ref(path(node.name, *kept) if kept else path(node.name, "action"), is_text=not kept)


def sub_workflow(node: FimNode, ctx: Context, graph: Graph) -> None:
    """SUB_WORKFLOW of a slot."""
    name = named(node, "workflow_id", "workflow")
    ctx.say(
        "decision",
        "bind_workflow",
        f"Import the workflow {name!r} too, and publish it under that name.",
        node,
    )
    inputs = {key: mixed(ctx.parts(value, node)) if "{{" in text(value) else whole(ctx.variable(value, node))
              for key, value in mapping(node.data.get("input_mapping")).items()}  # fmt: skip
    graph.add(ctx.step(node, "SUB_WORKFLOW", spread({"workflow": name, "inputs": inputs})))


def sub_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """All outputs of the child, or one of them."""
    del ctx
    return Ref(path(node.name, *[key for key in keys if key != ""]))


def iterator(node: FimNode, ctx: Context, graph: Graph) -> None:
    """ITERATION; its body is what is downstream, up to the ends."""
    from interlace.importers.fim_one.graph import fill  # noqa: PLC0415 - the two go round each other

    config: Json = {"items": whole(ctx.variable(node.data.get("list_variable"), node))}
    step = ctx.step(node, "ITERATION", config)
    step.body = Graph()
    item, index = text(node.data.get("iterator_variable")), text(node.data.get("index_variable"))
    before, ctx.locals = ctx.locals, {**ctx.locals, **({item: "item"} if item else {}), **({index: "index"} if index else {}),
                                      "item": "item", "index": "index", "current_item": "item"}  # fmt: skip
    outer, ctx.container = ctx.container, node.id
    fill(step.body, ctx.bodies[node.id], ctx)
    last = [ctx.file.nodes[name] for name in ctx.bodies[node.id]]
    config["output"] = shown(
        "{"
        + ", ".join(
            f"{constant(one.name)}: {ctx.ref(f'{one.id}.output').code} | default(none)" for one in last
        )
        + "}"
    )
    ctx.locals, ctx.container = before, outer
    most = whole_number(node.data.get("max_iterations"))
    if most and most > 0:
        config["max_items"] = most
    ctx.say(
        "changed",
        "iterator",
        "What followed the iterator is the body of the ITERATION, up to the ends.",
        node,
    )
    graph.add(step)


def iterator_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """The results; those of one node of the body by its id."""
    if node.id == ctx.container:
        return Ref("item")
    inner = ctx.file.nodes.get(str(keys[0])) if keys else None
    if inner is None:
        return Ref(path(node.name, "results"))
    return Ref(f"{node.name}.results | map(attribute={constant(inner.name)})")


def loop(node: FimNode, ctx: Context, graph: Graph) -> None:
    """LOOP with the condition it goes on by."""
    from interlace.importers.fim_one.graph import fill  # noqa: PLC0415 - the two go round each other

    counter = text(node.data.get("loop_variable"))
    step = ctx.step(node, "LOOP", {})
    step.body = Graph()
    before, outer = ctx.locals, ctx.container
    ctx.locals, ctx.container = {**ctx.locals, **({counter: "loop.round"} if counter else {})}, node.id
    fill(step.body, ctx.bodies[node.id], ctx)
    going = ctx.expression(node.data.get("condition"), node).code
    ctx.locals, ctx.container = before, outer
    most = max(1, min(whole_number(node.data.get("max_iterations")) or 10, 10_000))
    reads_body = any(ctx.file.nodes[name].name in going for name in ctx.bodies[node.id])
    if going != "none":
        step.config["until" if reads_body else "while"] = f"not ({going})" if reads_body else going
    step.config |= {"max_rounds": most, "on_max": "continue"}
    names = [ctx.file.nodes[name] for name in ctx.bodies[node.id]]
    if names:
        outer, ctx.container = ctx.container, node.id
        fields = ", ".join(
            f"{constant(one.name)}: {ctx.ref(f'{one.id}.output').code} | default(none)" for one in names
        )
        ctx.container = outer
        step.config["output"] = shown("{" + fields + "}")
    graph.add(step)


def loop_output(node: FimNode, keys: Sequence[str | int], ctx: Context) -> Ref:
    """The last round's output of a node of the body; else how many rounds there were."""
    inner = ctx.file.nodes.get(str(keys[0])) if keys else None
    if inner is not None:
        return Ref(path(node.name, "output", inner.name))
    return Ref(path(node.name, "rounds"))


KINDS: Final = {
    "START": Kind(start, start_output, fallback="start"), "END": Kind(end, none, fallback="end"),
    "CONDITION_BRANCH": Kind(condition, condition_output, branch_handle, fallback="condition"),
    "CONDITION": Kind(condition, condition_output, branch_handle, fallback="condition"),
    "QUESTION_CLASSIFIER": Kind(classifier, classifier_output, branch_handle, fallback="classify"),
    "CLASSIFIER": Kind(classifier, classifier_output, branch_handle, fallback="classify"),
    "HUMAN_INTERVENTION": Kind(human, human_output, human_handle, fallback="ask"), "HUMAN": Kind(human, human_output, human_handle, fallback="ask"),
    "SUB_WORKFLOW": Kind(sub_workflow, sub_output, fallback="sub"), "ITERATOR": Kind(iterator, iterator_output, fallback="each"),
    "ITERATION": Kind(iterator, iterator_output, fallback="each"), "LOOP": Kind(loop, loop_output, fallback="repeat"),
}  # fmt: skip
