"""Defects of nodes and their configs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.engine.validate.seeding import Data, Seed, maker, node_of


def _plain(seed: Seed) -> Iterator[str]:
    yield from (node["id"] for node in seed.top() if node["type"] not in {"START", "END"})


def _set(kind: str, values: Data, code: str, field: str) -> None:
    """A mutation that sets fields of a node."""

    def make(seed: Seed) -> Iterator[Any]:
        for name in _plain(seed):
            if node_of(seed.data, name).get("on_error") == values.get("on_error", ""):
                continue
            data = seed.copy()
            node_of(data, name).update(copy.deepcopy(values))
            yield data, code, name, field

    make.__name__ = kind
    maker(make)


_set("unknown_node_field", {"lable": "x"}, "unknown_field", "lable")
_set("bad_duration", {"timeout": "soon"}, "bad_duration", "timeout")
_set("negative_timeout", {"timeout": -5}, "out_of_range", "timeout")
_set("bad_join", {"join": "most"}, "bad_value", "join")
_set("bad_on_error", {"on_error": "ignore"}, "bad_value", "on_error")
_set("wrong_type_of_label", {"label": 5}, "wrong_type", "label")
_set("wrong_type_of_config", {"config": "x"}, "wrong_type", "config")
_set("unknown_retry_field", {"retry": {"times": 3}}, "unknown_field", "retry.times")
_set("wrong_type_of_retry", {"retry": {"max": "often"}}, "wrong_type", "retry.max")
_set("bad_wait", {"wait": {"for": "2 days"}}, "bad_duration", "wait.for")
_set("unknown_type", {"type": "TEMPLAET"}, "unknown_type", "type")
_set("branch_without_error_edge", {"on_error": "branch"}, "branch_without_error_edge", "on_error")
_set(
    "unused_default_output",
    {"on_error": "stop", "default_output": {"x": 1}},
    "unused_default_output",
    "default_output",
)
_set("secret_in_wait", {"wait": {"until": "{{ secrets.when }}"}}, "secret_leak", "wait.until")


@maker
def bad_id(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        data = seed.copy()
        node_of(data, name)["id"] = f"9{name}"
        yield data, "bad_id", f"9{name}", "id"


@maker
def reserved_id(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        data = seed.copy()
        node_of(data, name)["id"] = "vars"
        yield data, "reserved_id", "vars", "id"


@maker
def duplicate_id(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        data = seed.copy()
        data["nodes"].append({"id": name, "type": "START"})
        yield data, "duplicate_id", name, "id"


@maker
def missing_type(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        data = seed.copy()
        del node_of(data, name)["type"]
        yield data, "missing_field", name, "type"


@maker
def unknown_config_field(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        data = seed.copy()
        node_of(data, name).setdefault("config", {})["zz_option"] = 1
        yield data, "unknown_field", name, "config.zz_option"


@maker
def drop_a_required_field(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        node = node_of(seed.data, name)
        for key, info in seed.registry[node["type"]].config_type.model_fields.items():
            if info.is_required():
                data = seed.copy()
                del node_of(data, name)["config"][info.alias or key]
                yield data, "missing_field", name, f"config.{info.alias or key}"


@maker
def wrong_type_of_a_text(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        node = node_of(seed.data, name)
        for key, info in seed.registry[node["type"]].config_type.model_fields.items():
            if info.annotation is str and info.is_required():
                data = seed.copy()
                node_of(data, name)["config"][info.alias or key] = [1]
                yield data, "wrong_type", name, f"config.{info.alias or key}"


@maker
def unexpected_body(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        if not seed.registry[node_of(seed.data, name)["type"]].container:
            data = seed.copy()
            node_of(data, name)["body"] = {"nodes": []}
            yield data, "unexpected_body", name, "body"


@maker
def missing_body(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        if "body" in node_of(seed.data, name):
            data = seed.copy()
            del node_of(data, name)["body"]
            yield data, "missing_body", name, "body"


@maker
def empty_body(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        if "body" in node_of(seed.data, name):
            data = seed.copy()
            node_of(data, name)["body"] = {"nodes": []}
            yield data, "empty_body", name, "body.nodes"


@maker
def end_in_a_body(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        if "body" in node_of(seed.data, name):
            data = seed.copy()
            node_of(data, name)["body"]["nodes"].append({"id": "zz_end", "type": "END"})
            yield data, "start_or_end_in_body", "zz_end", "type"


@maker
def bad_schema_in_config(seed: Seed) -> Iterator[Any]:
    for name in _plain(seed):
        for field in ("output_schema", "response_schema", "form", "schema"):
            if isinstance(node_of(seed.data, name).get("config", {}).get(field), dict):
                data = seed.copy()
                node_of(data, name)["config"][field]["type"] = "dict"
                yield data, "bad_schema", name, f"config.{field}.type"
