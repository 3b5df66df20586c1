"""Random documents, valid by construction and biased to the shapes where schedulers go wrong."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

Spec = dict[str, Any]
DEPTH = 3


@dataclass
class Place:
    """Where a node stands: what it may read, and how often what it does is repeated."""

    kind: str
    depth: int
    reads: list[str]
    """References to integers from around."""
    lists: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    """Loop and run variables that may be written here."""


@dataclass
class Built:
    """A node of the scope under construction."""

    spec: Spec
    before: set[str]
    handles: list[str]
    reads: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """References of any type that an END may give out."""
    uses: bool = False
    """Whether it reads or writes variables."""


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.budget = self.random.choice((4, 8, 14))
        self.troubles = self.random.choice((0.05, 0.15, 0.35))
        """How likely failures, disabled nodes and the like are."""

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def document(self) -> tuple[Spec, Spec]:
        """A document and inputs for it."""
        pick = self.random
        variables = {
            f"g{i}": {"type": "any", "default": pick.randrange(3)} for i in range(pick.choice((0, 1, 1, 2)))
        }
        place = Place("run", 0, ["inputs.a", "inputs.b"], ["inputs.xs"], list(variables))
        start = Built({"id": "start", "type": "START"}, set(), ["out"], ["start.a"])
        built, edges = self.scope(place, pick.randint(2, 8), [start])
        built += self.ends(built, edges)
        document: Spec = {
            "schema": "interlace/v1", "name": "generated", "variables": variables,
            "inputs": {"type": "object", "required": ["a", "b", "xs"], "properties": {
                "a": {"type": "integer"}, "b": {"type": "integer"}, "xs": {"type": "array", "items": {"type": "integer"}}}},
            "settings": {"max_concurrency": pick.choice((1, 2, 3, 10))},
            "nodes": [node.spec for node in built], "edges": edges,
        }  # fmt: skip
        pick.shuffle(document["nodes"])
        pick.shuffle(document["edges"])
        return document, {"a": pick.randrange(5), "b": pick.randrange(5), "xs": self.numbers(3)}

    def numbers(self, most: int) -> list[int]:
        return [self.random.randrange(5) for _ in range(self.random.randint(0, most))]

    # -- a scope --------------------------------------------------------------------------------------------------------

    def scope(self, place: Place, size: int, built: list[Built]) -> tuple[list[Built], list[Spec]]:
        edges: list[Spec] = []
        long = self.chance(0.25)
        """Chains instead of wide graphs."""
        last_use: Built | None = None
        for _ in range(size):
            self.count += 1
            self.budget -= 1
            sources = self.sources(place, built, long)
            uses = bool(place.variables) and self.chance(0.4)
            if uses and last_use is not None and last_use.handles:
                known = set().union(*({source.spec["id"], *source.before} for source in sources))
                sources += [] if last_use.spec["id"] in known else [last_use]
            name = f"n{self.count}"
            before = set().union(*({source.spec["id"], *source.before} for source in sources))
            node = self.node(name, before, place, [b for b in built if b.spec["id"] in before], uses)
            last_use = node if node.uses else last_use
            edges += self.incoming(node, sources)
            built.append(node)
        if place.kind in ("LOOP", "ITERATION"):
            edges += self.jumps(built)
        self.connect_errors(built, edges)
        return built, edges

    def sources(self, place: Place, built: list[Built], long: bool) -> list[Built]:
        able = [node for node in built if node.handles]
        if not able or (place.kind != "run" and self.chance(0.15)):
            return []
        if long:
            return [able[-1]] if self.chance(0.85) else self.random.sample(able, min(2, len(able)))
        recent = able[-4:]
        return self.random.sample(recent, min(self.random.choice((1, 1, 1, 2, 2, 3)), len(recent)))

    def incoming(self, node: Built, sources: list[Built]) -> list[Spec]:
        edges = []
        for source in sources:
            handles = self.random.sample(
                source.handles, min(len(source.handles), self.random.choice((1, 1, 1, 2, 3)))
            )
            edges += [
                {"from": source.spec["id"], "handle": handle, "to": node.spec["id"]} for handle in handles
            ]
        return edges

    def jumps(self, built: list[Built]) -> list[Spec]:
        if not built or not self.chance(0.45):
            return []
        branching = [node for node in built if len(node.handles) > 1] or built
        edges = []
        for node in self.random.sample(branching, min(len(branching), self.random.choice((1, 1, 2)))):
            target = self.random.choice(("$break", "$continue"))
            edges.append({"from": node.spec["id"], "handle": self.random.choice(node.handles), "to": target})
        return edges

    def connect_errors(self, built: list[Built], edges: list[Spec]) -> None:
        """An `error` handle without an edge is a validation error: such a node stops instead."""
        used = {edge["from"] for edge in edges if edge["handle"] == "error"}
        for node in built:
            if node.spec.get("on_error") == "branch" and node.spec["id"] not in used:
                node.spec["on_error"] = "stop"
                node.handles = [handle for handle in node.handles if handle != "error"]

    def ends(self, built: list[Built], edges: list[Spec]) -> list[Built]:
        ends = []
        for number in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            able = built[-6:]
            sources = self.random.sample(able, min(len(able), self.random.choice((1, 2, 3, 4))))
            before = set().union(*({source.spec["id"], *source.before} for source in sources))
            seen = [node for node in built if node.spec["id"] in before]
            outputs: Spec = {}
            for node in seen:
                for reference in self.random.sample(node.shown, min(2, len(node.shown))):
                    key = f"{reference.replace('.', '_')}_{number}"
                    outputs[key] = f"{{{{ ({reference} | default(none)) }}}}"
            if self.chance(0.3):
                outputs["same" if self.chance(0.4) else f"s{number}"] = self.value(
                    seen, Place("run", 0, ["inputs.a"])
                )
            end = Built({"id": f"end{number}", "type": "END", "config": {"outputs": outputs}}, before, [])
            if self.chance(0.2):
                end.spec["join"] = "all"
            if self.chance(self.troubles / 5):
                end.spec["disabled"] = True
            edges += self.incoming(end, sources)
            ends.append(end)
        return ends

    # -- expressions ----------------------------------------------------------------------------------------------------

    def sum(self, seen: list[Built], place: Place) -> str:
        near = [reference for node in seen for reference in node.reads]
        terms = [str(self.random.randrange(4))]
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            pool = near if near and self.chance(0.7) else place.reads
            if pool:
                terms.append(f"({self.random.choice(pool)} | default({self.random.randrange(5)}))")
        return " + ".join(terms)

    def value(self, seen: list[Built], place: Place) -> str:
        near = [reference for node in seen for reference in node.reads]
        if near and self.chance(self.troubles):
            return f"{{{{ {self.random.choice(near)} }}}}"
        return f"{{{{ {self.sum(seen, place)} }}}}"

    def condition(self, seen: list[Built], place: Place) -> str:
        near = [reference for node in seen for reference in node.reads]
        if near and self.chance(self.troubles / 2):
            return f"{self.random.choice(near)} > 1"
        return f"{self.sum(seen, place)} {self.random.choice('><')} {self.random.randrange(8)}"

    # -- nodes ----------------------------------------------------------------------------------------------------------

    def node(self, name: str, before: set[str], place: Place, seen: list[Built], uses: bool) -> Built:
        kinds = {"ECHO": 4, "FAIL": (10 + 5 * place.depth) * self.troubles, "PICK": 1.5, "CONDITION": 2.5}
        if place.depth < DEPTH and self.budget > 0:
            kinds |= {"ITERATION": 1.6, "LOOP": 1.6}
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        if uses and kind in ("ECHO", "FAIL", "PICK"):
            reads = kind == "ECHO" and self.chance(0.4)
            kind = "ECHO" if reads else "VARIABLE_ASSIGN"
            place = (
                Place(place.kind, place.depth, [*place.reads, *map(self.read, place.variables)])
                if reads
                else place
            )
        spec: Spec = {"id": name, "type": kind}
        node = Built(spec, before, ["out"])
        if uses:
            node.uses = True
        writable = place.variables if uses else []
        make = {
            "ECHO": self.echo, "FAIL": self.fail, "PICK": self.pick, "CONDITION": self.branch,
            "VARIABLE_ASSIGN": self.variable_assign, "ITERATION": self.iteration, "LOOP": self.loop,
        }[kind]  # fmt: skip
        make(node, place, seen, writable)
        self.common(node)
        return node

    def common(self, node: Built) -> None:
        spec, name = node.spec, node.spec["id"]
        if self.chance(0.2):
            spec["join"] = "all"
        if self.chance(self.troubles / 3):
            spec["disabled"] = True
        if spec["type"] in ("ITERATION", "LOOP") and self.chance(0.4):
            spec["retry"] = self.retry()
        policy = self.random.choice(("stop", "stop", "continue", "branch", "branch", "continue"))
        if policy != "stop" and (
            spec["type"] in ("FAIL", "ITERATION", "LOOP", "CONDITION") or self.chance(0.3)
        ):
            spec["on_error"] = policy
            node.shown += [f"{name}.error.node", f"{name}.error.attempt"]
            if policy == "branch":
                node.handles.append("error")
            elif spec["type"] in ("FAIL", "ECHO") and self.chance(0.6):
                spec["default_output"] = {"value": self.random.randrange(5)}

    def echo(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        node.spec["config"] = {"value": self.value(seen, place)}
        node.reads = node.shown = [f"{node.spec['id']}.value"]
        node.shown = list(node.reads)

    def fail(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        node.spec["config"] = {
            "type": self.random.choice(("boom", "boom", "timeout")),
            "times": self.random.choice((1, 2, 3, 99)),
        }
        if self.chance(0.6):
            node.spec["retry"] = self.retry()
        node.reads = [f"{node.spec['id']}.value"]
        node.shown = list(node.reads)

    def retry(self) -> Spec:
        retry: Spec = {"max": self.random.randint(1, 3), "delay": 0.001, "jitter": False}
        return {**retry, "on": ["boom"]} if self.chance(0.7) else retry

    def pick(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        handles = ["a", "b", "c"][: self.random.randint(2, 3)]
        taken = self.random.sample(handles, self.random.choice((0, 1, 1, 1, 2)))
        node.spec["config"] = {"handles": handles, "take": taken or handles[:1]}
        node.handles = handles[:]

    def branch(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        cases = [
            {"id": name, "when": self.condition(seen, place)}
            for name in ("x", "y", "z")[: self.random.randint(1, 3)]
        ]
        node.spec["config"] = {"cases": cases, "mode": self.random.choice(("first", "first", "every"))}
        node.handles = [*(case["id"] for case in cases), "else"]
        node.shown = [f"{node.spec['id']}.matched"]

    def variable_assign(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        own = Place("", 0, [*place.reads, *(self.read(v) for v in writable)])
        changes: list[Spec] = []
        for variable in self.random.sample(writable, self.random.randint(1, len(writable))):
            operation = self.random.choice(("set", "increment", "increment"))
            value = f"{{{{ {self.sum(seen, own)} }}}}" if changes else self.value(seen, own)
            changes.append({"variable": variable, "op": operation, "value": value})
        node.spec["config"] = {"assignments": changes}
        node.reads = [f"{node.spec['id']}.{changes[0]['variable']}"]
        node.shown = list(node.reads)

    @staticmethod
    def read(variable: str) -> str:
        return f"vars.{variable}" if variable.startswith("g") else variable

    # -- containers -----------------------------------------------------------------------------------------------------

    def inner(
        self, place: Place, kind: str, seen: list[Built], extra: list[str], variables: list[str]
    ) -> tuple[Place, list[Built], list[Spec]]:
        reads = [*extra, *place.reads, *(reference for node in seen for reference in node.reads)]
        lists = [*place.lists, *(reference for node in seen for reference in node.lists)]
        inside = Place(kind, place.depth + 1, list(dict.fromkeys(reads)), lists, variables)
        size = self.random.choice((1, 2, 2, 3, 4)) if place.depth < 2 else self.random.choice((1, 1, 2, 3))
        built, edges = self.scope(inside, size, [])
        return inside, built, edges

    def finish(self, node: Built, built: list[Built], edges: list[Spec]) -> None:
        nodes = [inner.spec for inner in built]
        self.random.shuffle(nodes)
        self.random.shuffle(edges)
        node.spec["body"] = {"nodes": nodes, "edges": edges}

    def items(self, place: Place, seen: list[Built]) -> Any:
        lists = [*place.lists, *(reference for node in seen for reference in node.lists)]
        roll = self.random.random()
        if roll < 0.45 and lists:
            reference = self.random.choice(lists)
            guard = self.chance(0.9)
            return f"{{{{ ({reference} | default([])) }}}}" if guard else f"{{{{ {reference} }}}}"
        numbers = self.numbers(3 if place.depth < 2 else 2)
        return json.dumps(numbers) if roll > 0.9 else numbers

    def iteration(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        pick, name = self.random, node.spec["id"]
        parallel = 1 if writable else pick.choice((1, 1, 2, 5))
        inside, built, edges = self.inner(place, "ITERATION", seen, ["item", "index", "item"], writable)
        config: Spec = {"items": self.items(place, seen), "parallel": parallel,
                        "on_item_error": pick.choice(("stop", "null", "drop"))}  # fmt: skip
        roll = pick.random()
        if roll < 0.75:
            config["output"] = self.value(self.readable(built, edges), inside)
        elif roll < 0.85:
            config["output"] = "{{ item }}"
        if self.chance(self.troubles / 5):
            config["max_items"] = 1
        node.spec["config"] = config
        node.reads, node.lists = [f"{name}.count"], [f"{name}.results"]
        node.shown = [f"{name}.results", f"{name}.errors", f"{name}.count"]
        self.finish(node, built, edges)

    def readable(self, built: list[Built], edges: list[Spec]) -> list[Built]:
        """What an `output` or `until` reads: mostly nodes that are over before any jump, else the document is ambiguous."""
        jumpers = [edge["from"] for edge in edges if edge["to"].startswith("$")]
        if not jumpers or self.chance(0.1):
            return built
        return [
            node
            for node in built
            if all(node.spec["id"] in b.before or node is b for b in built if b.spec["id"] in jumpers)
        ]

    def loop(self, node: Built, place: Place, seen: list[Built], writable: list[str]) -> None:
        pick, name = self.random, node.spec["id"]
        own = [f"v{self.count}_{i}" for i in range(pick.randint(1, 2))]
        start = {variable: pick.choice((0, 1, self.value(seen, place))) for variable in own}
        extra = ["loop.round"]
        inside, built, edges = self.inner(
            place, "LOOP", seen, extra, [*own, *own, *writable] if self.chance(0.7) else writable
        )
        inside.reads += [variable for variable in own for _ in range(3)]
        config: Spec = {"variables": start, "max_rounds": pick.randint(1, 3)}
        looked = Place("", 0, [reference for reference in inside.reads if reference != "loop.round"])
        readable = self.readable(built, edges)
        if self.chance(0.4):
            config["while"] = self.condition(readable, looked)
        if self.chance(0.4):
            config["until"] = self.condition(readable, looked)
        if self.chance(0.7) or not (
            {"while", "until"} & config.keys() or any(e["to"] == "$break" for e in edges)
        ):
            config["on_max"] = "continue"
        if self.chance(0.3):
            config["output"] = f"{{{{ {self.sum(readable, looked)} }}}}"
            node.reads.append(f"{name}.output")
        node.spec["config"] = config
        node.reads += [f"{name}.rounds", *(f"{name}.{variable}" for variable in own)]
        node.shown = [*node.reads, f"{name}.reason"]
        self.finish(node, built, edges)
