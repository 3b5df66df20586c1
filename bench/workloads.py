"""The graphs that are measured, what they must give, and the same graphs as workflow documents.

A graph maps each node to the nodes it reads; `start` stands for the START node. A node's value is the last 24 characters
of what it reads followed by its own id, so a result shows whether every edge was followed in its order.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

SEED = "abcdefghijklmnop"
ITEMS = [f"item-{number:04d}" for number in range(1000)]
PAYLOAD_BYTES = 20 << 20
KEPT = 24

Graph = dict[str, list[str]]


def chain(count: int) -> Graph:
    """One after the other."""
    return {f"n{i}": ["start" if i == 0 else f"n{i - 1}"] for i in range(count)}


def fan_out(count: int) -> Graph:
    """All at once."""
    return {f"n{i}": ["start"] for i in range(count)}


def layered(count: int = 500, edges: int = 1500, layers: int = 25, seed: int = 7) -> Graph:
    """Layers of equal width; every node below the first layer reads at least one node of the layer above it.

    Exactly `edges` edges, each leading one to three layers down; the same seed gives the same graph.
    """
    draw = random.Random(seed)
    width = count // layers
    rows = [[f"n{row * width + column}" for column in range(width)] for row in range(layers)]
    found = {(draw.choice(rows[row - 1]), node) for row in range(1, layers) for node in rows[row]}
    while len(found) < edges:
        row = draw.randrange(1, layers)
        source = draw.choice(rows[max(0, row - draw.randint(1, 3))])
        found.add((source, draw.choice(rows[row])))
    graph: Graph = {node: [] for row_nodes in rows for node in row_nodes}
    for source, target in sorted(found):
        graph[target].append(source)
    for node in rows[0]:
        graph[node] = ["start"]
    return graph


def ends(graph: Graph) -> list[str]:
    """The nodes that nobody reads, in order."""
    read = {source for sources in graph.values() for source in sources}
    return [node for node in graph if node not in read]


def value_of(node: str, read: Sequence[str]) -> str:
    """What a node makes of what it reads."""
    return ("".join(read) + node)[-KEPT:]


def expected(graph: Graph) -> dict[str, str]:
    """The values of the end nodes; the graphs above list every node after those it reads."""
    values = {"start": SEED}
    for node, sources in graph.items():
        values[node] = value_of(node, [values[source] for source in sources])
    return {node: values[node] for node in ends(graph)}


# -- as documents ------------------------------------------------------------------------------------------


def document(graph: Graph, name: str = "bench") -> dict[str, Any]:
    """The graph with a TEMPLATE for each node."""
    nodes = [
        {"id": node, "type": "TEMPLATE", "config": {"template": _template(node, sources)}}
        for node, sources in graph.items()
    ]
    return around(name, graph, nodes, {node: f"{{{{ {node}.text }}}}" for node in ends(graph)})


def around(
    name: str, graph: Graph, nodes: list[dict[str, Any]], outputs: Mapping[str, str], **settings: Any
) -> dict[str, Any]:
    """A document of the nodes, with START before and END behind them."""
    edges = [{"from": source, "to": node} for node, sources in graph.items() for source in sources]
    edges += [{"from": node, "to": "end"} for node in ends(graph)]
    start = {"id": "start", "type": "START"}
    end = {"id": "end", "type": "END", "config": {"outputs": dict(outputs)}}
    inputs = {"type": "object", "properties": {"seed": {"type": "string"}, "items": {"type": "array"}}}
    return {
        "name": name,
        "inputs": inputs,
        "settings": settings,
        "nodes": [start, *nodes, end],
        "edges": edges,
    }


def _template(node: str, sources: list[str]) -> str:
    read = " ~ ".join("inputs.seed" if source == "start" else f"{source}.text" for source in sources)
    return f"{{{{ ({read} ~ '{node}')[-{KEPT}:] }}}}"


def iteration() -> dict[str, Any]:
    """Every item through a TEMPLATE, ten at a time, the order kept."""
    body = {"nodes": [{"id": "work", "type": "TEMPLATE", "config": {"template": "{{ item }}!"}}]}
    config = {"items": "{{ inputs.items }}", "parallel": 10, "output": "{{ work.text }}"}
    node = {"id": "each", "type": "ITERATION", "config": config, "body": body}
    return around("iteration", {"each": ["start"]}, [node], {"results": "{{ each.results }}"})


def requests(url: str, count: int, at_once: int) -> dict[str, Any]:
    """Independent GET requests."""
    graph = fan_out(count)
    nodes = [{"id": node, "type": "HTTP", "config": {"url": f"{url}/{node}"}} for node in graph]
    outputs = {node: f"{{{{ {node}.body.ok }}}}" for node in graph}
    return around("requests", graph, nodes, outputs, max_concurrency=at_once)


def payload() -> dict[str, Any]:
    """A long text handed through 20 nodes."""
    graph = chain(20)
    nodes = []
    for node, (source,) in graph.items():
        read = "inputs.seed" if source == "start" else f"{source}.text"
        nodes.append({"id": node, "type": "TEMPLATE", "config": {"template": f"{{{{ {read} }}}}"}})
    return around("payload", graph, nodes, {"text": "{{ n19.text }}"})


def code(count: int, number: int, *, sandbox: str = "full") -> dict[str, Any]:
    """A chain of CODE nodes, each computing a Fibonacci number the slow way."""
    graph = chain(count)
    config = {"code": FIBONACCI, "inputs": {"n": number}, "sandbox": sandbox}
    nodes = [{"id": node, "type": "CODE", "config": config} for node in graph]
    return around("code", graph, nodes, {"value": f"{{{{ n{count - 1}.value }}}}"})


FIBONACCI = """\
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def main(n):
    return {"value": fib(n)}
"""
