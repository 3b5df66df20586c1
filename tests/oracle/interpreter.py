"""What a document means, told a second time: naive, sequential, from the written contract and not from the engine.

It knows nothing of time. Where a failure or a jump interrupts nodes that no path orders with it, what these did is left
open (`free`); where even the outcome would depend on it, the document is `Ambiguous` and says nothing about the engine.
"""

from __future__ import annotations

import json
import re
from collections import ChainMap, Counter
from dataclasses import dataclass, field
from typing import Any

Spec = dict[str, Any]
Names = ChainMap[str, Any]
MISSING, UNKNOWN = object(), object()
RETRYABLE = {"timeout", "connection", "rate_limit"}


class Ambiguous(Exception):  # noqa: N818 - a verdict about the document, not an error
    """The outcome depends on timing."""


class Failed(Exception):  # noqa: N818 - as above
    """A node failed; with several errors, one of them came first."""

    def __init__(self, *errors: dict[str, Any]) -> None:
        super().__init__(errors)
        self.errors = list(errors)


class Nulls(dict[str, Any]):
    """The outputs of a failed node that is passed over: null, and what `default_output` gives."""

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key)


@dataclass
class Meaning:
    """What must come out: statuses by path (absent: not run), `free` paths may be anything, and all below them."""

    status: str = "succeeded"
    outputs: dict[str, Any] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)


# -- expressions: sums of integers and references, `(ref | default(k))`, and comparisons of a sum with an integer ---------


def look_up(reference: str, names: Names) -> Any:
    value: Any = names
    for part in re.findall(r"\w+", reference):
        entries = value if isinstance(value, (dict, ChainMap)) else {}
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            entries = {part: value[int(part)]}
        value = entries.get(part, MISSING)
        if value is UNKNOWN:
            raise Ambiguous(reference)
    return value


def term(text: str, names: Names) -> Any:
    guarded = re.fullmatch(r"\((\S+) \| default\((\S+)\)\)", text)
    if guarded:
        value = look_up(guarded[1], names)
        default = json.loads(guarded[2].replace("none", "null").replace("'", '"'))
        return default if value is MISSING or value is None else value
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    value = look_up(text, names)
    if value is MISSING:
        raise Failed({"type": "missing"})
    return value


def evaluate(text: str, names: Names) -> Any:
    compared = re.fullmatch(r"(.*) (>|<|==) (-?\d+)", text)
    if compared:
        left, right = evaluate(compared[1], names), int(compared[3])
        if not isinstance(left, int):
            raise Failed({"type": "missing"})
        return {">": left > right, "<": left < right, "==": left == right}[compared[2]]
    values = [term(part, names) for part in text.split(" + ")]
    return values[0] if len(values) == 1 else sum(values)


def resolve(value: Any, names: Names) -> Any:
    if isinstance(value, dict):
        return {key: resolve(entry, names) for key, entry in value.items()}
    if isinstance(value, str) and value.startswith("{{"):
        return evaluate(value[2:-2].strip(), names)
    return value


# -- one scope: the run, an item, a round ---------------------------------------------------------------------------------


def ordered(nodes: list[Spec], edges: list[Spec]) -> tuple[list[Spec], dict[str, set[str]]]:
    """The nodes so that sources come first, and all nodes before each by paths."""
    before: dict[str, set[str]] = {}
    while len(before) < len(nodes):
        for node in nodes:
            sources = {edge["from"] for edge in edges if edge["to"] == node["id"]}
            if node["id"] not in before and sources <= before.keys():
                before[node["id"]] = sources.union(*(before[source] for source in sources))
    by_id = {node["id"]: node for node in nodes}
    return [by_id[name] for name in before], before


def handles_of(node: Spec) -> list[str]:
    config = node.get("config", {})
    if node["type"] == "CONDITION":
        return [*(case["id"] for case in config["cases"]), "else"]
    return list(config["handles"]) if node["type"] == "PICK" else ["out"]


class Interpreter:
    def __init__(self, document: Spec, inputs: dict[str, Any]) -> None:
        self.document, self.inputs, self.meaning = document, inputs, Meaning()
        self.variables = {name: spec["default"] for name, spec in document.get("variables", {}).items()}
        self.written: set[tuple[int, str]] = set()
        self.failures: Counter[str] = Counter()
        self.attempt = 1

    def run(self) -> Meaning:
        names: Names = ChainMap({}, {"inputs": self.inputs, "vars": self.variables})
        meaning = self.meaning
        how, meaning.errors = self.scope(self.document, "", names, [self.variables])
        ends = [node for node in self.document["nodes"] if node["type"] == "END"]
        ran = [node["id"] for node in ends if meaning.nodes.get(node["id"]) == "succeeded"]
        given = [key for name in ran for key in names[name]] if how == "done" else []
        if how == "done" and not ran:
            meaning.errors = [{"type": "no_end_reached"}]
        elif len(given) > len(set(given)):
            meaning.errors = [{"type": "output_conflict"}]
        meaning.status = "failed" if meaning.errors else "succeeded"
        if not meaning.errors:
            meaning.outputs = {key: value for name in ran for key, value in names[name].items()}
        return meaning

    def scope(
        self, body: Spec, prefix: str, names: Names, frames: list[Any]
    ) -> tuple[str, list[dict[str, Any]]]:
        """Run the nodes of a scope into `names.maps[0]`: done, fail, $break or $continue, and the errors of fail."""
        order, before = ordered(body["nodes"], body["edges"])
        chosen: dict[str, set[str]] = {}
        ends: dict[str, str] = {}
        errors: list[dict[str, Any]] = []
        touched: dict[str, set[tuple[int, str]]] = {}
        for node in order:
            name, path = node["id"], prefix + node["id"]
            if before[name] & ends.keys():
                self.meaning.nodes[path] = "not run"
                continue
            incoming = [e["handle"] in chosen[e["from"]] for e in body["edges"] if e["to"] == name]
            outer, self.written = self.written, set()
            try:
                chosen[name] = self.node(node, path, incoming, names, frames)
            except Failed as failure:
                ends[name], chosen[name] = "fail", set()
                errors += failure.errors
            touched[name], self.written = self.written, outer | self.written
            jumps = {e["to"] for e in body["edges"] if e["from"] == name and e["handle"] in chosen[name]}
            jumps &= {"$break", "$continue"}
            if len(jumps) > 1:
                raise Ambiguous(path)
            ends.update(dict.fromkeys([name] if jumps else [], "".join(jumps)))
        if len(set(ends.values())) > 1:
            raise Ambiguous(prefix)
        for node in order if ends else []:
            name = node["id"]
            sure = set(ends) == {name} or all(name in before[end] for end in ends)
            if not sure and not before[name] & ends.keys():
                self.meaning.free.add(prefix + name)
                names.maps[0][name] = UNKNOWN
                for frame in frames:
                    frame.update({variable: UNKNOWN for at, variable in touched[name] if at == id(frame)})
        return next(iter(ends.values()), "done"), errors

    def node(self, node: Spec, path: str, incoming: list[bool], names: Names, frames: list[Any]) -> set[str]:
        """Run, skip or pass over one node: the handles it takes."""
        joined = all(incoming) if node.get("join") == "all" else any(incoming)
        if incoming and not joined:
            self.meaning.nodes[path] = "skipped"
            return set()
        if node.get("disabled"):
            self.meaning.nodes[path] = "skipped"
            return set(handles_of(node)[:1])
        retry, attempt = node.get("retry", {"max": 0}), 1
        while True:
            try:
                self.attempt = attempt
                outputs, handles = self.work(node, path, names, frames)
            except Failed as failure:
                kind = failure.errors[0]["type"]
                if attempt <= retry["max"] and (kind in retry["on"] if "on" in retry else kind in RETRYABLE):
                    attempt += 1
                    inside = (f"{path}[", f"{path}#")
                    self.meaning.nodes = {
                        at: s for at, s in self.meaning.nodes.items() if not at.startswith(inside)
                    }
                    if len(failure.errors) > 1 or any(at.startswith(inside) for at in self.meaning.free):
                        raise Ambiguous(path) from None
                    continue
                errors = [
                    {"node": node["id"], "path": path, "attempt": attempt, **error}
                    for error in failure.errors
                ]
                self.meaning.nodes[path] = "failed"
                return self.handled(node, errors, names)
            names.maps[0][node["id"]] = outputs
            self.meaning.nodes[path] = "succeeded"
            return handles

    def handled(self, node: Spec, errors: list[dict[str, Any]], names: Names) -> set[str]:
        policy = node.get("on_error", "stop")
        if policy == "stop":
            raise Failed(*errors)
        error = errors[0] if len(errors) == 1 else UNKNOWN
        outputs = Nulls() if policy == "continue" else {}
        names.maps[0][node["id"]] = outputs
        outputs.update(node.get("default_output", {}) if policy == "continue" else {}, error=error)
        first = "else" if node["type"] == "CONDITION" else handles_of(node)[0]
        return {"error" if policy == "branch" else first}

    # -- node types -----------------------------------------------------------------------------------------------------

    def work(  # noqa: PLR0911 - one a node type
        self, node: Spec, path: str, names: Names, frames: list[Any]
    ) -> tuple[Any, set[str]]:
        kind, config = node["type"], node.get("config", {})
        if kind == "START":
            return dict(self.inputs), {"out"}
        if kind == "END":
            return resolve(config["outputs"], names), set()
        if kind == "ECHO":
            return {"value": resolve(config["value"], names)}, {"out"}
        if kind == "FAIL":
            if self.failures[path] < config["times"]:
                self.failures[path] += 1
                raise Failed({"type": config["type"]})
            return {"value": self.failures[path] + 1}, {"out"}
        if kind == "PICK":
            return {}, set(config["take"])
        if kind == "CONDITION":
            hits: list[str] = []
            for case in config["cases"]:
                if (config["mode"] == "every" or not hits) and evaluate(case["when"], names):
                    hits.append(case["id"])
            return {"matched": hits if config["mode"] == "every" else (hits or ["else"])[0]}, set(
                hits or ["else"]
            )
        if kind == "VARIABLE_ASSIGN":
            return self.assign(config, names, frames), {"out"}
        inside = self.iterate if kind == "ITERATION" else self.loop
        return inside(node, path, config, names, frames), {"out"}

    def assign(self, config: Spec, names: Names, frames: list[Any]) -> dict[str, Any]:
        new: dict[str, Any] = {}
        for change in config["assignments"]:
            variable, value = change["variable"], resolve(change["value"], names)
            frame = next(frame for frame in frames if variable in frame)
            if change["op"] == "increment":
                old = look_up(variable, ChainMap(frame))
                if old is None or value is None:
                    raise Failed({"type": "missing"})
                value += old
            frame[variable] = new[variable] = value
            self.written.add((id(frame), variable))
        return new

    def iterate(self, node: Spec, path: str, config: Spec, names: Names, frames: list[Any]) -> dict[str, Any]:
        attempt = self.attempt
        items, policy = resolve(config["items"], names), config.get("on_item_error", "stop")
        items = json.loads(items) if isinstance(items, str) else items
        if not isinstance(items, list) or len(items) > config.get("max_items", 1000):
            raise Failed({"type": "items"})
        together = config.get("parallel", 1) > 1 and len(items) > 1
        results, errors, stops = [], [], {}
        for index, item in enumerate(items):
            here = names.new_child({"item": item, "index": index}).new_child()
            how, failures = self.scope(node["body"], f"{path}[{index}].", here, frames)
            try:
                if how in ("done", "$continue"):
                    results.append(resolve(config.get("output"), here))
            except Failed:
                if how == "$continue":
                    results.append(None)
                else:
                    how, failures = (
                        "fail",
                        [
                            {
                                "type": "missing",
                                "node": node["id"],
                                "path": f"{path}[{index}]",
                                "attempt": attempt,
                            }
                        ],
                    )
            if (how == "$break" and together) or (len(failures) > 1 and policy != "stop"):
                raise Ambiguous(path)
            if how == "fail" and policy == "stop":
                stops[index] = failures
            elif how == "fail":
                errors.append({"index": index, "node": failures[0]["node"], "error": failures[0]})
                results += [None] if policy == "null" else []
            if not together and (stops or how == "$break"):
                break
        if stops:
            open_items = range(len(items)) if together else []
            self.meaning.free |= {f"{path}[{i}]" for i in open_items if set(stops) != {i}}
            raise Failed(*(error for failures in stops.values() for error in failures))
        return {"results": results, "errors": errors, "count": len(results)}

    def loop(self, node: Spec, path: str, config: Spec, names: Names, frames: list[Any]) -> dict[str, Any]:
        frame = resolve(config["variables"], names)
        outside, rounds, reason = names.new_child(frame), 0, "max_rounds"
        here = outside.new_child()
        while "while" not in config or evaluate(config["while"], here):
            if rounds == config["max_rounds"]:
                if config.get("on_max", "fail") == "fail":
                    raise Failed({"type": "max_rounds"})
                break
            here = outside.new_child({"loop": {"round": rounds, "first": rounds == 0}}).new_child()
            how, failures = self.scope(node["body"], f"{path}#{rounds}.", here, [frame, *frames])
            if how == "fail":
                raise Failed(*failures)
            rounds += 1
            if how == "$break" or ("until" in config and evaluate(config["until"], here)):
                reason = "break" if how == "$break" else "until"
                break
        else:
            reason = "while"
        output = {"output": resolve(config["output"], here)} if "output" in config else {}
        return {**frame, **output, "rounds": rounds, "reason": reason}
