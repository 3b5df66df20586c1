"""Seeds defects into valid documents: each mutation knows the code, node and field that a validator must name.

`mutations(document, registry)` gives them all; `missed(mutation, registry)` says what was found instead. They work on
any valid document and any registry.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from interlace.engine.document import Document
from interlace.engine.fields import FieldExpression, expressions
from interlace.engine.registry import Registry
from interlace.engine.source import dump, load
from interlace.engine.source.places import steps
from interlace.engine.source.shorthand import expand
from interlace.engine.validate import check, validate

Data = dict[str, Any]
GHOST = "zz_ghost"


@dataclass(frozen=True)
class Mutation:
    kind: str
    data: Data
    code: str
    node: str | None
    field: str

    @property
    def text(self) -> str:
        return json.dumps(self.data)


@dataclass(frozen=True)
class Seed:
    """A valid document as data, and what makes it easy to break."""

    document: Document
    data: Data
    registry: Registry

    def copy(self) -> Data:
        return copy.deepcopy(self.data)

    def top(self) -> list[Data]:
        return list(self.data["nodes"])

    def of_type(self, *types: str) -> list[str]:
        return [node["id"] for node in self.top() if node["type"] in types]

    def spot(self) -> str:
        """A plain node of the document itself."""
        return next(node["id"] for node in self.top() if node["type"] not in {"START", "END"})

    def texts(self) -> list[tuple[str, FieldExpression, str]]:
        """(node, field, path to the text) of the ƒ values and templates of the document's own nodes."""
        found = []
        for node in self.document.nodes:
            node_type = self.registry[node.type]
            for field in expressions(node_type.config_type.model_validate(node.config)):
                if field.marker.syntax == "expression":
                    continue
                found += [
                    (node.id, field, path) for path, text in _leaves(field.value, field.path) if "{{" in text
                ]
        return found

    def ancestors(self, name: str) -> set[str]:
        found: set[str] = set()
        todo = [name]
        while todo:
            here = todo.pop()
            for edge in self.data.get("edges", []):
                if edge["to"] == here and edge["from"] not in found:
                    found.add(edge["from"])
                    todo.append(edge["from"])
        return found


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")


def node_of(data: Data, name: str) -> Data:
    found: Data = next(node for node in data["nodes"] if node["id"] == name)
    return found


def put(data: Data, node: str, path: str, value: Any) -> None:
    *way, last = steps(path)
    here: Any = node_of(data, node)
    for step in way:
        here = here[step]
    here[last] = value


def seed(document: Document, registry: Registry) -> Seed:
    data = json.loads(dump(document, "json"))
    expand(data)
    return Seed(document, data, registry)


Maker = Callable[[Seed], Iterator[tuple[Data, str, str | None, str]]]
MAKERS: dict[str, Maker] = {}


def maker(function: Maker) -> Maker:
    MAKERS[function.__name__] = function
    return function


def mutations(document: Document, registry: Registry, *, most: int = 3) -> list[Mutation]:
    """At most `most` mutations of each kind that a document allows."""
    whole = seed(document, registry)
    made = []
    for kind, make in MAKERS.items():
        for number, (data, code, node, field) in enumerate(make(whole)):
            if number >= most:
                break
            made.append(Mutation(kind, data, code, node, field))
    return made


def missed(mutation: Mutation, registry: Registry) -> str | None:
    """None when the defect is reported at its node and field; else what was reported."""
    problems = check(load(mutation.text), registry).problems
    if any(
        (p.code, p.node, p.field) == (mutation.code, mutation.node, mutation.field) and p.line
        for p in problems
    ):
        return None
    found = [(p.code, p.node, p.field, p.line) for p in problems]
    return f"{mutation.kind}: wanted {(mutation.code, mutation.node, mutation.field)}, found {found}"


# -- edges -----------------------------------------------------------------------------------------------------------


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


def _with_edge(seed: Seed, edge: Data) -> tuple[Data, str]:
    data = seed.copy()
    data["edges"].append(edge)
    return data, f"edges[{len(data['edges']) - 1}]"


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
            data, field = _with_edge(seed, made)
            yield data, "cycle", edge["from"], field


@maker
def duplicate_edge(seed: Seed) -> Iterator[Any]:
    for edge in seed.data["edges"]:
        data, field = _with_edge(seed, dict(edge))
        yield data, "duplicate_edge", edge["from"], field


@maker
def edge_into_start(seed: Seed) -> Iterator[Any]:
    data, field = _with_edge(seed, {"from": seed.spot(), "to": seed.of_type("START")[0]})
    yield data, "edge_into_start", seed.spot(), field


@maker
def edge_from_end(seed: Seed) -> Iterator[Any]:
    end = seed.of_type("END")[0]
    data, field = _with_edge(seed, {"from": end, "to": seed.spot()})
    yield data, "edge_from_end", end, field


@maker
def break_outside_a_body(seed: Seed) -> Iterator[Any]:
    start = seed.of_type("START")[0]
    data, field = _with_edge(seed, {"from": start, "to": "$break"})
    yield data, "break_outside_body", start, field


@maker
def error_edge_without_branch(seed: Seed) -> Iterator[Any]:
    for node in seed.top():
        if node["type"] not in {"START", "END"} and "on_error" not in node:
            data, field = _with_edge(
                seed, {"from": node["id"], "handle": "error", "to": seed.of_type("END")[0]}
            )
            yield data, "error_edge_without_branch", node["id"], field


@maker
def edge_across_bodies(seed: Seed) -> Iterator[Any]:
    for node in seed.top():
        for inner in node.get("body", {}).get("nodes", []):
            data, field = _with_edge(seed, {"from": inner["id"], "to": seed.of_type("END")[0]})
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


# -- nodes -----------------------------------------------------------------------------------------------------------


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


# -- expressions -----------------------------------------------------------------------------------------------------


def _text(kind: str, text: str, code: str, *, secret: bool = False, outside: bool = False) -> None:
    """A mutation that replaces a text with expressions by another one.

    `secret`: only where no secret may stand; `outside`: only in the node's own scope.
    """

    def make(seed: Seed) -> Iterator[Any]:
        for name, field, path in seed.texts():
            if (secret and field.marker.secret) or (outside and field.scope != "node"):
                continue
            data = seed.copy()
            put(data, name, path, text)
            yield data, code, name, path

    make.__name__ = kind
    maker(make)


_text("unknown_root", "{{ zz_ghost.text | default('x') }}", "unknown_name")
_text("unknown_filter", "{{ run.id | zz_filter }}", "unknown_filter")
_text("unknown_function", "{{ zz_function() }}", "unknown_function")
_text("broken_syntax", "{{ run.id", "expression_syntax")
_text("missing_operand", "{{ run.id + }}", "expression_syntax")
_text("secret_in_a_text", "{{ secrets.token }}", "secret_leak", secret=True)
_text("undeclared_variable", "{{ vars.zz_variable }}", "unknown_variable")
_text("item_outside_a_body", "{{ item }}", "misplaced_name", outside=True)
_text("loop_outside_a_body", "{{ loop.round }}", "misplaced_name", outside=True)


@maker
def rename_a_reference(seed: Seed) -> Iterator[Any]:
    """The root of a reference to a node is misspelt where it stands."""
    ids = {node["id"] for node in seed.top()}
    for name, field, path in seed.texts():
        text = next(text for where, text in _leaves(field.value, field.path) if where == path)
        for other in ids:
            if f"{{{{ {other}." in text:
                data = seed.copy()
                put(data, name, path, text.replace(f"{{{{ {other}.", f"{{{{ {other}_zz."))
                yield data, "unknown_name", name, path


@maker
def own_output(seed: Seed) -> Iterator[Any]:
    for name, field, path in seed.texts():
        if field.scope == "node":
            data = seed.copy()
            put(data, name, path, f"{{{{ {name}.error }}}}")
            yield data, "own_output", name, path


@maker
def read_what_comes_later(seed: Seed) -> Iterator[Any]:
    ends = seed.of_type("END")
    for name, field, path in seed.texts():
        if field.scope == "node" and name not in ends:
            data = seed.copy()
            put(data, name, path, f"{{{{ {ends[0]}.x }}}}")
            yield data, "not_upstream", name, path


@maker
def undeclared_input(seed: Seed) -> Iterator[Any]:
    inputs = seed.data.get("inputs", {})
    if inputs.get("properties") and not inputs.get("additionalProperties"):
        for name, _, path in seed.texts():
            data = seed.copy()
            put(data, name, path, "{{ inputs.zz_input }}")
            yield data, "unknown_input", name, path


@maker
def unknown_output_field(seed: Seed) -> Iterator[Any]:
    types = validate(seed.document, seed.registry).types
    for name, _, path in seed.texts():
        for other in seed.ancestors(name):
            schema = types.get(other, {})
            if schema.get("properties") and not schema.get("additionalProperties"):
                data = seed.copy()
                put(data, name, path, f"{{{{ {other}.zz_field }}}}")
                yield data, "unknown_output", name, path
                break


# -- the document ----------------------------------------------------------------------------------------------------


@maker
def no_start(seed: Seed) -> Iterator[Any]:
    data = seed.copy()
    start = seed.of_type("START")[0]
    data["nodes"] = [node for node in data["nodes"] if node["id"] != start]
    data["edges"] = [edge for edge in data["edges"] if edge["from"] != start]
    yield data, "no_start", None, "nodes"


@maker
def second_start(seed: Seed) -> Iterator[Any]:
    data, _ = _with_edge(seed, {"from": "zz_start", "to": seed.spot()})
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
            data, _ = _with_edge(seed, {"from": node["id"], "to": "zz_side"})
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
            data, _ = _with_edge(seed, {"from": seed.of_type("START")[0], "to": "zz_end"})
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
