"""What a run is given for one turn: plan, journal, services and clock, by the way in which it is run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from interlace.engine.document import Document
from interlace.engine.expressions import Missing
from interlace.engine.protocols import Environment, Files
from interlace.engine.run import Execution, prepare
from interlace.engine.run.plan import BodyPlan, NodePlan, Plan
from interlace.engine.variables import ABSENT, kept_names, kept_value
from interlace.flows.pins import pinned_plan
from interlace.store import Store

if TYPE_CHECKING:
    from interlace.flows.active import Active
    from interlace.flows.documents import Pinned
    from interlace.flows.recording.player import Player
    from interlace.flows.recording.recorder import Recorder
    from interlace.flows.runner import Runner
    from interlace.flows.work import Work


async def prepare_turn(runner: Runner, active: Active, pinned: Pinned, work: Work) -> Execution:
    """The execution of one turn.

    Raises:
        StoreError: the record that an offline run is answered from cannot be read.
    """
    store, options = runner.store, work.options
    services = runner.services.with_service(Files, store.files.of_run(active.run_id, owner=work.owner))
    if runner.environments is not None and not options.get("offline"):
        environment = await runner.environments.of(work.info.principal, pinned.text)
        services = services.with_service(Environment, environment)
    kept = kept_names(pinned.document)
    may_keep = bool(kept) and not work.test and not options.get("offline")
    journal = store.journal(
        active.run_id, active.epoch, work.first_seq, keeps=work.keeps if may_keep else None
    )
    plan, info, clock = pinned.plan, work.info, runner.clock
    recording: Recorder | Player | None = None
    if options:
        # Loaded by the few runs that need it.
        from interlace.engine.expressions import use_clock  # noqa: PLC0415
        from interlace.flows.recording import Player, Recorder  # noqa: PLC0415
        from interlace.flows.recording.player import SkippingClock  # noqa: PLC0415

        if options.get("pins"):
            plan = pinned_plan(plan, options["pins"])
        if options.get("offline"):
            clock = SkippingClock(runner.clock)
            recording = player = await Player.open(store, active.run_id, journal, clock)
            plan, info = repeatable_plan(plan), replace(info, trigger=player.kept["trigger"])
        elif options.get("record"):
            recording = Recorder(journal, clock, began=work.began)
        if recording is not None:
            use_clock(recording.clock(""))  # of this task: what containers evaluate between their passes
    first = await _first_variables(store, pinned.document, kept, work)
    return prepare(
        plan, info, work.inputs, journal=journal if recording is None else recording.journal,
        services=services, clock=clock, recorded=work.recorded,
        answers=work.answers, began=work.began, recording=recording, variables=first,
        kept=kept if may_keep or options.get("offline") else (),
    )  # fmt: skip


async def _first_variables(
    store: Store, document: Document, kept: Collection[str], work: Work
) -> dict[str, Any]:
    """What variables begin as where that is not what the document says; a turn that goes on has it from its journal."""
    given: Mapping[str, Any] = work.variables if work.began else work.options.get("variables", {})
    asked = [name for name in sorted(kept) if name not in given]
    if work.began or work.options.get("offline"):
        wrong = "its kept value had another type when the run began"
        return {**given, **{name: Missing(wrong) for name in asked}}
    stored = await store.variables.values(work.keeps) if asked else {}
    declared = document.variables
    return {
        **{name: kept_value(name, declared[name], stored.get(name, ABSENT)) for name in asked}, **given
    }  # fmt: skip


def repeatable_plan(plan: Plan) -> Plan:
    """The plan for a run that reaches nothing: each of its attempts may be made again."""

    def of(node: NodePlan) -> NodePlan:
        return replace(node, effects="none", body=None if node.body is None else of_body(node.body))

    def of_body(body: BodyPlan) -> BodyPlan:
        nodes = [of(node) for node in body.nodes]
        return BodyPlan(nodes, [nodes[root.index] for root in body.roots])

    return Plan(plan.document, of_body(plan.root))
