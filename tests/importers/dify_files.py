"""Small Dify exports of our own, written out for tests."""

from __future__ import annotations

from typing import Any

import yaml


def node(
    name: str, kind: str, /, *, title: str | None = None, parent: str | None = None, **data: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": name,
        "position": {"x": 0, "y": 0},
        "data": {"type": kind, "title": title or name, **data},
    }
    if parent is not None:
        made["parentId"] = parent
    return made


def start(*variables: dict[str, Any]) -> dict[str, Any]:
    return node("s", "start", title="Start", variables=list(variables))


def field(name: str, kind: str = "text-input", *, required: bool = True, **more: Any) -> dict[str, Any]:
    return {"variable": name, "label": name, "type": kind, "required": required, **more}


def end(name: str = "e", **outputs: list[str]) -> dict[str, Any]:
    return node(
        name,
        "end",
        title=name,
        outputs=[{"variable": key, "value_selector": value} for key, value in outputs.items()],
    )


def code(name: str, text: str, outputs: dict[str, str], **variables: list[str]) -> dict[str, Any]:
    return node(
        name, "code", code=text, code_language="python3", outputs={key: {"type": kind} for key, kind in outputs.items()},
        variables=[{"variable": key, "value_selector": value} for key, value in variables.items()],
    )  # fmt: skip


def template(name: str, text: str, /, *, parent: str | None = None, **variables: list[str]) -> dict[str, Any]:
    given = [{"variable": key, "value_selector": value} for key, value in variables.items()]
    return node(name, "template-transform", template=text, variables=given, parent=parent)


def llm(name: str, /, *prompts: tuple[str, str], parent: str | None = None, **more: Any) -> dict[str, Any]:
    model = {
        "provider": "openai",
        "name": "gpt-4o",
        "mode": "chat",
        "completion_params": {"temperature": 0.7},
    }
    messages = [{"role": role, "text": text} for role, text in prompts]
    return node(
        name,
        "llm",
        model=model,
        prompt_template=messages,
        context={"enabled": False},
        vision={"enabled": False},
        parent=parent,
        **more,
    )


def compare(selector: list[str], operator: str, value: Any = "", kind: str = "string") -> dict[str, Any]:
    return {"variable_selector": selector, "comparison_operator": operator, "value": value, "varType": kind}


def export(
    nodes: list[dict[str, Any]], *edges: str, mode: str = "workflow", name: str = "Test", **workflow: Any
) -> str:
    """`a -> b`, `a:handle -> b`."""
    made = []
    for edge in edges:
        left, right = (part.strip() for part in edge.split("->"))
        source, _, handle = left.partition(":")
        made.append(
            {"source": source, "sourceHandle": handle or "source", "target": right, "targetHandle": "target"}
        )
    graph = {"nodes": nodes, "edges": made}
    data = {
        "app": {"name": name, "mode": mode},
        "kind": "app",
        "version": "0.3.1",
        "workflow": {"graph": graph, "features": {}, **workflow},
    }
    return str(yaml.safe_dump(data, allow_unicode=True, sort_keys=False))
