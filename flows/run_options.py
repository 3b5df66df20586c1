"""Test runs and recorded runs: what a request asks for besides inputs, checked before the run exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlace.engine.errors import InvalidDocument
from interlace.engine.problems import Problem
from interlace.engine.source import load
from interlace.flows.documents import Documents, Pinned
from interlace.flows.pins import check_pins
from interlace.flows.request import Request
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.visibility import Asker


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a run is asked for: `test` uses the pins of a stored workflow too; `pins` win over these."""

    test: bool = False
    record: bool = False
    pins: Mapping[str, Any] = field(default_factory=dict)


async def with_options(
    store: Store, documents: Documents, pinned: Pinned, request: Request, asked: Asked
) -> Request:
    """The request with what was asked.

    Raises:
        InvalidDocument: a pin does not fit its node, or there are pins and the run is no test run.
    """
    if asked.pins and not asked.test:
        message = "pinned outputs are for test runs only; say `test: true` as well"
        raise InvalidDocument([Problem(code="pin", field="pins", message=message)])
    if not asked.test:
        return replace(request, options={"record": True}) if asked.record else request
    given = {**await _stored(store, pinned, asked.pins), **asked.pins}
    options: dict[str, Any] = {"record": True} if asked.record else {}
    if given:
        options["pins"] = await checked(documents, pinned, given, request.principal or request.owner)
    return replace(request, test=True, options=options)


async def checked(
    documents: Documents, pinned: Pinned, given: Mapping[str, Any], owner: Asker
) -> dict[str, Any]:
    """Pins that fit a version.

    Raises:
        InvalidDocument: with every one that does not.
    """
    found = await documents.check(load(pinned.text), folder=pinned.folder, owner=owner)
    return check_pins(pinned.document, documents.registry, found.types, given)


async def store_pin(
    store: Store, documents: Documents, workflow: str, node: str, *, outputs: Any = None, handle: str | None = None,
    run_id: str | None = None, owner: Asker = "local",
) -> dict[str, Any]:  # fmt: skip
    """Pin a node of a stored workflow to outputs, or to what it gave in a run; gives all pins of the workflow.

    Raises:
        InvalidDocument: the outputs do not fit the node of the newest version.
        NotFoundError: there is no such workflow, or the run has no outputs of the node.
    """
    await store.workflows.writable(workflow, owner=owner)
    pinned = await documents.stored(workflow, "latest", owner=owner)
    assert pinned.workflow_id is not None
    if run_id is not None:
        outputs, taken = await _outputs_in(store, run_id, node)
        handle = handle or taken
    await checked(documents, pinned, {f"{node}:{handle}" if handle else node: outputs}, owner)
    await store.pins.set(pinned.workflow_id, node, outputs, handle)
    return await store.pins.of(pinned.workflow_id)


async def _outputs_in(store: Store, run_id: str, node: str) -> tuple[dict[str, Any], str | None]:
    """What a node gave in a run, and the handle that it took, where that has to be said."""
    record = (await store.events.fold(run_id)).nodes.get(node)
    if record is None or record.outputs is None:
        raise NotFoundError(f"run {run_id} has no outputs of node {node!r}")
    handle = record.handles[0] if len(record.handles) == 1 and record.handles != ("out",) else None
    return await store.journal(run_id, None).load_map(record.outputs), handle


async def _stored(store: Store, pinned: Pinned, given: Mapping[str, Any]) -> dict[str, Any]:
    """The workflow's own pins, without those of nodes that this version has not, or that are given anew."""
    if pinned.workflow_id is None:
        return {}
    known = {spec.id for spec, _ in pinned.document.walk()} - {key.partition(":")[0] for key in given}
    found = await store.pins.of(pinned.workflow_id)
    return {key: outputs for key, outputs in found.items() if key.partition(":")[0] in known}
