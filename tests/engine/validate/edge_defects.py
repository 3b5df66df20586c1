"""Defects of edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.engine.validate.seeding import GHOST, Seed, maker, node_of, with_edge


@maker
def delete_the_only_edge_to_a_node(seed: Seed) -> Iterator[Any]:
    targets = [edge["to"] for edge in seed.data["edges"]]
    for index, edge in enumerate(seed.data["edges"]):
        if targets.count(edge["to"]) == 1:
            data = seed.copy()
            del data["edges"][index]
            yield data, "unreachable", edge["to"], "id"


@maker
def edge_to_an_unknown_node(seed: Seed) -> Iterator[Any]:
    for index, edge in enumerate(seed.data["edges"]):
        data = seed.copy()
        data["edges"][index]["to"] = GHOST
        yield data, "unknown_node", edge["from"], f"edges[{index}]"


@maker
def edge_from_an_unknown_node(seed: Seed) -> Iterator[Any]:
    for index in range(len(seed.data["edges"])):
        data = seed.copy()
        data["edges"][index]["from"] = GHOST
        yield data, "unknown_node", GHOST, f"edges[{index}]"


@maker
def wrong_handle(seed: Seed) -> Iterator[Any]:
    for index, edge in enumerate(seed.data["edges"]):
        data = seed.copy()
        data["edges"][index]["handle"] = "zz_handle"
        yield data, "unknown_handle", edge["from"], f"edges[{index}]"


@maker
def cycle(seed: Seed) -> Iterator[Any]:
    starts = seed.of_type("START")
    for edge in seed.data["edges"]:
        back = [name for name in seed.ancestors(edge["from"]) if name not in starts]
        if back:
            made = {
                "from": edge["from"],
                "to": back[0],
                **({"handle": edge["handle"]} if "handle" in edge else {}),
            }
            data, field = with_edge(seed, made)
            yield data, "cycle", edge["from"], field


@maker
def duplicate_edge(seed: Seed) -> Iterator[Any]:
    for edge in seed.data["edges"]:
        data, field = with_edge(seed, dict(edge))
        yield data, "duplicate_edge", edge["from"], field


@maker
def edge_into_start(seed: Seed) -> Iterator[Any]:
    data, field = with_edge(seed, {"from": seed.spot(), "to": seed.of_type("START")[0]})
    yield data, "edge_into_start", seed.spot(), field


@maker
def edge_from_end(seed: Seed) -> Iterator[Any]:
    end = seed.of_type("END")[0]
    data, field = with_edge(seed, {"from": end, "to": seed.spot()})
    yield data, "edge_from_end", end, field


@maker
def break_outside_a_body(seed: Seed) -> Iterator[Any]:
    start = seed.of_type("START")[0]
    data, field = with_edge(seed, {"from": start, "to": "$break"})
    yield data, "break_outside_body", start, field


@maker
def error_edge_without_branch(seed: Seed) -> Iterator[Any]:
    for node in seed.top():
        if node["type"] not in {"START", "END"} and "on_error" not in node:
            data, field = with_edge(
                seed, {"from": node["id"], "handle": "error", "to": seed.of_type("END")[0]}
            )
            yield data, "error_edge_without_branch", node["id"], field


@maker
def edge_across_bodies(seed: Seed) -> Iterator[Any]:
    for node in seed.top():
        for inner in node.get("body", {}).get("nodes", []):
            data, field = with_edge(seed, {"from": inner["id"], "to": seed.of_type("END")[0]})
            yield data, "edge_across_bodies", inner["id"], field


@maker
def unconnected_handle(seed: Seed) -> Iterator[Any]:
    targets = [edge["to"] for edge in seed.data["edges"]]
    for index, edge in enumerate(seed.data["edges"]):
        same = [
            other
            for other in seed.data["edges"]
            if (other["from"], other.get("handle")) == (edge["from"], edge.get("handle"))
        ]
        node = node_of(seed.data, edge["from"])
        if node["type"] == "CONDITION" and targets.count(edge["to"]) > 1 and len(same) == 1:
            data = seed.copy()
            del data["edges"][index]
            ids = [case["id"] for case in node["config"]["cases"]]
            if edge["handle"] == "else":
                yield data, "unconnected_else", edge["from"], "config"
            elif edge["handle"] in ids:
                yield data, "unconnected_handle", edge["from"], f"config.cases[{ids.index(edge['handle'])}]"
