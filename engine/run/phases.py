"""What may stand between a node that is ready and its work: a pause, a question after an unknown outcome, a confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlace.engine.errors import NodeError
from interlace.engine.instants import instant
from interlace.engine.node import Config
from interlace.engine.run.context import Context
from interlace.engine.waits import DAY, TIMEOUT, Answer, Suspend, Waiting, Wanted, shown_hash

if TYPE_CHECKING:
    from interlace.engine.run.attempts import Attempts

CONFIRM_SECONDS = 7 * DAY
SHORT_SECONDS = 2.0
"""A shorter pause is slept through: giving the run up and taking it again would cost as much."""


async def pause(work: Attempts) -> None:
    """The node's `wait`.

    Raises:
        Suspend: it is not over yet.
    """
    execution, record = work.execution, work.record
    if record is None or (record.status == "pending" and not record.retries):
        until = _until(work)
        if until - execution.clock.now() > SHORT_SECONDS:
            raise Suspend(Wanted(kind="timer", until=until))
        data = {"kind": "timer", "phase": "pause", "until": until}
        execution.journal.append("node.suspended", work.path, 0, data)
        await execution.commit()
        wait = Waiting(id="", kind="timer", phase="pause", until=until)
    elif record.status == "suspended" and record.wait is not None and record.wait.phase == "pause":
        wait = record.wait
        if wait.id:
            execution.waits.take(record, "pause", work.path)
            return
    else:
        return
    while wait.until is not None and (left := wait.until - execution.clock.now()) > 0:
        await execution.clock.sleep(left)


def _until(work: Attempts) -> float:
    """The instant (Unix time) at which the pause ends."""
    wait = work.plan.spec.wait
    assert wait is not None
    if wait.for_ is not None:
        return work.execution.clock.now() + wait.for_
    return instant(Context(work.execution, work.scope, work.plan, work.plan.id, 1).resolve(wait.until))


def confirm(work: Attempts, config: Config) -> None:
    """The node's `confirm`: a person sees the evaluated config; what is confirmed is bound to it by its hash.

    Raises:
        Suspend: nobody has answered yet.
        NodeError: it was rejected, or nobody answered in time.
    """
    execution, plan = work.execution, work.plan
    shown: dict[str, Any] = execution.redact(
        {
            "title": f"Run {plan.spec.label or plan.id}?",
            "message": f"The node **{plan.spec.label or plan.id}** ({plan.spec.type}) of workflow **{execution.info.workflow}**"
            " runs with this config once it is confirmed.",
            "actions": ["approve", "reject"],
            "config": config.model_dump(
                mode="json", by_alias=True, exclude_defaults=True, warnings=False, fallback=str
            ),
        }
    )  # fmt: skip
    wanted = shown_hash(shown)
    if work.confirmed == wanted:
        return
    answer = execution.waits.take(work.record, "confirm", work.path)
    if answer is not None and work.record is not None and work.record.wait is not None:
        if answer.action != "approve":
            raise NodeError(_refusal(plan.id, answer), kind="not_confirmed", retryable=False)
        work.confirmed = work.record.wait.hash
        if work.confirmed == wanted:
            return
    raise Suspend(Wanted(kind="human", request=shown, until=execution.clock.now() + CONFIRM_SECONDS))


def _refusal(node: str, answer: Answer) -> str:
    if answer.action == TIMEOUT:
        return f"nobody confirmed {node!r} in time; it did not run"
    because = f": {answer.comment}" if answer.comment else ""
    return f"{answer.by} did not confirm {node!r}{because}; it did not run"


def place(work: Attempts) -> None:
    """The node's pool: where this process does not serve it, the run's next turn is one of a host that does.

    What stood before the node is over and recorded, so that the host goes on with the attempt itself.

    Raises:
        Suspend: the node runs elsewhere.
    """
    execution, pool, record = work.execution, work.plan.pool, work.record
    if pool is None or (record is not None and record.wait is not None and record.wait.phase == "node"):
        return
    work.phase = "place"
    if not execution.waits.serves(pool):
        raise Suspend(Wanted(kind="place", ref=pool, request={"title": f"Run in pool {pool}", "pool": pool}))
    execution.waits.take(record, "place", work.path)


UNKNOWN_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"outputs": {"type": "object", "description": "What the node gave, if it is known."}},
}


def ask_whether_done(work: Attempts) -> Answer:
    """The question after an attempt whose outcome nobody knows; its answer.

    Raises:
        Suspend: nobody has answered yet.
    """
    answer = work.execution.waits.take(work.record, "unknown", work.path)
    if answer is not None:
        return answer
    label = work.plan.spec.label or work.plan.id
    request = {
        "title": f"Did {label} happen?",
        "message": f"Attempt {work.attempt} of **{label}** ({work.plan.spec.type}) was interrupted, and nobody knows whether it"
        " did its work. `happened` goes on with the outputs given, `not_happened` runs it again, `fail` makes it fail.",
        "actions": ["happened", "not_happened", "fail"],
        "form": UNKNOWN_FORM,
    }  # fmt: skip
    raise Suspend(Wanted(kind="human", request=request))
