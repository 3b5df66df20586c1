"""Defects of the document as a whole."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.engine.validate.seeding import Data, Seed, maker, node_of, with_edge


@maker
def no_start(seed: Seed) -> Iterator[Any]:
    data = seed.copy()
    start = seed.of_type("START")[0]
    data["nodes"] = [node for node in data["nodes"] if node["id"] != start]
    data["edges"] = [edge for edge in data["edges"] if edge["from"] != start]
    yield data, "no_start", None, "nodes"


@maker
def second_start(seed: Seed) -> Iterator[Any]:
    data, _ = with_edge(seed, {"from": "zz_start", "to": seed.spot()})
    data["nodes"].append({"id": "zz_start", "type": "START"})
    yield data, "several_starts", "zz_start", "type"


@maker
def no_end(seed: Seed) -> Iterator[Any]:
    data = seed.copy()
    ends = seed.of_type("END")
    data["nodes"] = [node for node in data["nodes"] if node["id"] not in ends]
    data["edges"] = [edge for edge in data["edges"] if edge["to"] not in ends]
    yield data, "no_end", None, "nodes"


@maker
def side_branch(seed: Seed) -> Iterator[Any]:
    for node in seed.data["nodes"]:
        if node["type"] == "START":
            data, _ = with_edge(seed, {"from": node["id"], "to": "zz_side"})
            other = next(
                item for item in seed.top() if item["type"] not in {"START", "END"} and "body" not in item
            )
            data["nodes"].append({**copy.deepcopy(other), "id": "zz_side"})
            data["nodes"][-1].pop("on_error", None)
            yield data, "side_branch", "zz_side", "id"


@maker
def two_ends_set_one_output(seed: Seed) -> Iterator[Any]:
    for end in seed.of_type("END"):
        outputs = node_of(seed.data, end).get("config", {}).get("outputs", {})
        if isinstance(outputs, dict) and outputs:
            data, _ = with_edge(seed, {"from": seed.of_type("START")[0], "to": "zz_end"})
            key = next(iter(outputs))
            data["nodes"].append({"id": "zz_end", "type": "END", "config": {"outputs": {key: 1}}})
            yield data, "output_conflict", "zz_end", f"config.outputs.{key}"


def _document(kind: str, values: Data, code: str, field: str) -> None:
    def make(seed: Seed) -> Iterator[Any]:
        yield {**seed.copy(), **copy.deepcopy(values)}, code, None, field

    make.__name__ = kind
    maker(make)


_document("unknown_document_field", {"node": []}, "unknown_field", "node")
_document("wrong_schema_version", {"schema": "interlace/v9"}, "bad_value", "schema")
_document("no_name", {"name": ""}, "out_of_range", "name")
_document("bad_settings", {"settings": {"timeout": "1 hour"}}, "bad_duration", "settings.timeout")
_document("unknown_setting", {"settings": {"retries": 3}}, "unknown_field", "settings.retries")
_document("bad_variable_type", {"variables": {"zz": {"type": "text"}}}, "bad_value", "variables.zz.type")
_document(
    "bad_variable_default",
    {"variables": {"zz": {"type": "number", "default": "x"}}},
    "bad_default",
    "variables.zz.default",
)
_document("bad_trigger", {"triggers": [{"type": "corn"}]}, "bad_trigger", "triggers[0].type")


@maker
def failure_loop(seed: Seed) -> Iterator[Any]:
    data = seed.copy()
    data.setdefault("settings", {})["on_failure"] = data["name"]
    yield data, "failure_loop", None, "settings.on_failure"


@maker
def bad_inputs_schema(seed: Seed) -> Iterator[Any]:
    for name in seed.data.get("inputs", {}).get("properties", {}):
        data = seed.copy()
        data["inputs"]["properties"][name]["type"] = "text"
        yield data, "bad_schema", None, f"inputs.properties.{name}.type"


@maker
def bad_input_default(seed: Seed) -> Iterator[Any]:
    for name in seed.data.get("inputs", {}).get("properties", {}):
        data = seed.copy()
        data["inputs"]["properties"][name] = {"type": "number", "default": "many"}
        yield data, "bad_default", None, f"inputs.properties.{name}.default"
