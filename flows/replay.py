"""A new run that takes results of an earlier one and does the rest again; offline, one that reaches nothing.

What is reused stands in the new run's own journal from the commit that creates it, with payloads and files of its
own: it survives a crash at any moment, and the earlier run may be deleted.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.run.plan import BodyPlan, NodePlan
from interlace.engine.source import load
from interlace.engine.variables import fits
from interlace.flows.documents import Documents, Pinned
from interlace.flows.pins import problems_with
from interlace.flows.recording.turns import recorded_calls
from interlace.flows.replay_edits import parse_path, set_in
from interlace.flows.replay_scope import changed_nodes, following, root_of
from interlace.flows.request import Request
from interlace.flows.runner import Runner
from interlace.store import Store
from interlace.store.errors import ConflictError
from interlace.store.run_row import FINAL, Run, Seed
from interlace.store.state import NodeRecord, RunState

_TAKEN_FROM_TRIGGER = frozenset({"via", "flow_run_id"})
_STARTABLE = FINAL | {"suspended"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked for.

    Args:
        from_node: the node that runs again, with all that follows it; None begins at the beginning.
        edits: new values of reused outputs by `node.path`.
        inputs: new values of single inputs.
        offline: answer everything from the record of the run, which is done again as a whole.
        record: record the outside answers of the new run.
        by: who asks.
    """

    from_node: str | None = None
    edits: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    offline: bool = False
    record: bool = False
    by: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A replay before it starts.

    `reused` and `again` are nodes of the document, `once` those whose work is done a second time although nobody would
    repeat it unasked, `changed` those whose definition is not the one that the run had.
    """

    source: Run
    pinned: Pinned
    request: Request
    reused: tuple[str, ...]
    again: tuple[str, ...]
    once: tuple[str, ...]
    changed: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The plan for programs."""
        return {
            "replayed_from": self.source.id, "version": self.pinned.version, "reused": list(self.reused),
            "again": list(self.again), "once": list(self.once), "changed": list(self.changed),
            "offline": bool(self.request.options.get("offline")),
        }  # fmt: skip


async def version_for(documents: Documents, run: Run, version: str) -> Pinned:
    """The version that a run is replayed with: `pinned` is the run's own, others are those of its stored workflow.

    Raises:
        StoreError: there is no such version, or the run is not one of a stored workflow.
    """
    if version == "pinned":
        return await documents.from_hash(run.document_hash, workflow_id=run.workflow_id, version=run.version)
    if run.workflow_id is None:
        raise ConflictError(
            f"run {run.id} is not one of a stored workflow, so there is no version {version!r}; give the changed file"
        )
    return await documents.stored(run.workflow_id, version, owner=run.owner)


async def plan_replay(runner: Runner, run_id: str, pinned: Pinned, wish: Wish) -> Replay:
    """What a replay would reuse and run again; nothing is created.

    Raises:
        InvalidDocument: a node, an edit or an input does not fit.
        ConflictError: the run has not ended, or has no record to be replayed from offline.
        NotFoundError: there is no such run.
    """
    store = runner.store
    run = await store.runs.resolve(await store.runs.get(run_id))
    _check(run, wish)
    planning = _Planning(store, runner.documents, run, pinned, wish)
    return await planning.plan(await store.events.fold(run_id))


async def start_replay(runner: Runner, replay: Replay) -> str:
    """Create the run and start it; gives its id.

    Raises:
        InvalidDocument: the inputs do not fit; nothing was created.
        StoreError: the earlier run was deleted meanwhile, or this process is closing.
    """
    return await runner.start(replay.pinned, replay.request)


def _check(run: Run, wish: Wish) -> None:
    if wish.offline:
        if wish.from_node or wish.edits or wish.inputs:
            raise ConflictError(
                "an offline replay does the whole run again as it was; leave out the node, the edits and the inputs"
            )
        if run.status not in FINAL:
            raise ConflictError(f"run {run.id} is {run.status}; its record is complete when it has ended")
        if not (run.options.get("record") or run.options.get("offline")):
            raise ConflictError(
                f"run {run.id} was not recorded; start runs with --record, or set `record: true` in the settings of"
                " the workflow"
            )
    elif run.status not in _STARTABLE:
        raise ConflictError(
            f"run {run.id} is {run.status}; wait for its end or cancel it before replaying it"
        )


@dataclass(frozen=True, slots=True)
class _Edited:
    """A reused node's result with edits in it; no value is a reference."""

    outputs: dict[str, Any]
    handles: tuple[str, ...]
    variables: dict[str, Any]

    def data(self) -> dict[str, Any]:
        """What the journal holds of it, besides the rest of the result."""
        found = {"outputs": self.outputs, "handles": list(self.handles), "edited": True}
        return found | ({"variables": self.variables} if self.variables else {})


class _Planning:
    """Finds out what a replay takes from a run."""

    def __init__(self, store: Store, documents: Documents, run: Run, pinned: Pinned, wish: Wish) -> None:
        self._store = store
        self._documents = documents
        self._run = run
        self._pinned = pinned
        self._wish = wish
        self._nodes = {node.id: node for node in pinned.plan.root.nodes}

    async def plan(self, state: RunState) -> Replay:
        edits = self._edits()
        changed = await self._changed()
        finished = {
            path for path, record in state.nodes.items() if _is_finished(record) and path in self._nodes
        }
        again = self._again(state, changed, edits)
        reused = finished - again
        edited = {
            name: await self._edit(state.nodes[name], edits[name]) for name in self._of_reused(edits, reused)
        }
        turned = {name for name, edit in edited.items() if edit.handles != state.nodes[name].handles}
        if turned:  # what stands on another path than before is decided anew
            reused -= following(self._pinned.document, turned) - turned
        if self._wish.inputs:
            reused = {name for name in reused if self._nodes[name].spec.type != "START"}
        seeds = [*self._seeds(state, reused, edited)]
        if self._wish.offline:
            seeds += await recorded_calls(self._store, self._run.id)
        rest = tuple(name for name in self._nodes if name not in reused)
        return Replay(
            source=self._run, pinned=self._pinned, request=self._request(tuple(seeds), await self._variables(state)),
            reused=tuple(name for name in self._nodes if name in reused), again=rest,
            once=() if self._wish.offline else tuple(self._once(state, rest)), changed=tuple(sorted(changed)),
        )  # fmt: skip

    def _edits(self) -> dict[str, list[tuple[list[str | int], Any]]]:
        found: dict[str, list[tuple[list[str | int], Any]]] = {}
        for text, value in self._wish.edits.items():
            name, *path = parse_path(text)
            if name not in self._nodes or not path:
                raise _invalid(str(name), f"{text!r} names no output of a node; write node.output=JSON")
            found.setdefault(str(name), []).append((path, value))
        return found

    async def _changed(self) -> set[str]:
        if self._pinned.hash == self._run.document_hash or self._wish.offline:
            return set()
        before = await self._documents.read(self._run.document_hash)
        return changed_nodes(before, self._pinned.document)

    def _again(self, state: RunState, changed: set[str], edits: Mapping[str, Any]) -> set[str]:
        """Nodes that are run whatever is known of them."""
        wish, document = self._wish, self._pinned.document
        if wish.offline:
            return {name for name in self._nodes if (record := state.nodes.get(name)) and not record.reused}
        if wish.from_node is not None:
            start = {root_of(document, wish.from_node)}
        elif edits:
            start = following(document, set(edits)) - set(edits)
        else:
            return set(self._nodes)
        unfinished = {
            name for name in self._nodes if name in state.nodes and not _is_finished(state.nodes[name])
        }
        return following(document, start | changed | unfinished)

    def _of_reused(self, edits: Mapping[str, Any], reused: set[str]) -> list[str]:
        for name in edits:
            if name not in reused:
                raise _invalid(
                    name, f"{name} runs again, so its outputs cannot be set; replay from a node after it"
                )
        return list(edits)

    async def _edit(self, record: NodeRecord, edits: list[tuple[list[str | int], Any]]) -> _Edited:
        """A reused node's outputs with the edits in them, and the handles that they choose."""
        name = record.path
        if record.outputs is None:
            raise _invalid(name, f"{name} was {record.status}, so it has no outputs to be set")
        journal, node = self._store.journal(self._run.id, None), self._nodes[name].node
        outputs = await journal.load_map(record.outputs)
        before = node.handles_of(outputs)
        outputs = copy.deepcopy(outputs)
        for path, value in edits:
            set_in(outputs, path, value, name)
        spec = self._nodes[name].spec
        checked = await self._documents.check(load(self._pinned.text), owner=self._run.owner)
        wrong = problems_with(spec, outputs, checked.types.get(name, {}))
        if wrong:
            raise _invalid(name, "; ".join(wrong))
        after = node.handles_of(outputs)
        handles = record.handles if after is None or after == before else after
        return _Edited(outputs, handles, await journal.load_map(record.variables))

    def _seeds(self, state: RunState, reused: set[str], edited: Mapping[str, _Edited]) -> list[Seed]:
        seeds = []
        for path, record in state.nodes.items():
            root = path.partition(".")[0].partition("[")[0].partition("#")[0]
            if root not in reused or not _is_finished(record):
                continue
            data = _result(record, record.reused or self._run.id)
            if path in edited:
                data |= edited[path].data()
            kind = f"node.{record.status}"
            seeds.append(
                Seed(type=kind, path=path, attempt=record.attempt, data=data, kept=path not in edited)
            )
        return seeds

    def _once(self, state: RunState, again: tuple[str, ...]) -> list[str]:
        """Nodes with effects `once` that have worked in the earlier run, bodies included."""
        pins = self._run.options.get("pins", {})
        worked: dict[str, set[str | None]] = {}
        for path, record in state.nodes.items():
            if record.status not in ("skipped", "pending"):
                worked.setdefault(path.rpartition(".")[2], set()).add(record.effects)

        def of(node: NodePlan) -> list[str]:
            if node.id in pins:
                return []
            known = worked.get(node.id, set())
            once = "once" in known if node.asks_effects and None not in known else node.effects == "once"
            own = [node.id] if once and known else []
            return own + (in_body(node.body) if node.body is not None else [])

        def in_body(body: BodyPlan) -> list[str]:
            return [name for node in body.nodes for name in of(node)]

        return [name for node in again for name in of(self._nodes[node])]

    async def _variables(self, state: RunState) -> dict[str, Any]:
        """What variables began as in the earlier run, as far as the version still declares them."""
        first = await self._store.journal(self._run.id, None).load_map(state.first_variables)
        declared = self._pinned.document.variables
        return {
            name: value for name, value in first.items() if name in declared and fits(declared[name], value)
        }

    def _request(self, seeds: tuple[Seed, ...], variables: Mapping[str, Any]) -> Request:
        run, wish = self._run, self._wish
        trigger = {key: value for key, value in run.trigger.items() if key not in _TAKEN_FROM_TRIGGER}
        if wish.by is not None:
            trigger["by"] = wish.by
        replay = {
            "from": wish.from_node,
            "set": sorted(wish.edits),
            "inputs": sorted(wish.inputs),
            "by": wish.by,
        }
        options: dict[str, Any] = {"replay": {name: value for name, value in replay.items() if value}}
        if variables:
            options["variables"] = dict(variables)
        if run.options.get("pins"):
            options["pins"] = run.options["pins"]
        if wish.offline:
            options["offline"] = True
        elif wish.record:
            options["record"] = True
        return Request(
            inputs={**run.inputs, **wish.inputs}, trigger=trigger, environment=run.environment, org_id=run.org_id, owner=run.owner,
            tags=run.tags, idempotency_key=wish.idempotency_key, test=run.test, options=options, replayed_from=run.id,
            seeds=seeds,
        )  # fmt: skip


def _is_finished(record: NodeRecord) -> bool:
    return record.status in ("succeeded", "skipped") or (
        record.status == "failed" and record.handled is not None
    )


def _result(record: NodeRecord, source: str) -> dict[str, Any]:
    """What the journal holds of a result that another run had; large values stay references."""
    data: dict[str, Any] = {"reused": source}
    if record.status == "skipped":
        return data | {"reason": record.reason, "handles": list(record.handles)}
    if record.variables:
        data["variables"] = record.variables
    if record.status == "failed":
        return data | {"error": record.error, "handled": record.handled}
    if record.why:
        data["why"] = record.why
    if record.pinned:
        data["pinned"] = True
    return data | {
        "outputs": record.outputs,
        "handles": list(record.handles),
        "elapsed_ms": record.elapsed_ms,
    }


def _invalid(node: str, message: str) -> InvalidDocument:
    return InvalidDocument([Problem(code="replay", node=node, message=message)])
