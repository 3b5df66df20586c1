"""The smallest documents in which a node type's own example stands, and what their runs need from outside."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import interlace.nodes
from interlace.engine.document import RESERVED
from interlace.engine.node import Config, Node
from interlace.engine.principal import LOCAL
from interlace.engine.registry import Registry
from interlace.engine.testing import edges
from interlace.flows.platform import Platform
from interlace.resources.documents.source import Source
from interlace.resources.http.testing import Reply, serve
from interlace.resources.models.testing import ScriptedModels

REGISTRY = Registry()
REGISTRY.discover(interlace.nodes)
KINDS = sorted(REGISTRY)
"""Every type takes part as soon as its file is there."""

NODE = "tried"
ENDS = frozenset({"START", "END"})
BODIES: dict[str, dict[str, Any]] = {
    "ITERATION": {"nodes": [{"id": "t", "type": "TEMPLATE", "config": {"template": "{{ item }}"}}]},
    "LOOP": {
        "nodes": [
            {
                "id": "t",
                "type": "VARIABLE_ASSIGN",
                "config": {"assignments": [{"variable": "n", "op": "increment"}]},
            }
        ]
    },
}
INPUTS: dict[str, Any] = {
    "amount": 1200,
    "id": 7,
    "name": "Ada",
    "names": ["Ada", "Grace"],
    "orders": [{"price": 12}, {"price": 8}, {"price": 11}],
    "question": "Why?",
    "title": "A broken valve",
    "text": "name,price\nvalve,12.5\n",
    "document": "data:text/markdown;base64,IyBMZWF2ZQoKTWFyaWEgaXMgYXdheS4K",
}
"""Values for the inputs that examples read; a new example may need a new one."""

CHILD = """
name: invoice-check
inputs: {type: object, required: [amount], properties: {amount: {type: number}}}
nodes:
  - {id: start, type: START}
  - {id: done, type: END, config: {outputs: {large: "{{ inputs.amount > 50 }}"}}}
edges: [start -> done]
"""


@dataclass
class Outside:
    """What a run of an example finds outside: settings, and changes of the example's config."""

    config: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)
    stored: str | None = None
    prepare: Callable[[Platform], Awaitable[object]] | None = None


@asynccontextmanager
async def nothing(example: dict[str, Any], _folder: Path) -> AsyncIterator[Outside]:
    yield Outside(example)


@asynccontextmanager
async def web_server(example: dict[str, Any], _folder: Path) -> AsyncIterator[Outside]:
    async with serve(lambda _request: Reply.of({"id": 7, "total": 12.5})) as server:
        url = f"{server.url}/orders/{{{{ inputs.id }}}}"
        yield Outside({**example, "url": url}, {"http_allow": [f"127.0.0.1:{server.port}"]})


@asynccontextmanager
async def database(example: dict[str, Any], folder: Path) -> AsyncIterator[Outside]:
    path = folder / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE orders (id, total, customer); INSERT INTO orders VALUES (1, 2.5, 7), (2, 4, 8);"
    )
    connection.close()
    yield Outside({**example, "url": f"sqlite:///{path}"}, {"database_allow": [str(folder)]})


@asynccontextmanager
async def stored_workflow(example: dict[str, Any], _folder: Path) -> AsyncIterator[Outside]:
    yield Outside(example, stored=CHILD)


@asynccontextmanager
async def mcp_server(example: dict[str, Any], folder: Path) -> AsyncIterator[Outside]:
    catalogue = folder / "mcp.toml"
    program = Path(__file__).parents[1] / "resources" / "mcp" / "server.py"
    catalogue.write_text(
        f'[servers.shop]\ncommand = ["{sys.executable}", "{program}", "stdio"]\nread = ["{program.parent}"]\n'
    )

    async def prepare(platform: Platform) -> None:
        await platform.mcp.add(example["server"], {"transport": "stdio", "catalog": "shop"}, by=LOCAL)

    yield Outside(example, {"mcp_stdio_catalog": catalogue}, prepare=prepare)


@asynccontextmanager
async def knowledge_base(example: dict[str, Any], _folder: Path) -> AsyncIterator[Outside]:
    async def prepare(platform: Platform) -> None:
        (name,) = example["knowledge_bases"]
        await platform.knowledge.add(name, {}, by=LOCAL)
        text = Source(content=b"The reason why is known to nobody.", name="why.txt")
        await platform.knowledge.put(name, text, by=LOCAL)
        await platform.ingestion.drain()

    yield Outside(example, prepare=prepare)


ANSWERS: dict[str, Any] = {
    "LLM": "Because.",
    "AGENT": "Because.",
    "CLASSIFIER": {"id": "question", "confidence": 0.9, "reason": "It asks."},
    "PARAMETER_EXTRACTOR": {"city": "Oslo", "days": None},
    "QUESTION_UNDERSTANDING": {"language": "en", "query": "Why is the sky blue?"},
}


def answering(kind: str) -> Callable[[dict[str, Any], Path], Any]:
    """A model that gives the answer of a kind."""

    @asynccontextmanager
    async def outside(example: dict[str, Any], _folder: Path) -> AsyncIterator[Outside]:
        answer = ANSWERS[kind]
        reply = answer if isinstance(answer, str) else {"data": answer}
        with ScriptedModels([{"reply": reply}]) as server:
            models = [{"name": "scripted"}]
            provider = {
                "name": "p",
                "base_url": server.url,
                "models": models,
                "roles": {"general": "scripted"},
            }
            allowed = [f"127.0.0.1:{server.port}"]
            yield Outside(example, {"http_allow": allowed, "models": {"providers": [provider]}})

    return outside


OUTSIDE: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "HTTP": web_server,
    "MCP": mcp_server,
    "KB_RETRIEVAL": knowledge_base,
    "DATABASE": database,
    "SUB_WORKFLOW": stored_workflow,
    "TOOL": nothing,
    **{kind: answering(kind) for kind in ANSWERS},
}
NEEDS_MORE = frozenset({"connect", "ai", "agent", "human"})
"""Groups whose examples only run where `OUTSIDE` offers what they need."""

RUNNABLE = [kind for kind in KINDS if kind in OUTSIDE or REGISTRY[kind].group not in NEEDS_MORE]


def node_of(kind: str) -> Node[Any, Any]:
    """The node of the type's example."""
    node_type = REGISTRY[kind]
    config: Config = node_type.config_type.model_validate(node_type.example)
    return node_type(config)


def document(kind: str, config: dict[str, Any], **shared: Any) -> dict[str, Any]:
    """START, what the config reads, the node `tried` with the config, END."""
    names: dict[str, dict[str, str]] = {}
    for root, name in _references(config):
        names.setdefault(root, {})[name] = "SHOP_URL"
    before = [
        {"id": root, "type": "ENV", "config": {"values": fields}}
        for root, fields in names.items()
        if root not in RESERVED
    ]
    variables = {
        entry["variable"]: {"type": "number", "default": 0} for entry in config.get("assignments", ())
    }
    spec: dict[str, Any] = {"id": NODE, "type": kind, "config": config, **shared}
    if kind in BODIES:
        spec["body"] = BODIES[kind]
    start = spec if kind == "START" else {"id": "start", "type": "START"}
    done = spec if kind == "END" else {"id": "done", "type": "END", "config": {"outputs": {"ran": True}}}
    chain = [start, *before, *([] if kind in ENDS else [spec]), done]
    between = edges(*(f"{a['id']} -> {b['id']}" for a, b in pairwise(chain[:-1])))
    last = ("out",) if kind in ENDS else node_of(kind).handles()
    return {
        "name": f"example of {kind}",
        "inputs": {"type": "object", "properties": {name: {} for name in names.get("inputs", {})}},
        "variables": variables,
        "nodes": chain,
        "edges": [
            *between,
            *({"from": chain[-2]["id"], "handle": handle, "to": done["id"]} for handle in last),
        ],
    }


def given(config: dict[str, Any]) -> dict[str, Any]:
    """Values for the inputs that a config reads."""
    return {name: INPUTS[name] for root, name in _references(config) if root == "inputs"}


def _references(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield from (
            re.findall(r"(?<![\w.'\"/])([A-Za-z_]\w*)\.([A-Za-z_]\w*)", value) if _is_code(value) else ()
        )
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _references(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _references(entry)


def _is_code(text: str) -> bool:
    return "{{" in text or re.match(r"(inputs|vars)\.", text) is not None
