"""The reference pages of the node types: an index and a page each."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from markdown import as_json, code, table, type_name

import interlace.nodes
from interlace.engine.document import Document
from interlace.engine.kinds import KINDS
from interlace.engine.node import Node
from interlace.engine.registry import Registry
from interlace.ui_schema.catalogue import describe

FOLDER = Path(__file__).resolve().parent.parent / "nodes"
_GROUPS = {
    "flow": "Begin and end",
    "logic": "Logic",
    "data": "Data",
    "connect": "Connections",
    "code": "Code",
    "human": "People",
}


def node_pages() -> dict[str, str]:
    """Every page by its name."""
    registry = Registry()
    registry.discover(interlace.nodes)
    return {"README.md": _index(registry), **{f"{kind}.md": _page(registry[kind]) for kind in registry}}


def _index(registry: Registry) -> str:
    entries = [describe(registry[kind]) for kind in registry]
    text = "# Node types\n\n"
    for group in dict.fromkeys([*_GROUPS, *(entry["group"] for entry in entries)]):
        rows = [
            (f"[{e['type']}]({e['type']}.md)", e["description"], e["effects"], _timeout(e["timeout_seconds"]))
            for e in entries
            if e["group"] == group
        ]
        if rows:
            text += f"## {_GROUPS.get(group, group.title())}\n\n{table(['type', 'does', 'effects', 'time-out'], rows)}\n"
    text += (
        "`effects` says what an interrupted attempt means: `none` and `idempotent` may be repeated, `once` may not "
        "([durability](../../guide/durability.md)). A type may decide by its config, as HTTP does by the method.\n\n"
        "## Fields that every node has\n\nThey stand beside `id` and `type`, not in `config`.\n\n"
    )
    models = Document.model_json_schema(by_alias=True)["$defs"]
    schema, definitions = models["NodeSpec"], {name: models[name] for name in ("Retry", "Wait", "Body")}
    shared = {name: entry for name, entry in schema["properties"].items() if name != "config"}
    text += _fields(shared, set(schema["required"]), definitions)
    for name, model in definitions.items():
        text += f"\n## {name}\n\n" + _model(model, definitions)
    return text


def _timeout(seconds: float | None) -> str:
    return "none of its own" if seconds is None else f"{seconds:g} s"


def _page(node_type: type[Node[Any, Any]]) -> str:
    entry = describe(node_type)
    definitions = entry["config"].get("$defs", {})
    example = {"id": entry["type"].lower(), "type": entry["type"], "config": entry["example"]}
    if not entry["example"]:
        del example["config"]
    handles = ", ".join(code(handle) for handle in entry["handles"])
    text = f"# {entry['type']}\n\n{entry['description']}\n\n"
    if entry["details"]:
        text += f"{entry['details']}\n\n"
    text += f"```yaml\n{yaml.safe_dump(example, sort_keys=False, allow_unicode=True)}```\n\n"
    text += (
        f"- Handles of this example: {handles}\n- Effects: `{entry['effects']}`{_effect_rule(node_type)}\n"
        f"- Time-out of one attempt: {_timeout(entry['timeout_seconds'])}\n"
    )
    if entry["body"]:
        text += "- Has a `body` of nodes and edges ([bodies](../../guide/bodies.md))\n"
    text += "\n## Config\n\n" + (_model(entry["config"], definitions) or "No config.\n")
    text += "\n" + _outputs(node_type, entry["output"])
    text += "\n" + _errors(node_type)
    for name, model in definitions.items():
        if "properties" in model:
            text += f"\n## {name}\n\n{model.get('description', '')}\n\n" + _model(model, definitions)
    return text


def _effect_rule(node_type: type[Node[Any, Any]]) -> str:
    if node_type.effect is Node.effect:
        return ""
    return f" by default. {inspect.getdoc(node_type.effect)}"


def _model(model: dict[str, Any], definitions: dict[str, Any]) -> str:
    return _fields(model.get("properties", {}), set(model.get("required", ())), definitions)


def _fields(fields: dict[str, Any], required: set[str], definitions: dict[str, Any]) -> str:
    rows = []
    for name, schema in fields.items():
        kind = type_name(_without_template(schema), definitions)
        default = "required" if name in required else as_json(schema.get("default"))
        rows.append((code(name), kind + _marks(schema), default, schema.get("description", "")))
    return table(["field", "type", "default", "meaning"], rows)


def _without_template(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the value itself: every ƒ field also takes a text with `{{ }}`."""
    if "ui" not in schema or "anyOf" not in schema:
        return schema
    options = [option for option in schema["anyOf"] if option.get("pattern") != r"\{\{"]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _marks(schema: dict[str, Any]) -> str:
    hint: dict[str, Any] = next((s["ui"] for s in (schema, *schema.get("anyOf", ())) if "ui" in s), {})
    mark = {"value": " ƒ", "template": " ƒ", "expression": " ƒ!"}.get(hint.get("expression", ""), "")
    return mark + (" secret" if hint.get("secret") else "")


def _outputs(node_type: type[Node[Any, Any]], schema: dict[str, Any]) -> str:
    text = "## Outputs\n\n"
    rows = [
        (code(name), type_name(field, schema.get("$defs", {})), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    if not rows or schema.get("additionalProperties"):
        text += f"{inspect.getdoc(node_type.output_type)}\n\n"
    return text + table(["output", "type", "meaning"], rows)


def _errors(node_type: type[Node[Any, Any]]) -> str:
    text = "## Errors\n\n"
    raises = _raises(inspect.getdoc(node_type.run) or "")
    text += f"{raises[:1].upper()}{raises[1:]}\n\n" if raises else ""
    module = inspect.getsourcefile(node_type)
    assert module is not None
    kinds = sorted({kind for kind in _own_kinds(Path(module)) if kind in KINDS})
    text += table(["error.type", "meaning"], [(code(kind), KINDS[kind]) for kind in kinds])
    more = "Further kinds" if kinds else "Kinds"
    return (
        f"{text}\n{more}: [error kinds](../error-kinds.md).\n"
        if kinds
        else f"{text}{more}: [error kinds](../error-kinds.md).\n"
    )


def _raises(doc: str) -> str:
    _, found, rest = doc.partition("Raises:\n")
    return (
        " ".join(line.strip() for line in rest.splitlines()).removeprefix("NodeError: ").strip()
        if found
        else ""
    )


def _own_kinds(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "kind" and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
