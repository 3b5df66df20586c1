"""One node alone, with given results of the nodes before it: the same engine, limits and redaction as a run."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from interlace.engine.document import RESERVED, Document, NodeSpec
from interlace.engine.errors import InvalidDocument
from interlace.engine.expressions import NodeOutputs
from interlace.engine.inputs import prepare_inputs
from interlace.engine.node import RunInfo
from interlace.engine.principal import LOCAL, Principal
from interlace.engine.problems import Problem, nearest
from interlace.engine.protocols import Environment, Files, Services
from interlace.engine.run import Execution, Plan, run_names
from interlace.engine.run.memory import MemoryJournal
from interlace.engine.run.plan import BodyPlan, plan_node
from interlace.flows.documents import canonical
from interlace.flows.platform import Platform


async def test_node(
    platform: Platform,
    document: Document,
    node_id: str,
    given: Mapping[str, Any],
    *,
    principal: Principal = LOCAL,  # noqa: PT028 - this is no test
) -> dict[str, Any]:
    """Run one node of a document and give `{node, status, outputs, handles, error, elapsed_ms, request, events}`.

    A node that asks somebody gives the status `suspended` and its request: nobody is taken to have agreed.

    `given` holds what the node reads by name: `inputs`, `vars`, `item`, `index`, `trigger`, and outputs of earlier
    nodes by their ids; any other key counts as an input.

    Raises:
        InvalidDocument: there is no such node, or its config or the inputs do not fit.
    """
    specs = {spec.id: spec for spec, _ in document.walk()}
    spec = specs.get(node_id)
    if spec is None:
        guess = nearest(node_id, specs)
        hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(specs)}"
        raise InvalidDocument(
            [Problem(code="unknown_node", node=node_id, message=f"no node {node_id!r}; {hint}")]
        )
    info = RunInfo(
        id=f"test-{uuid.uuid4().hex}",
        workflow=document.name,
        started_at=time.time(),
        trigger={"kind": "test"},
        principal=principal,
    )
    environment = await platform.environments.of(principal, canonical(document))
    services = platform.services.with_service(Environment, environment).with_service(
        Files, platform.store.files.of_owner(principal.user_id)
    )
    names = _names(services, document, info, given, specs)
    node = plan_node(spec.model_copy(update={"disabled": False, "wait": None}), platform.registry)
    plan = Plan(document, BodyPlan([node], [node]))
    journal = MemoryJournal()
    execution = Execution(plan, info, names, journal=journal, services=services, clock=platform.runner.clock)
    await execution.run()
    return _report(node_id, journal)


def _names(
    services: Services,
    document: Document,
    info: RunInfo,
    given: Mapping[str, Any],
    specs: Mapping[str, NodeSpec],
) -> dict[str, Any]:
    loose = {key: value for key, value in given.items() if key not in RESERVED and key not in specs}
    inputs = {**given.get("inputs", {}), **loose}
    prepared = prepare_inputs({**document.inputs, "required": []}, inputs)
    names = run_names(document, info, prepared, services)
    names["vars"].update(given.get("vars", {}))
    for key, value in given.items():
        if key in specs and isinstance(value, dict):
            names[key] = NodeOutputs(value)
        elif key in ("item", "index", "loop", "trigger"):
            names[key] = value
    return names


def _report(node_id: str, journal: MemoryJournal) -> dict[str, Any]:
    ends = ("node.succeeded", "node.failed", "node.cancelled", "node.suspended")
    last = next((e for e in reversed(journal.events) if e.path == node_id and e.type in ends), None)
    data: dict[str, Any] = dict(last.data) if last is not None else {}
    return {
        "node": node_id,
        "status": last.type.removeprefix("node.") if last is not None else "cancelled",
        "outputs": data.get("outputs"),
        "handles": list(data.get("handles", ())),
        "error": data.get("error"),
        "elapsed_ms": data.get("elapsed_ms"),
        "request": data.get("request"),
        "attempts": last.attempt if last is not None else 0,
        "events": [{"type": e.type, "path": e.path, "data": e.data} for e in journal.events if e.path],
    }
