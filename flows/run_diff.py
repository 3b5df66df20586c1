"""What differs between two runs, node by node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.flows.comparison import differences
from interlace.flows.documents import Documents
from interlace.store import Store
from interlace.store.references import MARK, is_reference
from interlace.store.run_row import Run
from interlace.store.state import NodeRecord

_MOST = 50
"""Differences shown of one value; more are counted."""
_LOADED_BYTES = 1_000_000
"""Larger values are compared by their hash alone."""


async def diff_runs(store: Store, documents: Documents, first: str, second: str) -> dict[str, Any]:
    """What differs between two runs: `{a, b, equal, status, error, inputs, outputs, nodes, elapsed_ms}`.

    `nodes` holds those that differ: status, reason, handles, attempts, error, and outputs path by path. Durations make
    no difference, nor what a node measured or named anew in its outputs (`incidental` of its type).

    Raises:
        StoreError: there is no such run.
    """
    runs = [await store.runs.resolve(await store.runs.get(run_id)) for run_id in (first, second)]
    one, other = runs
    comparison = _Comparison(store, documents)
    for run in runs:
        await comparison.take(run)
    nodes = await comparison.nodes()
    found: dict[str, Any] = {
        "status": _pair(one.status, other.status),
        "error": changes(_cause(one.error), _cause(other.error)),
        "inputs": changes(one.inputs, other.inputs),
        "outputs": changes(one.outputs, other.outputs),
        "nodes": nodes,
    }
    equal = not any(found.values())
    elapsed = {"a": _took(one), "b": _took(other)}
    return {"a": first, "b": second, "equal": equal, **found, "elapsed_ms": elapsed}


def changes(before: Any, after: Any) -> list[dict[str, Any]]:
    """The differences of two values for programs; when they are many, the first and how many more there are."""
    found = [change.as_json() for change in differences(before, after)]
    return found if len(found) <= _MOST else [*found[:_MOST], {"more": len(found) - _MOST}]


class _Comparison:
    """The nodes of two runs."""

    def __init__(self, store: Store, documents: Documents) -> None:
        self._store = store
        self._documents = documents
        self._states: list[Mapping[str, NodeRecord]] = []
        self._incidental: dict[str, tuple[str, ...]] = {}

    async def take(self, run: Run) -> None:
        """Read a run."""
        document = await self._documents.read(run.document_hash)
        for spec, _ in document.walk():
            node_type = self._documents.registry.get(spec.type)
            self._incidental[spec.id] = () if node_type is None else node_type.incidental
        self._states.append((await self._store.events.fold(run.id)).nodes)

    async def nodes(self) -> dict[str, Any]:
        """The nodes that differ, by path."""
        one, other = self._states
        found = {
            path: await self._node(path, one.get(path), other.get(path)) for path in sorted({*one, *other})
        }
        return {path: node for path, node in found.items() if node}

    async def _node(self, path: str, one: NodeRecord | None, other: NodeRecord | None) -> dict[str, Any]:
        if one is None or other is None:
            return {"status": _pair(one and one.status, other and other.status)}
        before, after = await self._outputs(one, other)
        for name in self._incidental.get(path.rpartition(".")[2], ()):
            _forget(before, name)
            _forget(after, name)
        found = {
            "status": _pair(one.status, other.status),
            "reason": _pair(one.reason, other.reason),
            "handles": _pair(list(one.handles), list(other.handles)),
            "attempts": _pair(one.retries, other.retries),
            "error": changes(_cause(one.error), _cause(other.error)),
            "outputs": changes(before, after),
        }
        return {name: value for name, value in found.items() if value}

    async def _outputs(self, one: NodeRecord, other: NodeRecord) -> tuple[Any, Any]:
        """The outputs of both with what is large and equal left out, and what is too large given by its hash."""
        if one.outputs is None or other.outputs is None:
            return await self._loaded(one.outputs), await self._loaded(other.outputs)
        same = {
            key
            for key, value in one.outputs.items()
            if is_reference(value) and is_reference(other.outputs.get(key)) and value[MARK] == other.outputs[key][MARK]
        }  # fmt: skip
        before, after = [
            await self._loaded({key: value for key, value in outputs.items() if key not in same})
            for outputs in (one.outputs, other.outputs)
        ]
        return before, after

    async def _loaded(self, outputs: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if outputs is None:
            return None
        return {key: await self._value(value) for key, value in outputs.items()}

    async def _value(self, value: Any) -> Any:
        if not is_reference(value):
            return value
        if value["size"] > _LOADED_BYTES:
            return {"sha256": value[MARK].removeprefix("sha256-"), "size": value["size"]}
        return await self._store.payloads.load(value[MARK])


def _forget(outputs: Any, name: str) -> None:
    """Take what a node measured or named anew out of its outputs."""
    *parts, last = name.split(".")
    if isinstance(outputs, dict) and parts:
        inner = outputs.get(parts[0])
        outputs[parts[0]] = dict(inner) if isinstance(inner, dict) else inner
        _forget(outputs[parts[0]], ".".join([*parts[1:], last]))
    elif isinstance(outputs, dict):
        outputs.pop(last, None)


def _cause(error: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """An error without the number of the attempt, which crashes change."""
    return None if error is None else {key: value for key, value in error.items() if key != "attempt"}


def _pair(before: Any, after: Any) -> dict[str, Any] | None:
    return None if before == after else {"before": before, "after": after}


def _took(run: Run) -> float | None:
    if run.started_at is None or run.finished_at is None:
        return None
    return round((run.finished_at - run.started_at) * 1000, 3)
