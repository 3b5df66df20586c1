"""Workflows that the tests of the pages open."""

from __future__ import annotations

from typing import Any


def orders(name: str) -> dict[str, Any]:
    """A branch, an iteration and a text; quick, and without anything outside."""
    return {
        "name": name,
        "inputs": {
            "type": "object",
            "required": ["amounts"],
            "properties": {
                "amounts": {"type": "array", "items": {"type": "number"}, "description": "Amounts"},
                "limit": {"type": "number", "default": 100},
            },
        },
        "nodes": [
            {"id": "start", "type": "START"},
            {
                "id": "each", "type": "ITERATION", "label": "Every order",
                "config": {"items": "{{ inputs.amounts }}", "output": "{{ line.text }}"},
                "body": {
                    "nodes": [{"id": "line", "type": "TEMPLATE", "config": {"template": "order {{ index }}: {{ item }}"}}],
                    "edges": [],
                },
            },
            {
                "id": "total", "type": "LIST_OPERATION", "label": "Total",
                "config": {"input": "{{ inputs.amounts }}", "operations": [{"sum": True}]},
            },
            {
                "id": "large", "type": "CONDITION", "label": "Large?",
                "config": {"cases": [{"id": "large", "when": "total.result > inputs.limit"}]},
            },
            {"id": "alarm", "type": "TEMPLATE", "label": "Alarm", "config": {"template": "{{ total.result }} is a lot"}},
            {
                "id": "end", "type": "END",
                "config": {"outputs": {"lines": "{{ each.results }}", "alarm": "{{ alarm.text | default(none) }}"}},
            },
        ],
        "edges": [
            {"from": "start", "to": "each"},
            {"from": "each", "to": "total"},
            {"from": "total", "to": "large"},
            {"from": "large", "handle": "large", "to": "alarm"},
            {"from": "large", "handle": "else", "to": "end"},
            {"from": "alarm", "to": "end"},
        ],
    }  # fmt: skip


def chain(name: str, count: int) -> dict[str, Any]:
    """Many steps in rows, with edges between near ones."""
    nodes: list[dict[str, Any]] = [{"id": "start", "type": "START"}]
    edges: list[dict[str, Any]] = []
    positions = {"start": [0, 0]}
    for index in range(count):
        node = f"n{index}"
        nodes.append(
            {"id": node, "type": "TEMPLATE", "label": f"Step {index}", "config": {"template": f"{index}"}}
        )
        positions[node] = [300 + (index % 25) * 300, (index // 25) * 120]
        edges.append({"from": "start" if index == 0 else f"n{index - 1}", "to": node})
        if index % 5 == 4:
            edges.append({"from": f"n{index - 3}", "to": node})
    nodes.append(
        {"id": "end", "type": "END", "config": {"outputs": {"text": f"{{{{ n{count - 1}.text }}}}"}}}
    )
    positions["end"] = [300, (count // 25 + 1) * 120]
    edges.append({"from": f"n{count - 1}", "to": "end"})
    return {"name": name, "nodes": nodes, "edges": edges, "ui": {"positions": positions}}
