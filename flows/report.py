"""What people and programs are told of a run: its state, its nodes, and why a node did not run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from interlace.engine.document import Document
from interlace.engine.events import Event
from interlace.engine.problems import nearest
from interlace.flows.documents import Documents
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
    for wait in waits:
        if wait.path in nodes and nodes[wait.path]["status"] == "suspended":
            nodes[wait.path]["reason"] = waits_for(wait)
    return {
        "run_id": run.id,
        "status": run.status,
        "outputs": run.outputs,
        "error": run.error,
        "nodes": nodes,
        "waiting": [waiting_json(wait) for wait in waits],
        **summary(run),
    }


def waiting_json(wait: Wait) -> dict[str, Any]:
    """What a run waits for, in short."""
    return {
        "id": wait.id, "path": wait.path, "kind": wait.kind, "title": wait.title or waits_for(wait), "until": wait.until,
    }  # fmt: skip


def waits_for(wait: Wait) -> str:
    """What a node waits for, in words."""
    until = "" if wait.until is None else f" until {instant_text(wait.until)}"
    if wait.kind == "timer":
        return f"it pauses{until}"
    if wait.kind == "child":
        return f"it waits for the run {wait.ref}"
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
        "flow_run_id": run.flow_run_id,
    }


def event_json(event: Event) -> dict[str, Any]:
    """An event as streams, lists and exports show it."""
    return {
        "seq": event.seq, "at": event.at, "type": event.type, "path": event.path, "attempt": event.attempt,
        "data": event.data,
    }  # fmt: skip


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
    return {
        "status": record.status,
        "reason": reason,
        "attempts": record.attempt,
        "elapsed_ms": record.elapsed_ms,
    }


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
    status, reason = node["status"], node["reason"]
    text = {
        "succeeded": "it ran and succeeded",
        "pending": "it has not been decided yet: an incoming edge is still open",
        "running": "it is running",
    }.get(status, reason or status)
    return {"node": path, "status": status, "why": f"{status}: {reason}" if reason else text}
