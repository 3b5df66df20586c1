"""What an expression gives with the data of an earlier run, and what a node of a run was given. Nothing is run.

Expressions are evaluated by the engine's own evaluator under its limits; secrets read as missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from interlace.engine.document import Document, NodeSpec
from interlace.engine.errors import InvalidDocument
from interlace.engine.expressions import (
    Compiled,
    ExpressionError,
    Missing,
    NodeOutputs,
    compile_expression,
    compile_template,
    compile_text,
    compile_value,
)
from interlace.engine.fields import expressions
from interlace.engine.inputs import prepare_inputs
from interlace.engine.node import RunInfo
from interlace.engine.problems import nearest
from interlace.engine.protocols import Services
from interlace.engine.run import run_names
from interlace.flows.platform import Platform
from interlace.store.errors import NotFoundError
from interlace.store.state import RunState

Kind = Literal["value", "expression", "template"]
_COMPILERS: Mapping[Kind, Callable[[str], Compiled]] = {
    "value": compile_text, "expression": compile_expression, "template": compile_template,
}  # fmt: skip
_RUN_IT = "run the workflow to see it"
_PASS = re.compile(r"([A-Za-z_]\w*)(?:\[(\d+)\]|#(\d+))$")


class Known:
    """The names at one place of a run, as far as the run's journal tells. Implements `Names`."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def lookup(self, root: str) -> object:
        """The value of a name, or why there is none."""
        if root == "secrets":
            return Missing("secrets are not shown")
        return self._names.get(root, Missing(f"{root} has no data of a run yet", advice=_RUN_IT))


def preview(text: str, kind: Kind, names: Known) -> dict[str, Any]:
    """`{ok, value, error}` of an expression; an error says what is wrong in the evaluator's own words."""
    try:
        value = _COMPILERS[kind](text).evaluate(names)
    except ExpressionError as error:
        return {"ok": False, "value": None, "error": str(error)}
    return {"ok": True, "value": value, "error": None}


async def names_in(
    platform: Platform, document: Document, *, run_id: str | None, path: str, given: Mapping[str, Any]
) -> Known:
    """The names that a node at a path (`each[2].call`) reads, with what a run gave before; `given` names win.

    A node of a body without a pass in its path is shown the first pass.

    Raises:
        NotFoundError: there is no such run.
    """
    state = await platform.store.events.fold(run_id) if run_id is not None else RunState()
    info = RunInfo(id=run_id or "preview", workflow=document.name, started_at=state.started_at or 0.0)
    names = run_names(document, info, _inputs(document, state, given), Services())
    names["vars"].update(state.variables)
    if run_id is not None:
        reading = _Reading(platform, run_id, state, names)
        names["trigger"] = dict((await platform.store.runs.get(run_id)).trigger)
        await reading.nodes(document.nodes, "")
        await reading.passes(document, path)
    for name, value in given.items():
        if name != "inputs":
            names[name] = NodeOutputs(value) if isinstance(value, dict) else value
    return Known(names)


def _inputs(document: Document, state: RunState, given: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {**state.inputs, **(given.get("inputs") or {})}
    try:
        return prepare_inputs({**document.inputs, "required": []}, wanted)
    except InvalidDocument:
        return wanted


@dataclass(frozen=True, slots=True)
class _Reading:
    """Fills names with what the journal of a run tells."""

    platform: Platform
    run_id: str
    state: RunState
    names: dict[str, Any]

    async def nodes(self, specs: Sequence[NodeSpec], prefix: str) -> None:
        """What the nodes of one pass gave."""
        journal = self.platform.store.journal(self.run_id, None)
        for spec in specs:
            record = self.state.nodes.get(f"{prefix}{spec.id}")
            if record is None:
                continue
            if record.outputs is not None:
                outputs = await journal.load_map(record.outputs)
                error = {"error": record.error} if record.error else {}
                self.names[spec.id] = NodeOutputs({**outputs, **error})
            elif record.error is not None:
                self.names[spec.id] = NodeOutputs({"error": record.error})
            else:
                because = f": {record.reason}" if record.reason else ""
                self.names[spec.id] = Missing(f"{spec.id} was {record.status}{because}")

    async def passes(self, document: Document, path: str) -> None:
        """The names of the bodies that a path leads through, outer ones first."""
        prefix, specs = "", list(document.nodes)
        for part in path.split(".")[:-1]:
            found = _PASS.match(part)
            name, number = (found[1], int(found[2] or found[3])) if found is not None else (part, 0)
            spec = next((spec for spec in specs if spec.id == name), None)
            if spec is None or spec.body is None:
                return
            if spec.type == "LOOP":
                record = self.state.nodes.get(f"{prefix}{name}")
                self.names["loop"] = {"round": number, "first": number == 0}
                self.names.update((record and record.round_variables) or _first(spec, self.names))
                prefix += f"{name}#{number}."
            else:
                self.names["index"], self.names["item"] = number, _item(spec, number, self.names)
                prefix += f"{name}[{number}]."
            specs = list(spec.body.nodes)
            await self.nodes(specs, prefix)


def _first(spec: NodeSpec, names: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _evaluated(spec.config.get("variables") or {}, names)
    return found if isinstance(found, dict) else {}


def _item(spec: NodeSpec, index: int, names: Mapping[str, Any]) -> Any:
    items = _evaluated(spec.config.get("items"), names)
    if isinstance(items, list) and index < len(items):
        return items[index]
    return Missing("the list has no data of a run yet", advice=_RUN_IT)


def _evaluated(value: Any, names: Mapping[str, Any]) -> Any:
    try:
        return compile_value(value).evaluate(Known(names))
    except ExpressionError:
        return None


async def given_to(platform: Platform, document: Document, run_id: str, path: str) -> dict[str, Any]:
    """What a node of a run was given: `{fields: [{field, source, value, error}]}`, evaluated anew from the journal.

    Raises:
        NotFoundError: the run has no node at that path.
    """
    name = path.rpartition(".")[2]
    specs = {spec.id: spec for spec, _ in document.walk()}
    spec = specs.get(name)
    if spec is None:
        guess = nearest(name, specs)
        raise NotFoundError(
            f"run {run_id} has no node {path!r}" + (f"; did you mean {guess!r}?" if guess else "")
        )
    node_type = platform.registry.get(spec.type)
    try:
        config = node_type.config_type.model_validate(spec.config) if node_type is not None else None
    except ValidationError:
        config = None
    if config is None:
        return {"fields": []}
    names = await names_in(platform, document, run_id=run_id, path=path, given={})
    fields = []
    for field in expressions(config):
        shown: dict[str, Any] = {"field": field.path, "source": field.value, "value": None, "error": None}
        if field.marker.secret:
            shown["error"] = "fields that may hold secrets are not shown"
        elif field.scope == "node" and not (field.marker.lazy and field.marker.syntax != "value"):
            try:
                shown["value"] = (
                    compile_value(field.value).evaluate(names) if field.marker.syntax == "value" else None
                )
            except ExpressionError as error:
                shown["error"] = str(error)
        fields.append(shown)
    return {"fields": fields}
