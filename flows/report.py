"""What people and programs are told of a run: its state, its nodes, and why a node did not run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from interlace.engine.document import Document
from interlace.engine.events import Event
from interlace.engine.problems import nearest
from interlace.flows.admission import why_queued
from interlace.flows.documents import Documents
from interlace.flows.served import Served
from interlace.flows.settings import Settings
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.run_row import FINAL, Run
from interlace.store.state import NodeRecord, RunState
from interlace.store.wait_row import Wait


async def run_report(store: Store, documents: Documents, run_id: str) -> dict[str, Any]:
    """`{run_id, status, outputs, error, nodes: {path: {status, reason, attempts, elapsed_ms}}}` and what belongs to it.

    Raises:
        StoreError: there is no such run.
    """
    run = await store.runs.resolve(await store.runs.get(run_id))
    state = await store.events.fold(run_id)
    document = await documents.read(run.document_hash)
    waits = [] if run.status in FINAL else await store.waits.of_run(run_id)
    nodes = node_reports(document, run, state)
    if run.status == "suspended":
        for node in nodes.values():
            if node["status"] == "running":
                node.update(status="suspended", reason="what is inside it waits")
    served = await store.hosts.pools() if any(wait.kind == "place" for wait in waits) else frozenset()
    for path, own in _by_path(waits).items():
        if path in nodes and nodes[path]["status"] == "suspended":
            nodes[path]["reason"] = _wait_for_all(own, served)
    return {
        "run_id": run.id,
        "status": run.status,
        "outputs": run.outputs,
        "error": run.error,
        "nodes": nodes,
        "waiting": [waiting_json(wait, served) for wait in waits],
        "reason": await why_queued(store, Served.of(Settings()), run) if run.status == "queued" else None,
        **summary(run),
    }


def waiting_json(wait: Wait, served: Collection[str] = ()) -> dict[str, Any]:
    """What a run waits for, in short."""
    return {
        "id": wait.id, "path": wait.path, "kind": wait.kind, "title": waits_for(wait, served) if wait.kind == "place" else wait.title or waits_for(wait), "until": wait.until,
    }  # fmt: skip


def _by_path(waits: Iterable[Wait]) -> dict[str, list[Wait]]:
    found: dict[str, list[Wait]] = {}
    for wait in waits:
        found.setdefault(wait.path, []).append(wait)
    return found


def _wait_for_all(waits: Sequence[Wait], served: Collection[str]) -> str:
    """What a node waits for that has several requests."""
    if len(waits) == 1:
        return waits_for(waits[0], served)
    return f"it waits for {len(waits)} answers: " + "; ".join(
        f"request {wait.id}: {wait.title}" for wait in waits
    )


def waits_for(wait: Wait, served: Collection[str] = ()) -> str:
    """What a node waits for, in words; `served` are the pools that hosts serve now."""
    until = "" if wait.until is None else f" until {instant_text(wait.until)}"
    if wait.kind == "timer":
        return f"it pauses{until}"
    if wait.kind == "child":
        return f"it waits for the run {wait.ref}"
    if wait.kind == "place":
        none = "" if wait.ref in served else f", and none serves it now: interlace worker --pool {wait.ref}"
        return f"it waits for a host of pool {wait.ref!r}{none}"
    if wait.kind == "callback":
        return f"it waits for a call from outside{until}"
    whom = f" of {', '.join(wait.assignees)}" if wait.assignees else ""
    return f"it waits for an answer{whom}{until} to request {wait.id}: {wait.title}"


def instant_text(at: float) -> str:
    """An instant as people read it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def summary(run: Run) -> dict[str, Any]:
    """A run without its nodes, as lists show it. Times in Unix seconds."""
    return {
        "id": run.id,
        "status": run.status,
        "workflow": run.name,
        "workflow_id": run.workflow_id,
        "version": run.version,
        "trigger": {key: value for key, value in run.trigger.items() if key != "folder"},
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "parent_run_id": run.parent_run_id,
        "parent_path": run.parent_path,
        "tags": list(run.tags),
        "replayed_from": run.replayed_from,
        "test": run.test,
        "recorded": bool(run.options.get("record")),
        "offline": bool(run.options.get("offline")),
        "flow_run_id": run.flow_run_id,
    }


def event_json(event: Event) -> dict[str, Any]:
    """An event as streams, lists and exports show it.

    The instructions of an agent are between its keepers and the model: whoever may use the agent sees its runs, and
    nothing of them there.
    """
    return {
        "seq": event.seq, "at": event.at, "type": event.type, "path": event.path, "attempt": event.attempt,
        "data": _for_readers(event.type, event.data),
    }  # fmt: skip


def _for_readers(kind: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    if kind == "model.finished":
        return {name: value for name, value in data.items() if name != "opening"}
    if kind != "call.recorded":
        return data
    if data.get("service") == "agent":
        return {name: value for name, value in data.items() if name != "answer"}
    if data.get("service") == "model":
        return {**data, "request": _without_system(data.get("request"))}
    return data


def _without_system(request: Any) -> Any:
    """A question to a model without what it was told to be; a long one is kept elsewhere and left out."""
    messages = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(request, Mapping) or not isinstance(messages, list):
        return None
    return {**request, "messages": [message for message in messages if message.get("role") != "system"]}


def node_reports(document: Document, run: Run, state: RunState) -> dict[str, dict[str, Any]]:
    """Every node that has a state, and the document's nodes that never got one."""
    reports = {path: _node(record) for path, record in state.nodes.items()}
    if run.status in FINAL and run.status != "succeeded":
        ending = _ending(run)
        for path, record in state.nodes.items():
            if record.status in ("running", "suspended", "pending"):
                reports[path].update(status="cancelled", reason=ending)
        for node in document.nodes:
            reports.setdefault(node.id, _absent("not_reached", ending))
    else:
        for node in document.nodes:
            reports.setdefault(node.id, _absent("pending", None))
    _add_cut_off(document, reports)
    return reports


def _add_cut_off(document: Document, reports: dict[str, dict[str, Any]]) -> None:
    """Say of the nodes of a pass that ended early (`$break`, `$continue`, a failure) that it ended before them."""
    inner = {
        spec.id: [node.id for node in spec.body.nodes] for spec, _ in document.walk() if spec.body is not None
    }
    passes = {path.rpartition(".")[0] for path in reports if "." in path}
    for prefix in sorted(passes):
        container = prefix[: max(prefix.rfind("["), prefix.rfind("#"))]
        state = reports.get(container, {}).get("status")
        if state not in ("succeeded", "failed", "cancelled"):
            continue
        for name in inner.get(container.rpartition(".")[2], ()):
            reason = f"its pass through {container} ended before it, by $break, $continue or a failure"
            reports.setdefault(f"{prefix}.{name}", _absent("not_reached", reason))


def _node(record: NodeRecord) -> dict[str, Any]:
    reason = record.reason
    if reason is None and record.error is not None:
        reason = record.error.get("message")
    found: dict[str, Any] = {
        "status": record.status,
        "reason": reason,
        "attempts": record.attempt,
        "elapsed_ms": record.elapsed_ms,
    }
    if record.reused is not None:
        found["reused"] = record.reused
    if record.pinned:
        found["pinned"] = True
    if record.calls:
        found["calls"] = dict(record.calls)
    return found


def _absent(status: str, reason: str | None) -> dict[str, Any]:
    return {"status": status, "reason": reason, "attempts": 0, "elapsed_ms": None}


def _ending(run: Run) -> str:
    error = run.error or {}
    if run.status == "cancelled":
        return "the run was cancelled before"
    where = f" at {error['path']}" if error.get("path") else ""
    return f"the run failed{where} before: {error.get('message', '')}"


async def why(store: Store, documents: Documents, run_id: str, path: str) -> dict[str, Any]:
    """Why a node has the state that it has.

    Raises:
        NotFoundError: there is no such run, or it has no node at that path.
    """
    report = await run_report(store, documents, run_id)
    node = report["nodes"].get(path)
    if node is None:
        guess = nearest(path, report["nodes"])
        raise NotFoundError(
            f"run {run_id} has no node {path!r}" + (f"; did you mean {guess!r}?" if guess else "")
        )
    status, reason = (
        node["status"],
        node["reason"] or (report["reason"] if node["status"] == "pending" else None),
    )
    text = {
        "succeeded": "it ran and succeeded",
        "pending": "it has not been decided yet: an incoming edge is still open",
        "running": "it is running",
    }.get(status, reason or status)
    if node.get("pinned"):
        text = "it did not run: pinned outputs stand in for it"
    text = f"{status}: {reason}" if reason else text
    if node.get("reused"):
        text += f" (in run {node['reused']}, whose result is reused)"
    return {"node": path, "status": status, "why": text}
