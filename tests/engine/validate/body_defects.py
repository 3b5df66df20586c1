"""Defects inside the bodies of containers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.engine.validate.seeding import GHOST, Data, Seed, maker, node_of


def _inside(seed: Seed) -> Iterator[tuple[Data, Data, int]]:
    """A copy of the document for each inner node, with the body and the node's place in it."""
    for node in seed.top():
        for index in range(len(node.get("body", {}).get("nodes", []))):
            data = seed.copy()
            yield data, node_of(data, node["id"])["body"], index


def _set(kind: str, values: Data, code: str, field: str) -> None:
    def make(seed: Seed) -> Iterator[Any]:
        for data, body, index in _inside(seed):
            if body["nodes"][index].get("on_error") != values.get("on_error", ""):
                body["nodes"][index].update(copy.deepcopy(values))
                yield data, code, body["nodes"][index]["id"], field

    make.__name__ = kind
    maker(make)


_set("inner_unknown_field", {"lable": "x"}, "unknown_field", "lable")
_set("inner_bad_duration", {"timeout": "soon"}, "bad_duration", "timeout")
_set("inner_unknown_type", {"type": "TEMPLAET"}, "unknown_type", "type")
_set("inner_branch_without_error_edge", {"on_error": "branch"}, "branch_without_error_edge", "on_error")
_set("inner_secret", {"wait": {"until": "{{ secrets.x }}"}}, "secret_leak", "wait.until")
_set("inner_unknown_name", {"wait": {"until": "{{ zz_ghost.x }}"}}, "unknown_name", "wait.until")


@maker
def inner_unknown_config_field(seed: Seed) -> Iterator[Any]:
    for data, body, index in _inside(seed):
        body["nodes"][index].setdefault("config", {})["zz_option"] = 1
        yield data, "unknown_field", body["nodes"][index]["id"], "config.zz_option"


@maker
def inner_edge_to_an_unknown_node(seed: Seed) -> Iterator[Any]:
    for data, body, index in _inside(seed):
        edges = body.setdefault("edges", [])
        edges.append({"from": body["nodes"][index]["id"], "to": GHOST})
        yield data, "unknown_node", body["nodes"][index]["id"], f"edges[{len(edges) - 1}]"


@maker
def inner_edge_to_the_outside(seed: Seed) -> Iterator[Any]:
    for data, body, index in _inside(seed):
        edges = body.setdefault("edges", [])
        edges.append({"from": body["nodes"][index]["id"], "to": seed.of_type("END")[0]})
        yield data, "edge_across_bodies", body["nodes"][index]["id"], f"edges[{len(edges) - 1}]"


@maker
def inner_node_reads_its_container(seed: Seed) -> Iterator[Any]:
    for node in seed.top():
        for index in range(len(node.get("body", {}).get("nodes", []))):
            data = seed.copy()
            inner = node_of(data, node["id"])["body"]["nodes"][index]
            inner["wait"] = {"until": f"{{{{ {node['id']}.error }}}}"}
            yield data, "not_upstream", inner["id"], "wait.until"


@maker
def outer_node_reads_an_inner_one(seed: Seed) -> Iterator[Any]:
    ends = seed.of_type("END")
    for data, body, index in _inside(seed):
        node_of(data, ends[0])["wait"] = {"until": f"{{{{ {body['nodes'][index]['id']}.error }}}}"}
        yield data, "not_upstream", ends[0], "wait.until"


@maker
def inner_duplicate_id(seed: Seed) -> Iterator[Any]:
    for data, body, index in _inside(seed):
        data["nodes"].append({"id": body["nodes"][index]["id"], "type": "START"})
        yield data, "duplicate_id", body["nodes"][index]["id"], "id"
