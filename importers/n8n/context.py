"""What a node's converter works with: the draft, the report, and steps that are chained as they are made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.importers.build import Draft, Graph, Step
from interlace.importers.expressions import path
from interlace.importers.foreign import Json, mapping, number, text, whole
from interlace.importers.n8n.fields import Fields
from interlace.importers.n8n.file import N8nFile, N8nNode
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.values import Value
from interlace.importers.naming import slug
from interlace.importers.report import Level, Report


@dataclass(slots=True, kw_only=True)
class Context:
    """One conversion."""

    file: N8nFile
    draft: Draft
    report: Report
    mentions: dict[str, set[str]] = field(default_factory=dict)
    """By node: the nodes whose parameters name it."""
    responded: bool = False
    nesting: set[str] = field(default_factory=set)
    """Nodes whose bodies hold bodies, so that these are not made once more to find that out."""

    def say(self, level: Level, code: str, message: str, node: N8nNode | None = None) -> None:
        """Add a remark to the report."""
        self.report.add(
            level, code, message, source=node.name if node else None, node=(node.id or None) if node else None
        )

    def setting(self, name: str, node: N8nNode | None) -> Value:
        """`$env.NAME`."""
        self.say(
            "decision",
            "set_setting",
            f"Set {name} for each environment, as in interlace.toml under [environments.dev].",
            node,
        )
        return Value(path("env", name))

    def secret(self, wanted: str, node: N8nNode) -> str:
        """A secret slot, as an expression."""
        name = slug(wanted) or "credential"
        self.say("decision", "set_secret", f"Set the secret {name}: interlace secrets set {name}", node)
        return "{{ secrets." + name + " }}"


@dataclass(slots=True, kw_only=True)
class Site:
    """Where a node becomes steps: a graph, what came before, and what its expressions can read."""

    ctx: Context
    graph: Graph
    scope: Scope
    tails: tuple[tuple[str, str], ...] = ()

    def fields(self, node: N8nNode) -> Fields:
        """The node's parameters in this scope."""

        def lost(source: str, why: str) -> None:
            self.ctx.say(
                "decision", "expression",
                f"An expression was not translated ({why}), and fails when it is evaluated: {source[:400]}", node,
            )  # fmt: skip

        return Fields(self.scope, lost)

    def add(self, node: N8nNode, kind: str, config: Json, *, suffix: str = "", policies: bool = True) -> Step:
        """Add a step of a node after what came before.

        Args:
            node: the node.
            kind: our type.
            config: its config.
            suffix: for a further step of the node; it gets an id of its own.
            policies: whether retries and failures of the node are those of this step.
        """
        name = self.ctx.draft.ids.give(f"{node.id}_{suffix}", suffix) if suffix else node.id
        step = Step(
            id=name, type=kind, config=config, label=None if suffix or node.name == node.id else node.name, source=node.name,
            note=None if suffix else (text(node.raw.get("notes")).strip() or None), position=None if suffix else node.position,
        )  # fmt: skip
        if policies and not suffix:
            _policies(step, node)
        self.graph.add(step)
        for source, handle in self.tails:
            self.graph.link(source, step.id, handle)
        self.tails = ((step.id, "out"),)
        return step

    def after(self, *tails: tuple[str, str]) -> Site:
        """The same place after other steps."""
        return replace(self, tails=tails)


def _policies(step: Step, node: N8nNode) -> None:
    raw = node.raw
    if raw.get("retryOnFail") is True:
        tries = whole(raw.get("maxTries")) or 3
        delay = (
            number(raw.get("waitBetweenTries")) if raw.get("waitBetweenTries") is not None else 1000
        ) or 0
        step.retry = {
            "max": max(0, min(tries - 1, 100)),
            **({"delay": delay / 1000} if delay > 0 else {}),
            "backoff": 1,
        }
    mode = on_error(node)
    if mode == "continueRegularOutput":
        step.on_error = "continue"
    elif mode == "continueErrorOutput":
        step.on_error = "branch"


def on_error(node: N8nNode) -> str:
    """What a failure does: stop, go on, or take the output for failures."""
    mode = text(node.raw.get("onError"))
    return mode or ("continueRegularOutput" if node.raw.get("continueOnFail") is True else "")


def find_mentions(file: N8nFile) -> dict[str, set[str]]:
    """By node: the nodes whose parameters name it."""
    found: dict[str, set[str]] = {name: set() for name in file.nodes}
    quoted = re.compile(r"\$(?:node|items)?\s*[\[(]\s*\\?[\"'`](.+?)\\?[\"'`]\s*(?:,[^)]*)?[\])]")
    dotted = re.compile(r"\$node\.([A-Za-z_]\w*)")
    for node in file.nodes.values():
        for source in _strings(node.parameters):
            for name in (*quoted.findall(source), *dotted.findall(source)):
                if name in found:
                    found[name].add(node.name)
    return found


def _strings(value: Any) -> list[str]:
    made, waiting = [], [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
        elif isinstance(current, str):
            made.append(current)
    return made


def param(node: N8nNode, *keys: str) -> Any:
    """A parameter under nested keys."""
    value: Any = node.parameters
    for key in keys:
        value = mapping(value).get(key)
    return value
