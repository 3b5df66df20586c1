"""Small n8n workflows of our own, written out for tests."""

from __future__ import annotations

import json
from typing import Any


def node(
    name: str, kind: str, version: float = 1, /, *, raw: dict[str, Any] | None = None, **parameters: Any
) -> dict[str, Any]:
    package = "" if "." in kind else "n8n-nodes-base."
    return {
        "name": name,
        "type": f"{package}{kind}",
        "typeVersion": version,
        "position": [0, 0],
        "parameters": parameters,
        **(raw or {}),
    }


def manual(name: str = "Go") -> dict[str, Any]:
    return node(name, "manualTrigger")


def called(*names: str) -> dict[str, Any]:
    """A trigger whose items are the workflow's inputs."""
    return node(
        "Go", "executeWorkflowTrigger", 1.1, workflowInputs={"values": [{"name": name} for name in names]}
    )


def python(name: str, code: str) -> dict[str, Any]:
    return node(name, "code", 2, language="python", pythonCode=code)


def set_(name: str, **values: Any) -> dict[str, Any]:
    """A value is a constant, an expression that gives a text, or a pair of type and expression."""
    kinds = {bool: "boolean", int: "number", float: "number"}
    entries = [
        {"id": key, "name": key, "type": value[0], "value": value[1]} if isinstance(value, tuple)
        else {"id": key, "name": key, "type": kinds.get(type(value), "string"), "value": value}
        for key, value in values.items()
    ]  # fmt: skip
    return node(name, "set", 3.4, assignments={"assignments": entries}, options={})


def keep_and_set(name: str, **values: Any) -> dict[str, Any]:
    made = set_(name, **values)
    made["parameters"]["includeOtherFields"] = True
    return made


def rule(left: Any, operation: str, right: Any = "", kind: str = "string") -> dict[str, Any]:
    return {"leftValue": left, "rightValue": right, "operator": {"type": kind, "operation": operation}}


def conditions(*rules: dict[str, Any], combinator: str = "and") -> dict[str, Any]:
    return {
        "conditions": {
            "options": {"caseSensitive": True},
            "combinator": combinator,
            "conditions": list(rules),
        }
    }


def workflow(
    nodes: list[dict[str, Any]], *wires: str, name: str = "Test", helpers: tuple[str, ...] = (), **more: Any
) -> str:
    """`A -> B`, `A.1 -> B.0` (output and input); `helpers` are `Model ai_languageModel Agent`."""
    connections: dict[str, Any] = {}
    for wire in wires:
        left, right = (part.strip() for part in wire.split("->"))
        source, output = _port(left)
        target, place = _port(right)
        outputs = connections.setdefault(source, {}).setdefault("main", [])
        while len(outputs) <= output:
            outputs.append([])
        outputs[output].append({"node": target, "type": "main", "index": place})
    for line in helpers:
        source, kind, target = line.split(" ", 2)
        connections.setdefault(source, {})[kind] = [[{"node": target, "type": kind, "index": 0}]]
    return json.dumps({"name": name, "nodes": nodes, "connections": connections, **more})


def _port(text: str) -> tuple[str, int]:
    name, dot, number = text.rpartition(".")
    return (name, int(number)) if dot and number.isdigit() else (text, 0)
